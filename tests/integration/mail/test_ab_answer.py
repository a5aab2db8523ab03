# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches that somebody wants tested, and what is answered."""

import email
import re
from dataclasses import replace
from datetime import UTC, datetime
from email.policy import default

import pytest

from helpers.findings import spoken, words
from helpers.mail_world import USE, WHO, needs_tools
from helpers.report_cases import rcu, repair
from rtbisect.campaign import ab_test
from rtbisect.errors import ConfigError
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import CampaignRequest, Level, Outcome, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Ignored, Newer, Obstacle
from rtbisect.model.kinds.report import Columns, Online
from rtbisect.model.result import KernelRole, TableRow
from rtbisect.report.lint.mail import MOST_BYTES
from rtbisect.report.lint.rules import lint
from rtbisect.store.campaigns import CampaignStore

pytestmark = needs_tools

PATCH = Finding.of(Newer.PATCH, title="rcu: mend it")


def test_a_patch_that_is_too_large_is_not_tested_in_part(world, tmp_path):
    name = world.campaign(rcu())
    patch = tmp_path / "p"
    patch.write_bytes(b"x" * MOST_BYTES)
    code, told = world("report", "test", name, "--patch", str(patch))
    assert (code, "is larger than" in told["error"]) == (2, True)


def checked(world, name, before, after, report):
    """A finished comparison of what a report calls bad with something newer, by boots in ms."""
    limit = report.thresholds[0]
    rows = tuple(
        TableRow(
            kernel=KernelRole(kernel),
            window=limit.key.window,
            workload="none",
            metric=limit.key,
            unit=limit.unit,
            sample=Sample(tuple(1000 * value for value in values)),
        )
        for kernel, values in (("base", before), ("tip", after))
    )
    judged = judge(limit, *(row.sample for row in rows))
    told = tuple(
        replace(
            row,
            metric=replace(row.metric, name="mean_us"),
            sample=Sample(tuple(1.02 * value for value in row.sample.values)),
        )
        for row in rows
    )
    result = replace(
        report.result, outcome=Outcome.NO_REGRESSION, culprit=None, table=(*told, *rows),
        judgements=(judged,), gates=(),
    )  # fmt: skip
    store = CampaignStore(world.state)
    check = store.create("check", "{}", datetime.now(UTC).isoformat())
    store.finish(check, result, None)
    request = CampaignRequest(
        kind="check", site=str(world.site), tree="stable-rt", older="b" * 40, newer="c" * 40
    )
    question = ab_test.Question(request, PATCH)
    return ab_test.write_answer(
        world.state, store.get(name), question, store.get(check), "<q@x.org>"
    )


@pytest.mark.parametrize(
    ("after", "level"),
    [
        ((6.0, 6.1, 5.9, 6.0, 6.05, 6.02), Level.REGRESSED),
        ((9.03, 8.95, 9.08, 9.0, 9.04, 8.92), Level.PASS),
        ((9.0, 6.1, 8.9, 6.0, 9.05, 6.02), Level.UNDECIDED),
        ((), Level.UNDECIDED),
    ],
)
@pytest.mark.parametrize("report", [rcu(), repair()], ids=["regression", "repair"])
def test_an_answer_says_what_a_patch_does(world, after, level, report):
    name = world.campaign(report)
    found = checked(world, name, (9.0, 9.1, 8.9, 9.0, 9.05, 9.02), after, report)
    assert found.level is level
    assert spoken(PATCH) in " ".join(found.text.split())
    mail = email.message_from_string(found.text, policy=default)
    assert mail["In-Reply-To"] == "<q@x.org>"
    assert [each.addr_spec for each in mail["To"].addresses] == ["olga@lab.example.org"]
    assert found.path.read_text() == found.text
    assert lint(found.text.encode()) == ()
    assert "Newer-by:" not in found.text
    names = [
        spoken(Finding.of(Columns.IN_SUITE, suite="rcu", name=each, unit="ms"))[:40].strip()
        for each in ("p50_us", "mean_us")
    ]
    places = [found.text.index(f"    {each}") for each in names]
    assert places == sorted(places), "what is judged stands first"


def test_an_answer_links_the_page_of_the_report_where_that_is_published(world):
    name = world.campaign(rcu())
    boots = (9.0,) * 6, (6.0, 6.1, 5.9, 6.0, 6.05, 6.02)
    address = f"https://lab.example.org/evidence/{name}/"
    text = checked(world, name, *boots, rcu()).text
    (line,) = (line for line in text.splitlines() if address in line)
    assert line == words(Finding.of(Online.REPORT, address=address))
    (world.root / "www" / name / "index.html").unlink()
    assert address not in checked(world, name, *boots, rcu()).text
    del world.mail["evidence"]
    assert address not in checked(world, name, *boots, rcu()).text


def test_an_editor_that_ends_lines_as_dos_does_changes_no_answer(world):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO, "--use-case", USE)
    world("report", "approve", name, "--by", WHO)
    world("mail", "send", "--site", str(world.site))
    path = checked(world, name, (9.0,) * 6, (6.0, 6.1, 5.9, 6.0, 6.05, 6.02), rcu()).path
    ask = ("report", "answer", name, path.stem.removeprefix("answer-"), "--by", WHO)
    before = world(*ask)[1]["eml"]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    after = world(*ask)[1]["eml"]
    assert "\r" not in after
    body = slice(before.index("\n\n"), None)
    assert after[body] == before[body]


def test_an_answer_on_data_of_an_emulator_is_the_operators(world):
    world.emulated = True
    name = world.campaign(rcu())
    found = checked(world, name, (9.0,) * 6, (6.0, 6.1, 5.9, 6.0, 6.05, 6.02), rcu())
    assert not found.mailable
    assert words(Finding.of(Obstacle.EMULATED)) in " ".join(found.text.split())
    assert "Subject: [internal] Re:" in found.text


@pytest.mark.parametrize(("report", "end"), [(rcu(), "newer"), (repair(), "older")])
def test_a_patch_is_put_on_what_is_bad(world, report, end):
    name = world.campaign(report, **{end: world.sha})
    patch = world.root / "fix.mbox"
    (world.tree / "kernel/rcu/tree.c").write_text("int y;\n")
    patch.write_text("Subject: [PATCH] rcu: mend it\n\n" + world._git("diff") + "\n")
    world._git("checkout", "-q", ".")
    record = CampaignStore(world.state).get(name)
    question = ab_test.of_patch(world.state, record, patch.read_bytes())
    assert question.request.older == world.sha
    asked = {"foreign": question.request.newer, "asked": str(report.result.metric)}
    assert dict(question.request.extra) == asked
    assert question.what == PATCH
    series = b""
    for number in (1, 2):
        (world.tree / "kernel/rcu/tree.c").write_text(f"int y{number};\n")
        mail = f"From a\nSubject: [PATCH {number}/2] x{number}\n\n{world._git('diff')}\n\n"
        world._git("commit", "-qam", "x")
        series += mail.encode()
    world._git("reset", "-q", "--hard", world.sha)
    question = ab_test.of_patch(world.state, record, series)
    assert question.what == Finding.of(Newer.SERIES, title="x2", others=1)
    with pytest.raises(ConfigError, match="was about"):
        ab_test.of_revision(world.state, record, "linux-6.12.y-rt")


def test_a_mail_that_no_parser_is_given_is_refused_in_a_line(world):
    record = CampaignStore(world.state).get(world.campaign(rcu(), newer=world.sha))
    part = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"
    said = words(Finding.of(Ignored.NESTED_PARTS))
    with pytest.raises(ConfigError, match=f"^the mail {re.escape(said)}; send"):
        ab_test.of_patch(world.state, record, part * 100)
