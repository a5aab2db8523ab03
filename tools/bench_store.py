# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the store takes to answer, with few campaigns and with many.

    make bench-store                      100 and 10,000 campaigns
    make bench-store ARGS="1000 20000"    other numbers

Each question is asked of both stores in turn; milliseconds are medians. Beside them stands what one
walk through all campaigns would take, each of them read and decoded.
"""

from __future__ import annotations

import contextlib
import io
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.cli import app
from rtbisect.mail.digest import digest
from rtbisect.mail.poll import Stores
from rtbisect.mail.report_state import follow_outbox
from rtbisect.mail.result_mail import OPEN
from rtbisect.model.campaign import (
    CampaignRequest,
    Cause,
    Judgement,
    Level,
    MetricKey,
    Outcome,
    Sample,
)
from rtbisect.model.finding import as_said
from rtbisect.model.mail import MailKind, MailState, OutMail
from rtbisect.model.report import CommitText, Report, ReportState
from rtbisect.model.result import Gate, GateStatus, Result, TestedRevision
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import JournalStep, StoreJournal, add_steps, repaired_by
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.store import db

TIMES, STEPS, OPEN_REPORTS = 9, 20, 20
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
KEY = MetricKey("rcu", "p50_us", "rcu-off")
SIDES = Sample(tuple(map(float, range(6000, 6012)))), Sample(tuple(map(float, range(9000, 9012))))


def sha(number: int) -> str:
    return f"{number:040x}"


def request(number: int) -> CampaignRequest:
    return CampaignRequest(
        kind="bisect", site="/srv/site.yaml", tree="rt", older=sha(number), newer=sha(number + 1)
    )


def asked(number: int) -> str:
    return codec.to_json(CampaignRequest, request(number))


def result(number: int) -> Result:
    """An answer of the usual size."""
    judged = Judgement(
        key=KEY,
        level=Level.REGRESSED,
        base=SIDES[0],
        new=SIDES[1],
        effect=1.5,
        interval=(1.4, 1.6),
        p=0.001,
        reason=as_said("median of 12 boots"),
    )
    return Result(
        outcome=Outcome.CULPRIT,
        cause=Cause.KERNEL,
        culprit=sha(number),
        candidates=((sha(number), 0.98), (sha(number + 1), 0.01)),
        confidence=0.98,
        metric=KEY,
        judgement=judged,
        tested=tuple(TestedRevision(sha(n), "rcu: a title", 3, 0.5) for n in range(20)),
        judgements=(judged,) * 8,
        gates=(Gate("G10 A/A", GateStatus.PASS, as_said("no difference of a kernel from itself")),)
        * 10,
    )


def state_of(number: int, count: int) -> ReportState:
    """Most reports are answered and mended in the end; the newest are open or not yet read."""
    left = count - number
    if left <= OPEN_REPORTS:
        return ReportState.DRAFT
    return ReportState.SENT if left <= 2 * OPEN_REPORTS else ReportState.FIXED


def fill(state: Path, count: int) -> CampaignStore:
    """A store of so many campaigns with answer, report, mail and steps, and one that is paused."""
    store, outbox = CampaignStore(state), Outbox(state)
    for each in (store.database, outbox.database):
        wait_for_disk(each, waits=False)
    for number in range(count):
        at = BEGIN + timedelta(minutes=number)
        name = store.create("bisect", asked(number), at.isoformat())
        begin_s = at.timestamp()
        steps = [
            JournalStep(
                key=f"number/{n}",
                seq=n,
                kind="int",
                value="1",
                started_s=begin_s + n,
                finished_s=begin_s + n + 1,
            )
            for n in range(STEPS)
        ]
        add_steps(store.database, name, steps)
        where = state_of(number, count)
        eml = "text of a mail\n" * 100
        path = str(state / "reports" / name / "report.eml")
        report = Report(
            campaign=name,
            state=where,
            message_id=f"{name}@lab.example.org",
            eml=eml,
            path=path,
            bisect_log="",
            story="",
        )
        store.finish(name, result(number), report)
        if where is not ReportState.DRAFT:
            outbox.put(mail(report, at.isoformat()))
    StoreJournal(store.database, store.create("bisect", asked(count), BEGIN.isoformat()))
    for each in (store.database, outbox.database):
        wait_for_disk(each, waits=True)
    return store


def wait_for_disk(database: db.Database, *, waits: bool) -> None:
    """Filling a store does not wait for the disk; nothing that is measured goes without."""
    connection = database.engine.raw_connection()
    connection.cursor().execute(f"PRAGMA synchronous={'FULL' if waits else 'OFF'}")
    connection.close()


def mail(report: Report, at: str) -> OutMail:
    return OutMail(
        message_id=f"<{report.message_id}>",
        campaign=report.campaign,
        kind=MailKind.REPORT,
        sender="bot@lab.example.org",
        recipients=("rcu@lists.example.org",),
        text=report.eml,
        approved_by="Ada",
        approved_at=at,
        state=MailState.SENT,
    )


def questions(store: CampaignStore) -> dict[str, Callable[[], object]]:
    """What is asked of a store, by what a person would call it."""
    outbox = Outbox(store.state)
    threads = Stores(Replies(store.state), outbox, store)
    middle = len(store.names()) // 2
    commit = CommitText(
        sha=sha(middle),
        subject="rcu: no title of these",
        author="Zo",
        author_email="zo@example.org",
        date="",
        files=(),
    )
    thread = f"<bisect-{middle}@lab.example.org>"
    now = (BEGIN + timedelta(minutes=len(store.names()))).isoformat()

    def status() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            app.run(["--state", str(store.state), "status", "--json"])

    def resume() -> None:
        record = store.open_one()
        assert record.request.kind == "bisect"
        StoreJournal(store.database, record.id).summary()

    return {
        "list the campaigns (status)": status,
        "was it told?": lambda: store.reported_elsewhere("bisect-1", commit),
        "reports follow the outbox": lambda: follow_outbox(store, outbox),
        "open reports (report follow)": lambda: list(
            store.readable(store.with_report(OPEN, culprit=True))
        ),
        "whose thread is it? (mail poll)": lambda: threads.ours(thread),
        "what did the night bring? (digest)": lambda: digest(store.state, 24, now),
        "the same request again (watch)": lambda: store.of_request(request(middle)),
        "resume the one that is paused": resume,
        "who has repaired it?": lambda: repaired_by(store.database, sha(middle)),
    }


def median_ms(question: Callable[[], object]) -> float:
    took = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        question()
        took.append(time.perf_counter() - begin)
    return 1000 * statistics.median(took)


def main() -> int:
    few, many = map(int, sys.argv[1:3] or ("100", "10000"))
    with tempfile.TemporaryDirectory() as folder:
        stores = [fill(Path(folder) / str(count), count) for count in (few, many)]
        asked = [questions(store) for store in stores]
        print(f"{'ms of a question with':<36} {few:>8,} {many:>10,} campaigns   ratio")
        for name in asked[0]:
            small, large = (median_ms(each[name]) for each in asked)
            print(f"{name:<36} {small:>8.2f} {large:>10.2f} {large / small:>17.1f}")
        begin = time.perf_counter()
        read = sum(1 for _ in stores[1].readable(stores[1].names()))
        print(f"a walk through all {read:,}: {1000 * (time.perf_counter() - begin):,.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
