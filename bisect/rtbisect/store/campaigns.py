# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns of a store: made, listed, finished; one runs at a time."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from rtbisect.errors import BusyError, ConfigError, InternalError
from rtbisect.model.campaign import CampaignRequest, CampaignState
from rtbisect.model.report import CommitText, Report, ReportState
from rtbisect.model.result import Result, Summary
from rtbisect.process import locks
from rtbisect.process.command import whole_text
from rtbisect.store import codec, db, schema
from rtbisect.store.journal import request_digest, summary_of
from rtbisect.store.outbox import in_outbox, queued

if TYPE_CHECKING:
    from rtbisect.model.mail import OutMail

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRecord:
    """A campaign as it stands in the store."""

    id: str
    #: Kind of the request; the id begins with it.
    kind: str
    #: The request in JSON, as it is kept.
    request_json: str
    state: CampaignState
    #: ISO 8601.
    created: str
    result: Result | None
    report: Report | None
    #: Why the campaign is paused.
    note: str
    #: What it has cost; None while it runs, and of those that older programs made.
    summary: Summary | None = None

    @property
    def request(self) -> CampaignRequest:
        """What was asked; InternalError where another version has asked it."""
        try:
            return codec.from_json(CampaignRequest, self.request_json)
        except ValueError as error:
            raise InternalError(
                f"campaign {self.id} was made by another version", "start it again"
            ) from error

    def draft(self) -> Report:
        """The report; ConfigError where the campaign has written none."""
        if self.report is None:
            raise ConfigError(f"campaign {self.id} has no draft", "see `rtbisect status`")
        return self.report


#: Reports that nobody has got.
_UNTOLD = ("", ReportState.DRAFT, ReportState.WITHDRAWN)

#: Whoever asks for `active` has the lock for a moment; a writer waits that long.
PROBE_S = 1.0


class CampaignStore:
    """The campaigns of one state directory."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self._lock = state / schema.LOCK
        self.database = db.Database(state / "rtbisect.sqlite3")

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Be the one process that runs a campaign; BusyError when there is another."""
        with ExitStack() as held:
            hold = locks.hold(self._lock, wait_s=PROBE_S, what=f"the store {self.state}")
            try:
                lock = held.enter_context(hold)
            except BusyError as error:
                raise self._busy(error) from error
            (last,) = self.database.values(sa.select(sa.func.max(db.session.c.id)))
            # Those sessions are of others, whatever happens until our own begins.
            locks.write_word(lock, str(last or 0))
            yield

    def _busy(self, error: BusyError) -> BusyError:
        """The same with the campaign that runs, where one does, and what its user can do."""
        if not (active := self.active()):
            return error
        return BusyError(
            f"{active} is running: {error.message}",
            f"wait, or `rtbisect stop {active}`; `rtbisect --state DIR` measures beside it, where"
            " each may disturb the figures of the other",
        )

    def active(self) -> str:
        """The campaign that a process runs right now, "" when there is none."""
        if not locks.is_held(self._lock):
            return ""
        last_session_before = locks.read_word(self._lock)
        query = (
            sa.select(db.session.c.campaign)
            .where(
                db.session.c.id > (int(last_session_before) if last_session_before.isdigit() else 0)
            )
            .order_by(db.session.c.id.desc())
            .limit(1)
        )
        return next(iter(self.database.values(query)), "")

    def begins(self) -> bool:
        """A process has the store, and its campaign does not run yet."""
        return locks.is_held(self._lock) and not self.active()

    def create(self, kind: str, request_json: str, now_iso: str) -> str:
        """A new campaign; its id is `<kind>-<n>`."""
        with self.database.write() as connection:
            count = connection.execute(
                sa.select(sa.func.count()).select_from(db.campaign)
            ).scalar_one()
            identity = f"{kind}-{count + 1}"
            connection.execute(
                sa.insert(db.campaign).values(
                    id=identity,
                    kind=kind,
                    request=request_json,
                    request_digest=request_digest(request_json),
                    state=CampaignState.RUNNING,
                    created=now_iso,
                )
            )
        return identity

    def finish(self, identity: str, result: Result, report: Report | None) -> None:
        """Record the answer."""
        summary = summary_of(self.database, identity)
        last_step = sa.select(sa.func.max(db.step.c.finished_s)).where(
            db.step.c.campaign == identity
        )
        with self.database.write() as connection:
            ended_s = connection.execute(last_step).scalar()
            connection.execute(
                _update(identity).values(
                    state=CampaignState.DONE,
                    note="",
                    result=codec.to_json(Result, result),
                    culprit=result.culprit or "",
                    ended_s=ended_s or time.time(),
                    summary=codec.to_json(Summary, summary),
                    **_report_columns(report),
                )
            )

    def reopen(self, identity: str) -> None:
        """Take the answer of a campaign back, so that it goes on. Its story is told anew, and its
        report is written anew: both depend on how it ends.
        """
        with self.database.write() as connection:
            connection.execute(sa.delete(db.story).where(db.story.c.campaign == identity))
            connection.execute(
                sa.delete(db.step).where(db.step.c.campaign == identity, db.step.c.key == "report")
            )
            connection.execute(
                _update(identity).values(
                    state=CampaignState.RUNNING,
                    result=None,
                    summary=None,
                    culprit="",
                    **_report_columns(None),
                )
            )

    def move_report(
        self, identity: str, before: Collection[ReportState], state: ReportState
    ) -> bool:
        """Move the report of a campaign on if it stands where the caller thinks: hours of boots may
        lie between looking and moving. Whether it has moved.
        """
        with self.database.write() as connection:
            return _move_report(connection, identity, before, state)

    def note(self, identity: str, note: str) -> None:
        """Say why a campaign paused; it stays resumable."""
        self.database.execute(_update(identity).values(note=note))

    def approve_report(self, commit: CommitText, mail: OutMail) -> None:
        """Queue the report of a campaign on a commit, and approve it, in one transaction: of two
        sessions that tell of one commit one is told of the other. The commit is noted, so that no
        other report tells of the same, whatever becomes of the file that it was written from.
        ConfigError where another campaign has told of it, and where the mail is in the outbox.
        """
        identity = mail.campaign
        with self.database.write() as connection:
            # Nobody else writes meanwhile.
            if earlier := self.reported_elsewhere(identity, commit):
                name, stands = earlier
                raise ConfigError(
                    f"campaign {name} has told of the same commit ({stands})",
                    "answer in its thread, or withdraw it first",
                )
            if not connection.execute(queued(mail)).rowcount:
                raise in_outbox(mail)
            accused = {"subject": commit.subject, "upstream": commit.upstream}
            connection.execute(_update(identity).values(accused))
            _move_report(connection, identity, (ReportState.DRAFT,), ReportState.APPROVED)

    def get(self, identity: str) -> CampaignRecord:
        """One campaign; ConfigError when there is none of that name."""
        asked = whole_text(identity)
        rows = self.database.rows(db.campaign, db.campaign.c.id == asked)
        if not rows:
            raise ConfigError(f"no campaign {identity!r} in {self.state}", "see `rtbisect status`")
        row = rows[0]
        if row["state"] not in set(CampaignState):
            raise codec.unreadable(f"the state of campaign {identity}")
        return CampaignRecord(
            id=identity,
            kind=row["kind"],
            request_json=row["request"],
            state=CampaignState(row["state"]),
            created=row["created"],
            result=_decoded(Result, row["result"], identity),
            report=self._here(_decoded(Report, row["report"], identity), identity),
            note=row["note"],
            summary=_decoded(Summary, row["summary"], identity),
        )

    def _here(self, report: Report | None, identity: str) -> Report | None:
        """A report with its files in this state directory: what is kept of their place is where
        they were written, and the directory may be a copy, or moved since.
        """
        if report is None:
            return None
        folder = self.state.absolute() / "reports" / identity
        return replace(report, path=str(folder / Path(report.path).name))

    def open_one(self) -> CampaignRecord:
        """The newest unfinished campaign; ConfigError when all are done."""
        if not (unfinished := self.unfinished()):
            raise ConfigError("there is no unfinished campaign", "see `rtbisect status`")
        return self.get(unfinished[-1])

    def summary(self, record: CampaignRecord) -> Summary:
        """What a campaign has cost so far."""
        return record.summary or summary_of(self.database, record.id)

    def names(self) -> tuple[str, ...]:
        """Identifiers of all campaigns, oldest first; so in all that follow."""
        return self._names(sa.true())

    def unfinished(self) -> tuple[str, ...]:
        """Campaigns that run or are paused."""
        return self._names(db.campaign.c.state == CampaignState.RUNNING)

    def ended_since(self, since: datetime) -> tuple[str, ...]:
        """Campaigns whose last step has ended since then."""
        return self._names(db.campaign.c.ended_s >= since.timestamp())

    def of_request(self, request: CampaignRequest) -> tuple[str, ...]:
        """Those that were asked the same, wherever their repository was then."""
        digest = request_digest(codec.to_json(CampaignRequest, request))
        return self._names(db.campaign.c.request_digest == digest)

    def with_report(
        self, states: Collection[ReportState], *, culprit: bool = False
    ) -> tuple[str, ...]:
        """Those whose report stands in one of these states; with `culprit`, that accuses one."""
        where = db.campaign.c.report_state.in_(states)
        return self._names(sa.and_(where, db.campaign.c.culprit != "") if culprit else where)

    def of_message(self, message_id: str) -> str:
        """The campaign whose report has this Message-ID, with or without its brackets; "" for
        none.
        """
        bare = message_id.strip("<>")
        return next(iter(self._names(db.campaign.c.message_id == bare) if bare else ()), "")

    def reported_elsewhere(self, identity: str, commit: CommitText) -> tuple[str, str] | None:
        """Another campaign whose report people have or are about to get that accuses the same: the
        commit, what it is a backport of, a backport of it, or one of the same title; and where that
        report stands.
        """
        columns, names = db.campaign.c, [commit.sha]
        if commit.upstream:
            names.append(commit.upstream)
        same_commit = sa.or_(
            columns.culprit.in_(names),
            columns.upstream.in_(names),
            sa.and_(columns.subject == commit.subject, columns.subject != ""),
        )
        elsewhere = sa.and_(
            columns.id != identity, columns.report_state.not_in(_UNTOLD), same_commit
        )
        query = (
            sa.select(columns.id, columns.report_state).where(elsewhere).order_by(sa.text("rowid"))
        )
        rows = self.database.fetch(query.limit(1))
        return (rows[0]["id"], rows[0]["report_state"]) if rows else None

    def same_before(self, identity: str, key: str, most: int) -> tuple[str, ...]:
        """Campaigns before this one that have ended and whose step of this key recorded the same;
        the last ones, `most` of them.
        """
        mine, other = db.step.alias(), db.step.alias()
        before = "campaign.rowid < (SELECT c.rowid FROM campaign c WHERE c.id = :identity)"
        same = sa.and_(
            mine.c.campaign == identity,
            mine.c.key == key,
            other.c.campaign == db.campaign.c.id,
            other.c.key == key,
            other.c.value == mine.c.value,
            db.campaign.c.state == CampaignState.DONE,
            sa.text(before).bindparams(identity=identity),
        )
        query = sa.select(db.campaign.c.id).where(same).order_by(sa.text("campaign.rowid DESC"))
        return tuple(self.database.values(query.limit(most)))[::-1]

    def readable(self, names: Sequence[str]) -> Iterator[CampaignRecord]:
        """These campaigns but those that another version made."""
        for name in names:
            with suppress(InternalError):
                yield self.get(name)

    def _names(self, condition: sa.ColumnElement[bool]) -> tuple[str, ...]:
        query = sa.select(db.campaign.c.id).where(condition).order_by(sa.text("rowid"))
        return tuple(self.database.values(query))

    def checked_revisions(self, build_config: str) -> dict[str, str]:
        """Revisions of a build_config that were checked, with the level of the answer."""
        rows = self.database.rows(db.seen, db.seen.c.build_config == build_config)
        return {row["sha"]: row["level"] for row in rows}

    def mark_checked(self, build_config: str, sha: str, level: str, now_iso: str) -> None:
        """Remember a checked revision."""
        row = {"build_config": build_config, "sha": sha, "level": level, "at": now_iso}
        self.database.execute(sa.insert(db.seen).prefix_with("OR REPLACE").values(row))


def _update(identity: str) -> sa.Update:
    return sa.update(db.campaign).where(db.campaign.c.id == identity)


def _move_report(
    connection: sa.Connection, identity: str, before: Collection[ReportState], state: ReportState
) -> bool:
    """Does `CampaignStore.move_report`."""
    text = connection.execute(
        sa.select(db.campaign.c.report).where(db.campaign.c.id == identity)
    ).scalar()
    report = _decoded(Report, text, identity)
    if report is None:
        return False
    moves = report.state in before
    if moves:
        report = replace(report, state=state, before=report.state)
    # Also where it does not move: a column that says something else is put right.
    connection.execute(_update(identity).values(_report_columns(report)))
    return moves


def _report_columns(report: Report | None) -> dict[str, Any]:
    """The columns of a report."""
    if report is None:
        return {"report": None, "report_state": "", "message_id": ""}
    return {
        "report": codec.to_json(Report, report),
        "report_state": report.state,
        "message_id": report.message_id.strip("<>"),
    }


def _decoded(kind: type[T], text: str | None, campaign: str) -> T | None:
    return codec.from_stored(kind, text, f"the answer of campaign {campaign}") if text else None
