# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns of a store: made, listed, finished; one runs at a time."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sqlalchemy as sa

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.campaign import Result
from rtbisect.model.report import Report
from rtbisect.process import locks
from rtbisect.store import codec, db

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from rtbisect.model.report import ReportState


@dataclass(frozen=True, slots=True)
class CampaignRecord:
    """A campaign as it stands in the store. `state`: running (or paused), done."""

    id: str
    kind: str
    request: str
    state: str
    created: str
    result: Result | None
    report: Report | None
    note: str

    def draft(self) -> Report:
        """The report; ConfigError where the campaign has written none."""
        if self.report is None:
            raise ConfigError(f"campaign {self.id} has no draft", "see `rtbisect status`")
        return self.report


#: Whoever asks for `active` has the lock for a moment; a writer waits that long.
PROBE_S = 1.0


class CampaignStore:
    """The campaigns of one state directory."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self._lock = state / "campaign.lock"
        self.database = db.Database(state / "rtbisect.sqlite3")

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Be the one process that runs a campaign; BusyError when there is another."""
        with locks.hold(self._lock, wait_s=PROBE_S, what=f"the store {self.state}") as lock:
            with self.database.read() as connection:
                last = connection.execute(sa.select(sa.func.max(db.session.c.id))).scalar()
            # Those sessions are of others, whatever happens until our own begins.
            locks.say(lock, str(last or 0))
            yield

    def active(self) -> str:
        """The campaign that a process runs right now, "" when there is none."""
        if not locks.is_held(self._lock):
            return ""
        others = locks.said(self._lock)
        query = (
            sa.select(db.session.c.campaign)
            .where(db.session.c.id > (int(others) if others.isdigit() else 0))
            .order_by(db.session.c.id.desc())
            .limit(1)
        )
        with self.database.read() as connection:
            return connection.execute(query).scalar() or ""

    def create(self, kind: str, request: str, now_iso: str) -> str:
        """A new campaign; its id is `<kind>-<n>`."""
        with self.database.write() as connection:
            count = connection.execute(
                sa.select(sa.func.count()).select_from(db.campaign)
            ).scalar_one()
            identity = f"{kind}-{count + 1}"
            connection.execute(
                sa.insert(db.campaign).values(
                    id=identity, kind=kind, request=request, state="running", created=now_iso
                )
            )
        return identity

    def finish(self, identity: str, result: Result, report: Report | None) -> None:
        """Record the answer."""
        with self.database.write() as connection:
            connection.execute(
                sa.update(db.campaign)
                .where(db.campaign.c.id == identity)
                .values(
                    state="done",
                    note="",
                    result=codec.to_json(Result, result),
                    report=codec.to_json(Report, report) if report else None,
                )
            )

    def move_report(
        self, identity: str, before: Collection[ReportState], state: ReportState
    ) -> bool:
        """Move the report of a campaign on if it stands where the caller thinks: hours of boots may
        lie between looking and moving.
        """
        with self.database.write() as connection:
            text = connection.execute(
                sa.select(db.campaign.c.report).where(db.campaign.c.id == identity)
            ).scalar()
            report = codec.from_json(Report, text) if text else None
            if report is None or report.state not in before:
                return False
            # SQLite begins a transaction with the first change: what was read may be gone by now.
            done = connection.execute(
                sa.update(db.campaign)
                .where(db.campaign.c.id == identity, db.campaign.c.report == text)
                .values(
                    report=codec.to_json(Report, replace(report, state=state, before=report.state))
                )
            )
        return bool(done.rowcount)

    def note(self, identity: str, note: str) -> None:
        """Say why a campaign paused; it stays resumable."""
        with self.database.write() as connection:
            connection.execute(
                sa.update(db.campaign).where(db.campaign.c.id == identity).values(note=note)
            )

    def get(self, identity: str) -> CampaignRecord:
        """One campaign; ConfigError when there is none of that name."""
        found = self._rows(db.campaign.c.id == identity)
        if not found:
            raise ConfigError(f"no campaign {identity!r} in {self.state}", "see `rtbisect status`")
        return _record(found[0])

    def open_one(self) -> CampaignRecord:
        """The newest unfinished campaign; ConfigError when all are done."""
        unfinished = self._rows(db.campaign.c.state == "running")
        if not unfinished:
            raise ConfigError("there is no unfinished campaign", "see `rtbisect status`")
        return _record(unfinished[-1])

    def all(self) -> tuple[CampaignRecord, ...]:
        """All campaigns, oldest first; InternalError when one cannot be read."""
        return tuple(_record(row) for row in self._rows(sa.true()))

    def names(self) -> tuple[str, ...]:
        """Identifiers of all campaigns, oldest first."""
        return tuple(row["id"] for row in self._rows(sa.true()))

    def readable(self) -> Iterator[CampaignRecord]:
        """All campaigns but those that another version made, oldest first."""
        for name in self.names():
            with suppress(InternalError):
                yield self.get(name)

    def _rows(self, which: sa.ColumnElement[bool]) -> list[dict[str, str]]:
        query = sa.select(db.campaign).where(which).order_by(sa.text("rowid"))
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def seen(self, build_config: str) -> dict[str, str]:
        """Revisions of a build_config that were checked, with the level of the answer."""
        with self.database.read() as connection:
            rows = connection.execute(
                sa.select(db.seen.c.sha, db.seen.c.level)
                .where(db.seen.c.build_config == build_config)
                .order_by(sa.text("rowid"))
            ).all()
        return {sha: level for sha, level in rows}  # noqa: C416  (rows are not tuples to mypy)

    def mark_seen(self, build_config: str, sha: str, level: str, now_iso: str) -> None:
        """Remember a checked revision."""
        with self.database.write() as connection:
            connection.execute(
                sa.delete(db.seen).where(
                    db.seen.c.build_config == build_config, db.seen.c.sha == sha
                )
            )
            connection.execute(
                sa.insert(db.seen).values(
                    build_config=build_config, sha=sha, level=level, at=now_iso
                )
            )


def _record(row: dict[str, str]) -> CampaignRecord:
    try:
        result = codec.from_json(Result, row["result"]) if row["result"] else None
        report = codec.from_json(Report, row["report"]) if row["report"] else None
    except ValueError as error:
        raise InternalError(
            f"the answer of campaign {row['id']} cannot be read",
            "it was made by another version of rtbisect, or the store was changed by hand",
        ) from error
    return CampaignRecord(
        id=row["id"],
        kind=row["kind"],
        request=row["request"],
        state=row["state"],
        created=row["created"],
        result=result,
        report=report,
        note=row["note"],
    )
