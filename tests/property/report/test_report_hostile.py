# SPDX-License-Identifier: GPL-2.0-or-later
"""Subjects, names and paths of a tree are hostile: no mail may obey them."""

from dataclasses import replace
from email import message_from_string
from email.policy import default

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.depth import deep
from helpers.findings import said, words
from helpers.report_cases import STORY, hang, rcu, two_modes
from helpers.report_epoll import EPOLL, epoll
from helpers.report_parts import BOARD, TEMPLATES
from helpers.report_parts import settings as site
from rtbisect.model.campaign import Cause, Outcome, Sample
from rtbisect.model.result import CheckStatus, Gate, GateStatus, Verification
from rtbisect.report.campaign_log import log_text
from rtbisect.report.draft import MAX_BYTES, MOST_LINES, DraftMailer, marks
from rtbisect.report.message import Envelope, message, subject
from rtbisect.report.own import mailable
from rtbisect.report.text import histogram

NASTY = [
    "x\r\nBcc: victim@example.org\r\n\r\nbody",
    "=?utf-8?q?Bcc:_x=40y?=",
    "=?us-ascii?q?=0d=0aBcc:x?=",
    "\u202eltr\u202c\u2066",
    "Signed-off-by: Person <p@example.org>",
    "\n#regzbot introduced: 1234567890ab\n",
    "{{ 7 * 7 }} {% raw %} ${HOME} `id`",
    "From nobody Mon Sep 17",
    "\n---\ndiff --git a/x b/x",
    "w" * 3000,
    "\u00b5" * 400,
    "\udcff\udc80\x00\x1b[2J",
    "a " * 2000,
    "-- \nfooter",
]
hostile = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=60),
    st.builds(lambda a, b: a + b, st.sampled_from(NASTY), st.text(max_size=20)),
)
numbers = st.floats(allow_nan=True, allow_infinity=True)
samples = st.lists(numbers, max_size=6).map(lambda values: Sample(tuple(values)))
MAILER = DraftMailer(site(TEMPLATES))
#: What goes to people is looked at more closely.
CLOSELY = settings(max_examples=deep(100, 400))
KEYS = message_from_string(
    (TEMPLATES.parent / "tests/golden/mails/rcu.eml").read_text(), policy=default
).keys()


@st.composite
def reports(draw):
    """A report on a real machine or an emulated one, with hostile words wherever the tree,
    the guest or a check can put them."""
    base = draw(st.sampled_from([epoll(), rcu(), hang(), two_modes()]))
    word = hostile
    result = replace(
        base.result,
        outcome=draw(st.sampled_from(Outcome)),
        cause=draw(st.sampled_from(Cause)),
        confidence=draw(numbers),
        candidates=tuple((s, p) for s, p in draw(st.lists(st.tuples(word, numbers), max_size=30))),
        reasons=tuple(map(said, draw(st.lists(word, max_size=12)))),
        table=tuple(
            replace(row, workload=draw(word), unit=draw(word), sample=draw(samples))
            for row in base.result.table * draw(st.integers(0, 5))
        ),
        verifications=base.result.verifications
        + tuple(
            Verification(
                check=draw(word),
                status=draw(word),
                judgement=base.result.judgement,
                note=said(draw(word)),
            )
            for _ in range(draw(st.integers(0, 8)))
        ),
    )
    commits = tuple(replace(c, subject=draw(word)) for c in base.graph.commits[:3])
    return replace(
        base,
        tree=draw(word),
        older=draw(st.one_of(st.just(base.older), word)),
        newer=draw(st.one_of(st.just(base.newer), word)),
        graph=replace(base.graph, commits=commits + base.graph.commits[3:]),
        result=result,
        culprit=replace(
            base.culprit,
            subject=draw(word),
            author=draw(word),
            author_email=draw(word),
            files=tuple(draw(st.lists(word, max_size=9))),
            release=draw(word),
        ),
        excerpt=tuple(draw(st.lists(word, max_size=16))),
        thresholds=tuple(replace(each, title=draw(word)) for each in base.thresholds),
        device=draw(st.sampled_from([base.device, BOARD])),
        profile=replace(base.profile, boot_line=draw(word), isolated=draw(word)),
        config_name=draw(word),
        compiler=draw(word),
        release=draw(word),
        names=tuple(
            (sha, draw(word))
            for sha in (base.older, base.newer, *base.graph.parents_of(base.culprit.sha))
        ),
        facts=tuple((key, draw(word)) for key, _ in base.facts),
        synthetic_workload=draw(st.booleans()),
        command=draw(word),
    )


def rendered(report):
    body = MAILER.body(report)
    title = subject(report)
    headers = Envelope(
        bot=MAILER.bot,
        to=(report.operator,),
        subject=title,
        date=report.date,
        message_id=report.message_id,
        marks=(*marks(report), ("State", "draft")),
    )
    return title, body, message(headers, body)


@CLOSELY
@given(reports())
def test_no_word_of_a_tree_gets_out_of_its_place(report):
    title, body, eml = rendered(report)
    assert eml.isascii()
    assert all(line.isprintable() for line in eml.split("\n"))
    mail = message_from_string(eml, policy=default)
    assert mail.keys() == KEYS
    assert not mail.defects
    assert mail["Subject"] == title
    assert not mail["Subject"].defects
    assert "=?" not in eml.split("\n\n")[0]
    assert [a.addr_spec for a in mail["To"].addresses] == ["olga@lab.example.org"]
    assert mail.get_content() == body
    assert max(len(line) for line in eml.split("\n\n")[0].split("\n")) <= 78


@pytest.mark.words
@given(reports())
def test_bodies_keep_their_limits(report):
    _, body, _ = rendered(report)
    lines = body.splitlines()
    assert len(lines) <= MOST_LINES
    assert len(body) <= MAX_BYTES
    for line in lines:
        assert len(line) <= (120 if line.startswith("  Fixes: ") else 76)
        assert not line.startswith(("#", "From ", "---", "diff ", ">"))
        assert "#regzbot" not in line
        assert "Signed-off-by:" not in line
    if not mailable(report):
        assert "not for a list" in lines[0]
        assert "Reported-by" not in body.replace("Reported-by :", "")


@given(reports(), st.lists(hostile, max_size=6))
def test_campaign_logs_are_plain(report, told):
    text = log_text(report, tuple(map(said, told)), report.tree)
    assert text.isascii()
    for line in text.split("\n"):
        assert line.isprintable()
        # A fact has one line, cut where it is longer than any of ours, behind its label.
        assert len(line) <= 14 + 600


@given(st.lists(numbers, max_size=30), st.lists(numbers, max_size=30))
def test_histograms_fit(base, new):
    lines = histogram(base, new, "us", ("parent", "commit"))
    assert len(lines) <= 14
    assert all(len(line) <= 76 for line in lines)


@pytest.mark.parametrize("case", [rcu, hang, two_modes])
@pytest.mark.parametrize("failing", [False, True])
def test_the_longest_report_fits(failing, case):
    long = "word " * 400
    rows = tuple(replace(row, window=f"window-{i}") for i, row in enumerate(EPOLL.table * 4))
    checks = EPOLL.verifications + tuple(
        Verification(
            check=f"check {i}",
            status=CheckStatus.PASS,
            judgement=EPOLL.judgement,
            note=said(long),
        )
        for i in range(9)
    )
    whole = case()
    result = replace(
        whole.result,
        table=whole.result.table + rows,
        verifications=(*whole.result.verifications, *checks),
        reasons=(said(long),) * 9,
        candidates=tuple((f"{i:040x}", 0.05) for i in range(20)),
        gates=tuple(
            Gate(f"G{n} gate", GateStatus.FAIL if failing else GateStatus.PASS, said(long))
            for n in range(15)
        ),
    )
    culprit = replace(whole.culprit, subject=long, files=(long,) * 9, fixes=(long,) * 9)
    report = replace(
        whole,
        result=result,
        culprit=culprit,
        profile=replace(whole.profile, boot_line=long, isolated=long, watch=long),
        facts=tuple((key, long) for key, _ in whole.facts),
        excerpt=(long[:300],) * 16,
        thresholds=tuple(replace(each, title=long[:200]) for each in whole.thresholds),
        command="rtbisect bisect " + "--option value-of-it " * 60,
    )
    _, body, _ = rendered(report)
    assert len(body.splitlines()) <= MOST_LINES
    assert len(body) <= MAX_BYTES
    assert body.isascii()
    assert words(STORY[0]) not in body
    assert ("G3 gate: word" in body, "G4 gate, G5 gate" in body) == (failing, failing)
