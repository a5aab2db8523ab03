# SPDX-License-Identifier: GPL-2.0-or-later
"""The command that an answer of `run` ends with."""

from dataclasses import replace

import pytest

from helpers.results import culprit_result, other_result
from rtbisect.campaign.again import MOST_AGAIN
from rtbisect.cli.run_answer import likeliest_of, next_of, tells_of
from rtbisect.model.campaign import CampaignRequest, Outcome, Sought
from rtbisect.model.code import CommitHead
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered
from rtbisect.model.kinds.counts import Counts
from rtbisect.model.kinds.pipeline import Proofs, Reasons
from rtbisect.model.kinds.search import Costs, Endings
from rtbisect.model.result import Difference, DiffersBy
from rtbisect.model.result import TestedRevision as Revision

ASKED = CampaignRequest(
    kind="run", site="", tree="", older="a", newer="b", repo="/my repo",
    extra=CommandRequest(argv=("x",), max_runs=40).extra(),
)  # fmt: skip
SPENT = Finding.of(Endings.SEARCH_BUDGET, spent=Finding.of(Costs.WORK, builds=0, boots=22))
OPEN = Finding.of(Proofs.NOT_CONFIRMED, culprit="abc", check="parent", note=None)
UNPROVED = replace(
    other_result(Outcome.INCONCLUSIVE, reasons=(OPEN,)), candidates=(("abc", 0.7), ("dcb", 0.2))
)
#: More runs decide, as many as there are.
RUN = Revision(sha="abc", subject="s", boots=115, probability_bad=0.9)
SHORT = other_result(Outcome.INCONCLUSIVE, reasons=(SPENT,))
SET = replace(other_result(Outcome.CULPRIT_SET), candidates=tuple((f"c{n}", 0.1) for n in range(9)))
UNCLEAR = Difference(DiffersBy.UNCLEAR, SPENT)
TWO = replace(
    culprit_result("abc", candidates=(("abc", 1.0), ("dcb", 0.99))),
    outcome=Outcome.MULTIPLE_CULPRITS,
)


def counts(kind, share):
    named = {"older": "a", "newer": "b", "metric": "command.us@run"}
    change = {"change": None, "low": None, "high": None}
    return Finding.of(kind, share=share, spread=0.0, **named, **change)


@pytest.mark.parametrize(
    ("result", "runs", "command"),
    [
        (None, 3, "rtbisect resume run-3"),
        (culprit_result("abc"), 30, "git -C '/my repo' show abc"),
        (SHORT, 22, "rtbisect resume run-3 --max-runs 80"),
        (SHORT, 90, "rtbisect resume run-3 --max-runs 180"),
        (UNPROVED, 90, "rtbisect resume run-3 --again abc --runs 12"),
        (
            replace(UNPROVED, tested=(RUN, replace(RUN, sha="dcb", boots=7))),
            723,
            "rtbisect resume run-3 --again abc --runs 115",
        ),
        (
            replace(UNPROVED, tested=(replace(RUN, boots=5000),)),
            9000,
            f"rtbisect resume run-3 --again abc --runs {MOST_AGAIN}",
        ),
        (SET, 90, "git -C '/my repo' log --no-walk --stat c0 c1 c2 c3 c4 c5 c6 c7 c8"),
        (TWO, 90, "git -C '/my repo' log --no-walk --stat abc dcb"),
    ],
)
def test_an_answer_says_how_to_go_on(result, runs, command):
    assert next_of("run-3", ASKED, result, runs).data["command"] == command


@pytest.mark.parametrize(("moves", "words"), [(True, "show --submodule=log"), (False, "show")])
def test_a_commit_that_moves_a_submodule_is_shown_with_what_it_brings_in(moves, words):
    head = CommitHead("abc", "use a new lib", "me", "today", submodule=moves)
    told = next_of("run-3", ASKED, culprit_result("abc"), 30, (head,))
    assert told.data["command"] == f"git -C '/my repo' {words} abc"


def test_the_likeliest_commits_are_told_and_how_many_others_there_are():
    (told,) = likeliest_of(UNPROVED, 1)
    assert [each.data["sha"] for each in told.data["candidates"]] == ["abc"]
    assert told.data["more"] == 1
    assert not list(likeliest_of(SHORT, 8))


@pytest.fixture
def counting(monkeypatch):
    """A machine that counts instructions, or not."""

    def here(*, counts):
        monkeypatch.setattr("rtbisect.cli.run_answer.counts_here", lambda: counts)

    here(counts=True)
    return here


BUILT = CommandRequest(argv=("./bench",), metric="p99_us", unit="us", build=("make",))
COUNTED = (
    "rtbisect run --repo '/my repo' --good a --bad b --count instructions --build make -- ./bench"
)


def asked(command):
    return replace(ASKED, extra=command.extra())


def test_where_layout_may_be_all_counts_of_instructions_are_next(counting):
    result = other_result(Outcome.LAYOUT_SENSITIVE)
    assert next_of("run-3", asked(BUILT), result, 22).data["command"] == COUNTED
    # The next line has the command already.
    assert tells_of(asked(BUILT), result) == Finding.of(Answered.TELLS, command="", relayout=True)
    again = asked(replace(BUILT, relayout=True))
    assert next_of("run-4", again, result, 22) is None
    assert tells_of(again, result) is None


def test_a_search_by_counts_has_no_option_of_the_figure_that_it_replaces(counting):
    of_figure = replace(
        BUILT, metric="", extract="took (.*)", better="higher", ratio=1.05, cost_run_s=1.0,
        timeout_s=5.0, paths=("lib",),
    )  # fmt: skip
    result = other_result(Outcome.LAYOUT_SENSITIVE)
    assert next_of("run-3", asked(of_figure), result, 22).data["command"] == COUNTED


@pytest.mark.parametrize(
    ("outcome", "flags"),
    [
        (Outcome.CULPRIT, ""),
        (Outcome.MERGE_CULPRIT, " --first-parent"),
        (Outcome.MULTIPLE_CULPRITS, " --first-parent"),
    ],
)
def test_what_tells_code_from_layout_measures_no_branch_of_a_merge(counting, outcome, flags):
    result = replace(culprit_result("abc"), outcome=outcome, difference=UNCLEAR)
    told = tells_of(asked(BUILT), result)
    assert told.data["relayout"]
    assert told.data["command"] == (
        "rtbisect run --repo '/my repo' --good 'abc^' --bad abc --count instructions --build make"
        f"{flags} -- ./bench"
    )


@pytest.mark.parametrize(
    ("here", "changed", "reasons"),
    [
        (False, {}, ()),
        (True, {"count": "perf stat"}, (counts(Counts.BESIDE, 0.09),)),
        (True, {"unit": "MB"}, ()),
    ],
)
def test_where_counts_tell_nothing_only_layouts_are_named(counting, here, changed, reasons):
    counting(counts=here)
    result = replace(culprit_result("abc"), difference=UNCLEAR, reasons=reasons)
    told = tells_of(asked(replace(BUILT, **changed)), result)
    assert told == Finding.of(Answered.TELLS, command="", relayout=True)


ALIKE = Finding.of(Endings.ALIKE, boots=42, p=0.047, asked=0.0012)
MORE, FEWER = (counts(Counts.BESIDE, share) for share in (0.09, -0.09))


@pytest.mark.parametrize(
    ("outcome", "reasons", "changed"),
    [
        (Outcome.NOT_REPRODUCED, (ALIKE,), {}),
        (Outcome.NOT_REPRODUCED, (ALIKE, MORE), {"count": "valgrind"}),
        (Outcome.NOT_REPRODUCED, (ALIKE,), {"unit": ""}),
        (Outcome.INCONCLUSIVE, (ALIKE,), {}),
        # It is over where further runs would go on.
        (Outcome.INCONCLUSIVE, (SPENT, MORE), {"count": "valgrind"}),
    ],
)
def test_where_the_time_names_no_commit_counts_of_instructions_are_next(
    counting, outcome, reasons, changed
):
    result = other_result(outcome, reasons=reasons)
    request = asked(replace(BUILT, **changed))
    assert next_of("run-3", request, result, 22).data["command"] == COUNTED
    assert tells_of(request, result) is None


@pytest.mark.parametrize(
    ("reasons", "changed"),
    [
        ((ALIKE, FEWER), {"count": "valgrind"}),
        ((ALIKE, counts(Counts.SAME, 0.0)), {"count": "valgrind"}),
        ((ALIKE, counts(Counts.UNSURE, 0.01)), {"count": "valgrind"}),
        ((ALIKE,), {"metric": "", "unit": "", "count": "valgrind"}),
        ((ALIKE,), {"metric": "", "unit": "", "pass_fail": True}),
        ((ALIKE,), {"unit": "MB"}),
        # The build may not link without a seed.
        ((ALIKE,), {"relayout": True}),
        ((Finding.of(Endings.SWAPPED),), {}),
        ((Finding.of(Reasons.MISASKED, message="no such number"),), {}),
    ],
)
def test_counts_that_would_tell_nothing_are_not_next(counting, reasons, changed):
    result = other_result(Outcome.NOT_REPRODUCED, reasons=reasons)
    assert next_of("run-3", asked(replace(BUILT, **changed)), result, 22) is None


@pytest.mark.parametrize("outcome", [Outcome.INCONCLUSIVE, Outcome.NOT_REPRODUCED])
def test_where_nothing_counts_here_nothing_is_said(counting, outcome):
    counting(counts=False)
    assert next_of("run-3", asked(BUILT), other_result(outcome), 22) is None


def test_a_repair_executes_fewer_instructions(counting):
    result = other_result(Outcome.NOT_REPRODUCED, reasons=(ALIKE, FEWER))
    request = replace(asked(replace(BUILT, count="valgrind")), sought=Sought.REPAIR)
    assert "--find-fix" in next_of("run-3", request, result, 22).data["command"]


@pytest.mark.parametrize("result", [SHORT, UNPROVED])
def test_where_further_runs_are_next_counts_stand_beside_them(counting, result):
    """A job of every night goes on by the next command."""
    assert "resume" in next_of("run-3", asked(BUILT), result, 22).data["command"]
    told = tells_of(asked(BUILT), result)
    assert told == Finding.of(Answered.BY_COUNTS, command=COUNTED)
