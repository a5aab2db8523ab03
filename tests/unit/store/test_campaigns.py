# SPDX-License-Identifier: GPL-2.0-or-later
"""What a store says of all its campaigns, without reading them all."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from helpers.results import culprit_result, other_result
from rtbisect.errors import InternalError
from rtbisect.mail.digest import digest
from rtbisect.mail.poll import Stores
from rtbisect.mail.report_state import follow_outbox
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.model.mail import MailKind, MailState, OutMail
from rtbisect.model.report import CommitText, Report, ReportState
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import JournalStep, add_steps, repaired_by
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies

REQUEST = CampaignRequest(
    kind="bisect", site="/srv/site.yaml", tree="rt", older="a", newer="b", extra=(("truth", "x"),)
)


def sha(number):
    return f"{number:040x}"


def commit(number, *, subject="", upstream=""):
    return CommitText(
        sha=sha(number), subject=subject or f"rcu: Title {number}", author="Zo",
        author_email="zo@kernel.example.org", date="", files=(),
        upstream=upstream,
    )  # fmt: skip


def ended(store, culprit, state=ReportState.SENT, *, told=None):
    """A campaign that found a commit and wrote a report, which stands so."""
    request = codec.to_json(CampaignRequest, replace(REQUEST, newer=culprit))
    name = store.create("bisect", request, "2026-01-01T00:00:00+00:00")
    result = culprit_result(culprit, 0.98, candidates=((culprit, 0.98),))
    folder = store.state / "reports" / name
    report = Report(
        campaign=name,
        state=state,
        message_id=f"{name}@lab.example.org",
        eml="text",
        path=f"{folder}/r.eml",
        bisect_log="",
        story="",
    )
    if told is None:
        store.finish(name, result, report)
        return name
    store.finish(name, result, replace(report, state=ReportState.DRAFT))
    store.approve_report(told, mail(name, MailState.QUEUED))
    store.move_report(name, (ReportState.APPROVED,), state)
    return name


def mail(name, state=MailState.SENT, kind=MailKind.REPORT):
    return OutMail(
        message_id=f"<{name}.{kind}@lab.example.org>", campaign=name, kind=kind,
        sender="bot@lab.example.org", recipients=(), text="", approved_by="Ada", approved_at="now",
        state=state,
    )  # fmt: skip


def reports(store):
    """Where the reports stand, by their campaigns."""
    return {name: state for state in ReportState for name in store.with_report((state,))}


@pytest.fixture
def store(tmp_path):
    return CampaignStore(tmp_path)


ACCUSED = commit(1, upstream=sha(7))


@pytest.mark.parametrize(
    ("ours", "state", "told"),
    [
        pytest.param(commit(1), ReportState.SENT, True, id="the same commit"),
        pytest.param(commit(1), ReportState.APPROVED, True, id="the same, about to leave"),
        pytest.param(commit(1), ReportState.FIXED, True, id="the same, mended since"),
        pytest.param(commit(1), ReportState.DRAFT, False, id="the same, which nobody got"),
        pytest.param(commit(1), ReportState.WITHDRAWN, False, id="the same, withdrawn"),
        pytest.param(commit(7), ReportState.SENT, True, id="what theirs is a backport of"),
        pytest.param(commit(2, upstream=sha(1)), ReportState.SENT, True, id="a backport of theirs"),
        pytest.param(commit(2, upstream=sha(7)), ReportState.SENT, True, id="another backport"),
        pytest.param(commit(2, subject=ACCUSED.subject), ReportState.SENT, True, id="its title"),
        pytest.param(commit(2, upstream=sha(8)), ReportState.SENT, False, id="another commit"),
    ],
)
def test_what_others_have_told(store, ours, state, told):
    theirs = ended(store, sha(1), state, told=ACCUSED)
    mine = ended(store, ours.sha, ReportState.DRAFT)
    assert store.reported_elsewhere(mine, ours) == ((theirs, state) if told else None)
    assert store.reported_elsewhere(theirs, ours) is None


def test_commits_without_a_title_are_not_the_same(store):
    ended(store, sha(1), told=replace(ACCUSED, subject=""))
    assert store.reported_elsewhere("none", replace(commit(2), subject="")) is None


def test_equal_requests_are_found_wherever_their_repository_was(store):
    names = [
        store.create("bisect", codec.to_json(CampaignRequest, request), "now")
        for request in (
            replace(REQUEST, repo="/one"),
            replace(REQUEST, repo="/other"),
            replace(REQUEST, seed=1),
            replace(REQUEST, extra=(("truth", "y"),)),
        )
    ]
    assert store.of_request(REQUEST) == tuple(names[:2])


def test_a_digest_that_is_kept_is_found_by_later_programs(store):
    """Whoever has to change this number brings the digests of kept campaigns along."""
    store.create("bisect", codec.to_json(CampaignRequest, REQUEST), "now")
    with store.database.read() as connection:
        digest = connection.exec_driver_sql("SELECT request_digest FROM campaign").scalar()
    assert digest == "f62d487a474d2fa1e9ac1faa98fe58ec3936988a9c98487a28e0067c5619eba0"


def test_a_report_that_moves_is_found_where_it_stands(store):
    name = ended(store, sha(1), ReportState.DRAFT)
    assert store.with_report((ReportState.DRAFT,)) == (name,)
    assert store.move_report(name, (ReportState.DRAFT,), ReportState.APPROVED)
    assert store.with_report((ReportState.DRAFT,)) == ()
    assert reports(store) == {name: ReportState.APPROVED}
    assert store.get(name).draft().state is ReportState.APPROVED


@pytest.mark.parametrize(
    ("state", "mails", "right"),
    [
        (ReportState.DRAFT, (), ReportState.DRAFT),
        (ReportState.APPROVED, (), ReportState.DRAFT),
        (ReportState.ANSWERED, (), ReportState.ANSWERED),
        (ReportState.WITHDRAWN, (), ReportState.DRAFT),
        (ReportState.DRAFT, (("report", MailState.QUEUED),), ReportState.APPROVED),
        (ReportState.DRAFT, (("report", MailState.SENT),), ReportState.SENT),
        (ReportState.APPROVED, (("report", MailState.IN_DOUBT),), ReportState.SENT),
        (ReportState.APPROVED, (("report", MailState.HELD),), ReportState.APPROVED),
        (ReportState.ANSWERED, (("report", MailState.SENT),), ReportState.ANSWERED),
        (ReportState.WITHDRAWN, (("report", MailState.SENT),), ReportState.SENT),
        (
            ReportState.SENT,
            (("report", MailState.SENT), ("withdrawal", MailState.QUEUED)),
            ReportState.WITHDRAWN,
        ),
    ],
)
def test_a_report_stands_where_its_mails_do(store, state, mails, right):
    name, outbox = ended(store, sha(1), state), Outbox(store.state)
    for kind, where in mails:
        outbox.put(mail(name, where, kind))
    follow_outbox(store, outbox)
    assert reports(store) == {name: right}


def test_what_another_version_made_is_followed_no_further(store):
    other, name = ended(store, sha(1), ReportState.WITHDRAWN), ended(store, sha(2))
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE campaign SET report = '{}' WHERE id = ?", (other,))
    outbox = Outbox(store.state)
    outbox.put(mail(name, kind=MailKind.WITHDRAWAL))
    follow_outbox(store, outbox)
    assert reports(store) == {other: ReportState.WITHDRAWN, name: ReportState.WITHDRAWN}
    with pytest.raises(InternalError, match=f"campaign {other} cannot be read"):
        store.move_report(other, tuple(ReportState), ReportState.SENT)


def test_a_mail_of_a_kind_that_this_version_does_not_know_hides_no_other(store):
    outbox = Outbox(store.state)
    outbox.put(mail("bisect-1"))
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE outbox SET kind = 'notice'")
    outbox.put(mail("bisect-2"))
    assert [each.kind for each in outbox.all()] == [MailKind.OTHER, MailKind.REPORT]


def test_a_state_that_this_version_does_not_know_holds_nobody_up(store):
    other, name = ended(store, sha(1)), ended(store, sha(2))
    with store.database.write() as connection:
        connection.exec_driver_sql(
            "UPDATE campaign SET report_state = 'escalated' WHERE id = ?", (other,)
        )
    follow_outbox(store, Outbox(store.state))
    assert reports(store) == {name: ReportState.SENT}
    # Somebody has it, whatever it is.
    assert store.reported_elsewhere(name, commit(1)) == (other, "escalated")


def test_a_column_that_says_something_else_is_put_right(store):
    name = ended(store, sha(1), ReportState.SENT)
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE campaign SET report_state = 'approved'")
    outbox = Outbox(store.state)
    outbox.put(mail(name))
    follow_outbox(store, outbox)
    assert reports(store) == {name: ReportState.SENT}


def test_a_campaign_ended_with_its_last_step(store):
    name = store.create("check", codec.to_json(CampaignRequest, REQUEST), "now")
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    step = JournalStep(
        key="number",
        seq=0,
        kind="int",
        value="1",
        started_s=at.timestamp() - 5,
        finished_s=at.timestamp(),
    )
    add_steps(store.database, name, [step])
    store.finish(
        name,
        other_result(Outcome.NOOP),
        None,
    )
    assert store.ended_since(at) == (name,)
    assert store.ended_since(at + timedelta(seconds=1)) == ()


QUESTIONS = {
    "told": lambda store: store.reported_elsewhere("none", commit(3)),
    "follow the outbox": lambda store: follow_outbox(store, Outbox(store.state)),
    "thread": lambda store: threads(store).ours("<bisect-3@lab.example.org>"),
    "answer": lambda store: threads(store).answers("<a@example.org>"),
    "mends": lambda store: threads(store).mends("bisect-3"),
    "digest": lambda store: digest(store.state, 1, "2026-01-03T00:00:00+00:00"),
    "same request": lambda store: store.of_request(replace(REQUEST, newer=sha(3))),
    "resume": lambda store: store.open_one().request,
    "repaired": lambda store: repaired_by(store.database, sha(3)),
    "open reports": lambda store: list(store.readable(store.with_report((ReportState.ANSWERED,)))),
}


def threads(store):
    return Stores(Replies(store.state), Outbox(store.state), store)


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_question_reads_all_campaigns(store, name, monkeypatch):
    outbox = Outbox(store.state)
    for number in range(40):
        outbox.put(mail(ended(store, sha(number))))
    ended(store, sha(50), ReportState.ANSWERED)
    store.create("bisect", codec.to_json(CampaignRequest, REQUEST), "now")
    read = []
    monkeypatch.setattr(codec, "from_json", told(codec.from_json, read))
    QUESTIONS[name](store)
    # A mail names the first 15 of a kind; each has three documents.
    assert len(read) <= 3 * 15, read


def told(function, calls):
    def wrapped(*words):
        calls.append(words[0].__name__)
        return function(*words)

    return wrapped
