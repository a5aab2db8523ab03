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
class Step:
    """A finished step of the journal; `value` is JSON of a `kind`, times are seconds since 1970."""

    key: str
    seq: int
    kind: str
    value: str
    started_s: float
    finished_s: float

    def as_row(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def of(row: dict[str, Any]) -> Step:
        """TypeError or ValueError for what is no step."""
        return Step(
            key=str(row["key"]), seq=int(row["seq"]), kind=str(row["kind"]),
            value=str(row["value"]),
            started_s=float(row["started_s"]), finished_s=float(row["finished_s"]),
        )  # fmt: skip


def steps_of(database: db.Database, campaign: str) -> tuple[Step, ...]:
    """The finished steps of a campaign in their order."""
    columns = [db.step.c[name] for name in Step.__slots__]
    query = (
        sa.select(*columns)
        .where(db.step.c.campaign == campaign, db.step.c.state == "finished")
        .order_by(db.step.c.seq)
    )
    return tuple(Step(**row) for row in database.found(query))


def steps_in(database: db.Database, campaign: str, steps: Iterable[Step]) -> None:
    """Put steps into the journal of a campaign that has none."""
    rows = [step.as_row() | {"campaign": campaign, "state": "finished"} for step in steps]
    if rows:
        with database.write() as connection:
            connection.execute(sa.insert(db.step), rows)
