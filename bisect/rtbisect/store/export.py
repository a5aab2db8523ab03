# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a campaign out of a store, and into another."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from rtbisect.store import db

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalStep:
    """A finished step of the journal."""

    key: str
    #: Its place among the steps of its campaign, from 0.
    seq: int
    #: What the value is, by the name of its format (model/formats.py); the value is JSON.
    kind: str
    value: str
    #: Seconds since 1970.
    started_s: float
    finished_s: float

    def as_row(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_row(row: dict[str, Any]) -> JournalStep:
        """TypeError or ValueError for what is no step."""
        return JournalStep(
            key=str(row["key"]), seq=int(row["seq"]), kind=str(row["kind"]),
            value=str(row["value"]),
            started_s=float(row["started_s"]), finished_s=float(row["finished_s"]),
        )  # fmt: skip


def steps_of(database: db.Database, campaign: str) -> tuple[JournalStep, ...]:
    """The finished steps of a campaign in their order."""
    columns = [db.step.c[name] for name in JournalStep.__slots__]
    query = (
        sa.select(*columns)
        .where(db.step.c.campaign == campaign, db.step.c.state == "finished")
        .order_by(db.step.c.seq)
    )
    return tuple(JournalStep(**row) for row in database.fetch(query))


def add_steps(database: db.Database, campaign: str, steps: Iterable[JournalStep]) -> None:
    """Put steps into the journal of a campaign that has none."""
    rows = [step.as_row() | {"campaign": campaign, "state": "finished"} for step in steps]
    if rows:
        with database.write() as connection:
            connection.execute(sa.insert(db.step), rows)
