# SPDX-License-Identifier: GPL-2.0-or-later
"""No build and no run begins when the time that a person gave is over."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from helpers.campaigns import line_of, sha
from helpers.commanded import Commanded, opened, searched
from helpers.findings import Like
from rtbisect.model.campaign import CampaignRequest, Limits, Outcome
from rtbisect.model.command import Extra
from rtbisect.model.kinds.pipeline import Proofs
from rtbisect.pipeline import counts_beside, merge_base, proof
from rtbisect.pipeline.further import FurtherBudget, FurtherBudgets
from rtbisect.pipeline.steps import Steps
from rtbisect.program.worktree_run import traits_of
from rtbisect.search.spec import BootPurpose
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import recorded


@dataclass
class Built(Commanded):
    """A command whose builds are seen, and may take their time."""

    taking: object = lambda _number: None
    built: list = field(default_factory=list)
    traits: object = field(default_factory=lambda: traits_of(built=True))

    def build(self, revision, layout, note):
        self.built.append(int(revision, 16))
        self.taking(int(revision, 16))
        return super().build(revision, layout, note)


@pytest.mark.parametrize(
    "asked",
    [
        {"count": "", "metric": "ms"},
        # Whose unit only a first run could tell.
        {"count": "", "metric": "ms", "first_look": True},
        {"count": "valgrind"},
        {"count": "valgrind", "metric": "ms"},
    ],
)
def test_a_search_without_time_builds_and_runs_nothing(tmp_path, asked):
    subject = Built(lambda _number, _run: 1)
    result = searched(tmp_path, subject, further=FurtherBudgets(time_s=0.0), **asked)
    assert (subject.built, subject.runs) == ([], [])
    assert result.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("asked", [{"count": "", "metric": "ms"}, {"count": "valgrind"}])
def test_no_run_follows_a_build_that_outlasts_the_time(tmp_path, asked):
    """Nor is a replay of that another search."""
    now = [0.0]

    def take(number):
        now[0] += 100.0 if number not in (0, 60) else 0.0

    def counts(number, _run):
        return 1e6 * (1.5 if number >= 30 else 1.0)

    def times(number, run):
        return 10.0 + 5.0 * (number >= 30) + 0.01 * (7 * run % 5)

    subject = Built(counts, times=times, taking=take)
    further = FurtherBudgets(time_s=50.0, clock=lambda: now[0])
    result = searched(tmp_path, subject, line_of(60), further=further, **asked)
    (late,) = set(subject.built) - {0, 60}
    assert late not in subject.runs
    assert result.outcome is Outcome.INCONCLUSIVE
    known = recorded(CampaignStore(tmp_path).database, "run-1", FurtherBudget)
    assert known == [FurtherBudget(len(subject.runs), len(subject.runs))]
    again = Built(counts, times=times)
    further = FurtherBudgets(known=known)
    told = searched(tmp_path, again, line_of(60), further=further, replayed="run-1", **asked)
    assert (again.built, again.runs) == ([], [])
    assert told == result


def test_runs_that_are_all_wanted_end_with_the_time(tmp_path):
    now = [0.0]

    def times(_number, _run):
        now[0] += 20.0
        return 1.0

    subject = Commanded(times, times=times)
    setup, parts = opened(tmp_path, subject, line_of(2), count="", metric="ms")
    further = FurtherBudgets(time_s=50.0, clock=lambda: now[0])
    steps = Steps(setup=setup, ports=parts, further=further)
    assert len(list(steps.in_turn((sha(0), sha(2)), BootPurpose.GIVEN, 12))) == 3
    assert steps.over


def late_steps(**more):
    """A campaign whose time is over, and that has built nothing."""
    return SimpleNamespace(may_build=lambda _sha: False, begun=7, **more)


def test_a_revert_is_not_built_any_more():
    steps = late_steps(outside=lambda *_words: False, revert=lambda *_words: "d" * 40)
    found = proof._revert(steps, None, "b" * 40, "c" * 40)
    assert found == (None, Like(Proofs.BUDGET_ENDED_LATE, boots=7))


def test_nor_is_the_end_that_a_merge_base_stands_for():
    request = CampaignRequest(
        kind="run", site="", tree="", older="a" * 40, newer="b" * 40,
        extra=Extra(given="c" * 40).pairs,
    )  # fmt: skip
    steps = late_steps(setup=SimpleNamespace(request=request, limits=Limits()))
    assert merge_base.judge_given_end(steps, None) is None


def test_nor_what_would_be_counted_beside():
    assert counts_beside._counted(late_steps(), "a" * 40) is None
