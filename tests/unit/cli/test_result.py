# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of a campaign on a screen."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.findings import said as as_said
from helpers.findings import words
from helpers.report_cases import rcu
from helpers.results import other_result
from rtbisect.cli.result import MOST, answer_of, headline, listed, opening, text_of
from rtbisect.model.campaign import CampaignKind, CampaignRequest, CampaignState, Outcome
from rtbisect.model.code import CommitHead
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Reasons
from rtbisect.model.kinds.search import Endings
from rtbisect.report.input_file import INPUT, input_json
from rtbisect.report.letter import opening_of
from rtbisect.report.mail_values import cost
from rtbisect.report.wording import said


@pytest.fixture
def record(tmp_path):
    """A campaign whose report lies in a folder of the test."""
    report = rcu()
    request = CampaignRequest(
        kind=CampaignKind.BISECT, site="", tree=report.tree, older=report.older, newer=report.newer
    )
    (tmp_path / INPUT).write_text(input_json(report))
    return SimpleNamespace(
        id=report.campaign,
        kind=CampaignKind.BISECT,
        request=request,
        result=report.result,
        report=SimpleNamespace(folder=tmp_path, path=str(tmp_path / "report.eml")),
    )


def test_a_screen_says_what_the_mail_opens_with(record):
    text = " ".join(text_of(record, rcu().summary, (), opening(record)).split())
    for finding in opening_of(rcu()):
        assert said(rcu(), finding, 600) in text


@pytest.mark.parametrize("terminal", [True, False])
def test_lines_of_an_answer_break_between_words_on_a_terminal_alone(record, monkeypatch, terminal):
    reason = Finding.of(Reasons.MISASKED, message="wide " * 12)
    record.result = other_result(Outcome.INCONCLUSIVE, reasons=(reason,))
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: terminal))
    lines = text_of(record, rcu().summary).splitlines()
    whole = words(reason).strip()
    assert any(whole in line for line in lines) is not terminal
    assert whole in " ".join(" ".join(lines).split())
    # What stands first breaks, too.
    monkeypatch.setenv("COLUMNS", "20")
    first = headline(record, record.result)
    assert (text_of(record, rcu().summary).splitlines()[0] == first) is not terminal


@pytest.mark.parametrize("kept", [None, b"{", b"\xff"])
def test_an_answer_is_shown_without_its_mail(record, kept):
    place = record.report.folder / INPUT
    if kept is None:
        place.unlink()
    else:
        place.write_bytes(kept)
    text = text_of(record, rcu().summary, (), opening(record))
    assert text.startswith(f"{record.id}: {record.result.outcome}")
    assert said(rcu(), opening_of(rcu())[0], 600) not in " ".join(text.split())


def test_a_list_of_campaigns_reads_no_mail(record):
    """There may be thousands of them."""
    first, *rest = listed(record, rcu().summary).splitlines()
    assert first == headline(record, record.result)
    assert rest == [f"  {cost(rcu().summary)}", f"  draft: {record.report.path}"]


def test_a_list_says_why_there_is_no_answer(record):
    reasons = as_said("it is so"), as_said("and so")
    record.result = replace(
        record.result, outcome=Outcome.INCONCLUSIVE, candidates=(), reasons=reasons
    )
    text = listed(record, rcu().summary)
    assert words(reasons[0]) in text
    assert words(reasons[1]) not in text


def test_a_campaign_that_is_not_done_has_its_state_and_its_costs(record):
    record.result, record.state, record.note = None, CampaignState.PAUSED, "the disk is full"
    text = f"{record.id}: paused; {cost(rcu().summary)}; the disk is full"
    assert listed(record, rcu().summary) == text_of(record, rcu().summary) == text


def test_an_answer_names_its_figure_and_is_no_certainty(record):
    first = headline(record, replace(record.result, confidence=0.99999))
    assert "(synchronize_rcu(), confidence >0.999, " in first
    record.kind = CampaignKind.CHECK
    assert headline(record, record.result).endswith("(synchronize_rcu())")


def test_what_the_mail_opens_with_is_not_said_again(record):
    culprit = Finding.of(Endings.CULPRIT, sha="c" * 40, probability=0.99, boots=20)
    record.result = replace(record.result, reasons=(culprit, as_said("it is so")))
    text = text_of(record, rcu().summary, (), "The first sentence.")
    assert words(culprit) not in text
    assert words(as_said("it is so")) in text
    assert words(culprit) in text_of(record, rcu().summary)


def test_what_runs_has_no_next_command_and_what_is_paused_has_one(record):
    command = CommandRequest(argv=("./bench",))
    record.kind, record.result, record.note = CampaignKind.RUN, None, ""
    record.request = replace(record.request, kind=CampaignKind.RUN, extra=command.extra())
    shown = {}
    for record.state in (CampaignState.RUNNING, CampaignState.PAUSED):
        shown[record.state] = text_of(record, rcu().summary).splitlines()[1:]
    assert not shown[CampaignState.RUNNING]
    assert "rtbisect resume" in shown[CampaignState.PAUSED][0]


def test_an_answer_without_a_commit_lists_the_likeliest(record):
    command = CommandRequest(argv=("./bench",))
    record.kind, record.state = CampaignKind.RUN, CampaignState.DONE
    record.request = replace(record.request, kind=CampaignKind.RUN, extra=command.extra())
    record.result = replace(
        other_result(Outcome.INCONCLUSIVE), candidates=(("c" * 40, 0.4), ("d" * 40, 0.25))
    )
    text = text_of(record, rcu().summary)
    assert "c" * 12 in text
    assert "d" * 12 in text


@pytest.mark.parametrize("outcome", [Outcome.CULPRIT_SET, Outcome.MULTIPLE_CULPRITS])
def test_an_answer_of_several_commits_tells_of_each_and_how_many_are_left_out(record, outcome):
    named = tuple(f"{n:x}" * 40 for n in range(1, MOST + 3))
    several = outcome is Outcome.MULTIPLE_CULPRITS
    record.result = replace(
        record.result,
        outcome=outcome,
        culprit=named[0] if several else None,
        candidates=tuple((sha, 0.1) for sha in named),
    )
    heads = tuple(CommitHead(sha, "a subject", "me", "today") for sha in named[:MOST])
    first = headline(record, record.result)
    lines = text_of(record, rcu().summary, heads).splitlines()
    for sha in named[:MOST]:
        assert sha[:12] in first
        assert any(line.strip().startswith(sha[:12]) for line in lines)
    assert "and 2 more" in first
    assert lines[1 + MOST].strip() == "and 2 more"


def answered(record, **more):
    """The answer for a program."""
    record.result = replace(record.result, **more)
    return answer_of(SimpleNamespace(summary=lambda _record: rcu().summary), record)


def test_a_wrong_request_is_listed_as_one_and_not_as_a_search_without_an_answer(record):
    wrong = Finding.of(Reasons.MISASKED, message="no such number")
    record.result = other_result(Outcome.INCONCLUSIVE, reasons=(wrong,))
    text = listed(record, rcu().summary)
    assert str(Outcome.INCONCLUSIVE) not in text
    assert words(wrong) in text


def test_a_program_reads_no_certainty_that_the_screen_does_not_state(record):
    told = answered(record, confidence=0.999999, candidates=(("c" * 40, 1.0), ("d" * 40, 1e-9)))
    numbers = [told["confidence"], *(each["probability"] for each in told["candidates"])]
    assert all(0 < number < 1 for number in numbers)


def test_a_program_reads_all_commits_that_make_the_change(record):
    one = answered(record)
    assert one["culprits"] == [one["culprit"]] == [record.result.culprit]
    named = (("c" * 40, 0.99), ("d" * 40, 0.98))
    several = answered(
        record, outcome=Outcome.MULTIPLE_CULPRITS, culprit="c" * 40, candidates=named
    )
    assert (several["culprit"], several["culprits"]) == ("c" * 40, ["c" * 40, "d" * 40])
    # Of a set nobody knows which of them it is.
    assert answered(record, outcome=Outcome.CULPRIT_SET, culprit=None)["culprits"] == []
