# SPDX-License-Identifier: GPL-2.0-or-later
"""The journal: every effect of a campaign is a step that is started, then finished.

Resuming a campaign is running the pipeline again from the top: finished steps give back
what they recorded, the open one is taken up again. A kill loses at most that step.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from rtbisect.errors import InternalError
from rtbisect.model.campaign import CampaignRequest, CampaignState, Sought
from rtbisect.model.code import Build
from rtbisect.model.finding import Finding, Kept
from rtbisect.model.formats import format_of
from rtbisect.model.lab import REBUILT_S, Run, RunStatus
from rtbisect.model.report import Repaired
from rtbisect.model.result import Result, Summary
from rtbisect.process import endings
from rtbisect.store import codec, db

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rtbisect.model.campaign import Judgement
    from rtbisect.model.ports import Note

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _StepNote:
    """ports.Note of one step."""

    left: str
    keep: Callable[[str], None]
    lasts: bool = True

    def __call__(self, external_id: str) -> None:
        self.keep(external_id)


class StoreJournal:
    """ports.Journal on the database. `heard` hears of each durable write (for kill tests)."""

    def __init__(
        self,
        database: db.Database,
        campaign: str,
        *,
        heard: Callable[[str], None] = lambda _what: None,
        wall_clock: Callable[[], float] | None = None,
    ) -> None:
        self._db = database
        self._campaign = campaign
        self._heard = heard
        self._clock = wall_clock or _steady_clock()
        self._lines_told = 0
        self._cpu = time.process_time()
        now = self._clock()
        with database.write() as connection:
            inserted = connection.execute(
                sa.insert(db.session).values(campaign=campaign, started_s=now, last_s=now)
            )
            key = inserted.inserted_primary_key
            assert key is not None
            self._session = int(key[0])
        self._heard("session")

    @property
    def campaign(self) -> str:
        return self._campaign

    def step(self, key: str, kind: type[T], effect: Callable[[Note], T]) -> T:
        """See ports.Journal. An open step's leftover process group is ended first."""
        name = format_of(kind).name
        row = next(iter(self._db.rows(db.step, self._this_step(key))), None)
        if row is not None and row["kind"] != name:
            raise InternalError(
                f"step {key} of {self._campaign} was recorded as {row['kind']}",
                "the campaign was made by another version; start it again",
            )
        if row is not None and row["state"] == "finished":
            try:
                return codec.from_json(kind, row["value"])
            except ValueError as error:
                raise InternalError(f"step {key} of {self._campaign} cannot be read") from error
        left = "" if row is None else str(row["external_id"])
        endings.end_leftover(left, self._db.path)
        self._start(key, name, known=row is not None)
        value = effect(_StepNote(left, lambda external_id: self._note(key, external_id)))
        self._finish(key, codec.to_json(kind, value))
        return value

    def rewrite(self, key: str, kind: type[T], value: T) -> None:
        """See ports.Journal."""
        self._db.execute(self._update(key).values(value=codec.to_json(kind, value)))
        self._heard("rewritten")

    def keys(self, prefix: str, *, finished: bool = False) -> tuple[str, ...]:
        """See ports.Journal."""
        wanted = (
            sa.select(db.step.c.key)
            .where(db.step.c.campaign == self._campaign)
            .where(db.step.c.key.startswith(prefix, autoescape=True))
            .order_by(db.step.c.seq)
        )
        if finished:
            wanted = wanted.where(db.step.c.state == "finished")
        with self._db.read() as connection:
            return tuple(key.removeprefix(prefix) for key in connection.execute(wanted).scalars())

    def tell(self, finding: Finding) -> None:
        """Keep one line of the story; lines that were told before the resume stay as they are."""
        self._lines_told += 1
        line = codec.to_json(Finding, finding)
        with self._db.write() as connection:
            connection.execute(
                sa.insert(db.story)
                .prefix_with("OR IGNORE")
                .values(campaign=self._campaign, n=self._lines_told, line=line)
            )
            self._touch(connection)
        self._heard("story")

    def story(self) -> tuple[Finding, ...]:
        """All that was told so far."""
        return story_of(self._db, self._campaign)

    def summary(self) -> Summary:
        """Counts and seconds so far, from the recorded steps alone."""
        return summary_of(self._db, self._campaign)

    def repaired_by(self, commit: str) -> tuple[Repaired, ...]:
        """See ports.Journal."""
        return repaired_by(self._db, commit)

    def judged(self, asked: CampaignRequest) -> tuple[Judgement, ...]:
        """See ports.Journal."""
        return judged(self._db, asked)

    def _start(self, key: str, kind: str, *, known: bool) -> None:
        now = self._clock()
        with self._db.write() as connection:
            if known:
                # What was noted stays: a job of a server outlives a second kill, too.
                connection.execute(self._update(key).values(started_s=now))
            else:
                seq = connection.execute(
                    sa.select(sa.func.count())
                    .select_from(db.step)
                    .where(db.step.c.campaign == self._campaign)
                ).scalar_one()
                connection.execute(
                    sa.insert(db.step).values(
                        campaign=self._campaign,
                        key=key,
                        seq=seq,
                        kind=kind,
                        state="started",
                        started_s=now,
                    )
                )
            self._touch(connection)
        self._heard("started")

    def _note(self, key: str, external_id: str) -> None:
        if external_id.startswith("pgid:"):
            external_id = endings.group_id(int(external_id.removeprefix("pgid:")), self._db.path)
        self._db.execute(self._update(key).values(external_id=external_id))
        self._heard("noted")

    def _finish(self, key: str, value: str) -> None:
        with self._db.write() as connection:
            connection.execute(
                self._update(key).values(state="finished", value=value, finished_s=self._clock())
            )
            self._touch(connection)
        self._heard("finished")

    def _update(self, key: str) -> sa.Update:
        return sa.update(db.step).where(self._this_step(key))

    def _this_step(self, key: str) -> sa.ColumnElement[bool]:
        return sa.and_(db.step.c.campaign == self._campaign, db.step.c.key == key)

    def _touch(self, connection: sa.Connection) -> None:
        connection.execute(
            sa.update(db.session)
            .where(db.session.c.id == self._session)
            .values(last_s=self._clock(), own_cpu_s=time.process_time() - self._cpu)
        )


def _steady_clock() -> Callable[[], float]:
    """Seconds since 1970 as they go on from now: what lies between two of them is a duration, also
    where somebody sets the clock of the machine meanwhile.
    """
    since_s = time.time() - time.monotonic()
    return lambda: since_s + time.monotonic()


def kept_line(line: str) -> Finding:
    """A line of a story; older programs kept what they had said."""
    try:
        return codec.from_json(Finding, line)
    except ValueError:
        return Finding.of(Kept.AS_SAID, text=line)


def story_of(database: db.Database, campaign: str) -> tuple[Finding, ...]:
    """All that was told of any campaign of the store so far."""
    lines = sa.select(db.story.c.line).where(db.story.c.campaign == campaign)
    return tuple(map(kept_line, database.values(lines.order_by(db.story.c.n))))


def summary_of(database: db.Database, campaign: str) -> Summary:
    """The summary of any campaign of the store."""
    with database.read() as connection:
        rows = connection.execute(
            sa.select(db.step).where(_finished(campaign)).order_by(db.step.c.seq)
        ).mappings()
        steps = [
            (_decoded(row["kind"], row["value"]), row["finished_s"] - row["started_s"])
            for row in rows
        ]
        sessions = connection.execute(
            sa.select(db.session.c.started_s, db.session.c.last_s).where(
                db.session.c.campaign == campaign
            )
        ).all()
    return summarise(steps, sum(last - started for started, last in sessions))


def summarise(steps: Sequence[tuple[Build | Run | None, float]], wall_s: float) -> Summary:
    """Builds that built something, boots of any end, revisions skipped, seconds; of finished steps:
    their value when it is a build or a run, and their seconds.

    A revision counts as skipped when it did not build, or when none of its boots reached
    the suite; of a command, when none of its runs had a figure.
    """
    builds = [(value, seconds) for value, seconds in steps if isinstance(value, Build)]
    runs = [(value, seconds) for value, seconds in steps if isinstance(value, Run)]
    again_s = [float(text) for run, _ in runs for name, text in run.facts if name == REBUILT_S]
    failed = {build.revision for build, _ in builds if not build.ok}
    of_command = {build.revision for build, _ in builds if build.of_command}
    never = (RunStatus.BOOT_FAILED, RunStatus.SKIPPED)
    dead = {
        run.revision
        for run, _ in runs
        if run.status in never or (run.revision in of_command and not run.complete)
    }
    alive = {run.revision for run, _ in runs if run.complete}
    return Summary(
        builds=sum(1 for build, _ in builds if build.made) + len(again_s),
        boots=len(runs),
        skipped=len(failed | (dead - alive)),
        wall_s=round(wall_s, 1),
        build_s=round(sum(seconds for _, seconds in builds) + sum(again_s), 1),
        boot_s=round(sum(seconds for _, seconds in runs) - sum(again_s), 1),
    )


def recorded(database: db.Database, campaign: str, kind: type[T]) -> list[T]:
    """Values of all finished steps of one kind, in the order in which they were begun."""
    query = (
        sa.select(db.step.c.value)
        .where(_finished(campaign), db.step.c.kind == format_of(kind).name)
        .order_by(db.step.c.seq)
    )
    return [codec.from_json(kind, value) for value in database.values(query)]


def end_leftovers(database: db.Database) -> int:
    """End what killed sessions left running, before anything waits for a lock that it holds or is
    measured beside it; gives the number of their process groups. The caller holds the lock of the
    store: no session lives.
    """
    names = database.values(sa.select(db.step.c.external_id).where(db.step.c.state == "started"))
    return sum(endings.end_leftover(name, database.path) for name in names)


def _finished(campaign: str) -> sa.ColumnElement[bool]:
    return sa.and_(db.step.c.campaign == campaign, db.step.c.state == "finished")


def _decoded(kind: str, value: str) -> Build | Run | None:
    if kind == format_of(Build).name:
        return codec.from_stored(Build, value, f"a recorded {kind}")
    if kind == format_of(Run).name:
        return codec.from_stored(Run, value, f"a recorded {kind}")
    return None


def judged(database: db.Database, asked: CampaignRequest) -> tuple[Judgement, ...]:
    """What the newest finished campaign that was asked so has judged; () where there is none, or
    another version made it.
    """
    digest = request_digest(codec.to_json(CampaignRequest, asked))
    done = sa.select(db.campaign.c.result).where(
        db.campaign.c.state == CampaignState.DONE, db.campaign.c.request_digest == digest
    )
    for text in database.values(done.order_by(sa.text("rowid DESC")).limit(1)):
        with suppress(ValueError):
            return codec.from_json(Result, text).judgements
    return ()


def request_digest(request_json: str) -> str:
    """By what the store finds equal requests, wherever their repository was. Whoever gives requests
    another version brings the digests that are kept along, in a migration.
    """
    request = json.loads(request_json)
    request.pop("repo", None)
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def repaired_by(database: db.Database, commit: str) -> tuple[Repaired, ...]:
    """What campaigns that searched for a repair have proved this commit to repair, oldest first."""
    query = sa.select(db.campaign.c.id, db.campaign.c.request, db.campaign.c.result).where(
        db.campaign.c.state == CampaignState.DONE, db.campaign.c.culprit == commit
    )
    repaired = []
    for row in database.fetch(query.order_by(sa.text("rowid"))):
        try:
            request = codec.from_json(CampaignRequest, row["request"])
            judgement = codec.from_json(Result, row["result"]).judgement
        except ValueError:
            # Made by another version: nothing is known of it.
            continue
        if request.sought is Sought.REPAIR and judgement is not None:
            repaired.append(
                Repaired(
                    campaign=row["id"],
                    metric=judgement.key,
                    without=judgement.base,
                    with_it=judgement.new,
                    figure=judgement.figure,
                    unit=judgement.unit,
                )
            )
    return tuple(repaired)


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
    query = sa.select(*columns).where(_finished(campaign)).order_by(db.step.c.seq)
    return tuple(JournalStep(**row) for row in database.fetch(query))


def add_steps(database: db.Database, campaign: str, steps: Iterable[JournalStep]) -> None:
    """Put steps into the journal of a campaign that has none."""
    rows = [step.as_row() | {"campaign": campaign, "state": "finished"} for step in steps]
    if rows:
        with database.write() as connection:
            connection.execute(sa.insert(db.step), rows)
