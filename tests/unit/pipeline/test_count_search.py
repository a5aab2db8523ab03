# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns of `run --count instructions`: what counts without noise say, and when they do not."""

import pytest

from helpers.campaigns import Quiet, line_of, sha
from helpers.commanded import Commanded, searched
from helpers.findings import Like, first
from rtbisect.errors import MisaskedError
from rtbisect.model.campaign import Outcome, Sought
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.counts import Counts
from rtbisect.model.kinds.search import Endings
from rtbisect.model.result import CheckName, DiffersBy


class Watched(Quiet):
    """Keeps what was told."""

    def __init__(self):
        self.heard = []

    def tell(self, finding):
        self.heard.append(finding)


def stepping(*steps, base=1_000_000):
    """Counts that each (number, share) of `steps` raises."""
    return lambda number, _run: base * (1 + sum(share for at, share in steps if number >= at))


def test_one_of_a_thousand_commits_is_found_with_sixteen_runs(tmp_path):
    subject = Commanded(stepping((617, 0.05), (200, 0.002)))
    result = searched(tmp_path, subject)
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(617))
    assert len(set(subject.runs)) <= 12
    # The ends, the commit and its parent twice.
    assert len(subject.runs) <= len(set(subject.runs)) + 4
    told = first(result.reasons, Counts.STEP)
    assert (told["parent"], round(told["part"], 2)) == (sha(616), 0.96)
    assert [check.check for check in result.verifications] == [CheckName.PARENT]
    assert result.judgement.base.n == result.judgement.new.n == 2


def test_what_is_left_is_told_where_it_has_changed(tmp_path):
    progress = Watched()
    searched(tmp_path, Commanded(stepping((617, 0.05))), progress=progress)
    told = [each.data["left"] for each in progress.heard if each.kind == Counts.LEFT]
    assert told == sorted(set(told), reverse=True)
    assert told[-1] == 1


def test_ends_with_the_same_counts_end_the_search(tmp_path):
    subject = Commanded(lambda _number, run: 1_000_000 + 20 * run)
    result = searched(tmp_path, subject)
    assert result.outcome is Outcome.NOT_REPRODUCED
    assert first(result.reasons, Counts.ALIKE)
    assert len(subject.runs) == 4


def test_a_change_the_other_way_round_is_a_wrong_request(tmp_path):
    with pytest.raises(MisaskedError):
        searched(tmp_path, Commanded(stepping((617, -0.05))))


def test_a_repair_is_searched_the_other_way_round(tmp_path):
    result = searched(tmp_path, Commanded(stepping((617, -0.05))), sought=Sought.REPAIR)
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(617))


def test_a_ratio_says_what_counts(tmp_path):
    result = searched(tmp_path, Commanded(stepping((617, 0.05))), ratio=1.1)
    assert result.outcome is Outcome.NOT_REPRODUCED


def test_all_large_steps_are_named_the_largest_first(tmp_path):
    subject = Commanded(stepping((100, 0.025), (500, 0.05), (900, 0.03), (950, 0.001)))
    result = searched(tmp_path, subject)
    assert result.outcome is Outcome.MULTIPLE_CULPRITS
    assert [sha for sha, _ in result.candidates] == [sha(500), sha(900), sha(100)]


def test_many_small_steps_are_no_commit(tmp_path):
    subject = Commanded(lambda number, _run: 1_000_000 + 100 * number)
    result = searched(tmp_path, subject)
    assert (result.outcome, result.culprit) == (Outcome.GRADUAL, None)
    assert first(result.reasons, Counts.SMALL_STEPS)["part"] == pytest.approx(0.001)


def test_counts_that_vary_are_searched_as_a_figure_with_noise(tmp_path):
    subject = Commanded(lambda number, run: 1e6 * (1 + 0.1 * (number >= 4) + 0.003 * (run % 3)))
    result = searched(tmp_path, subject, line_of(6))
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(4))
    assert not [each for each in result.reasons if each.kind == Counts.STEP]
    assert subject.runs.count(0) >= 6


def test_a_commit_whose_counts_vary_is_not_believed_as_exact(tmp_path):
    # The ends repeat; the commit and what follows, but for the end, does not.
    subject = Commanded(
        lambda number, run: 1e6 * (1 + 0.1 * (number >= 4) + 0.003 * (run % 3) * (3 < number < 8))
    )
    result = searched(tmp_path, subject, line_of(8))
    assert not [each for each in result.reasons if each.kind == Counts.STEP]
    assert result.culprit == sha(4)


class Once(Commanded):
    """Each run of one revision but the first fails."""

    def run(self, build, order, note):
        number = int(build.revision, 16)
        self.failing = frozenset({4} & {number} if number in self.runs else ())
        return super().run(build, order, note)


def test_a_commit_that_was_counted_once_is_not_believed_as_exact(tmp_path):
    subject = Once(stepping((4, 0.05)))
    result = searched(tmp_path, subject, line_of(8))
    assert subject.runs.count(4) > 2
    assert not [each for each in result.reasons if each.kind == Counts.STEP]
    assert result.outcome is not Outcome.CULPRIT


def test_revisions_that_cannot_be_measured_hide_the_commit(tmp_path):
    subject = Commanded(stepping((50, 0.05)), broken=frozenset({48, 49}), failing=frozenset({50}))
    result = searched(tmp_path, subject, line_of(100))
    assert result.outcome is Outcome.CULPRIT_SET
    assert [sha for sha, _ in result.candidates] == [sha(n) for n in (48, 49, 50, 51)]
    assert len(first(result.reasons, Endings.CULPRIT_SET)["untestable"]) == 3


def test_equal_builds_share_their_counts(tmp_path):
    subject = Commanded(stepping((617, 0.05)), signature=lambda number: str(number >= 617))
    result = searched(tmp_path, subject)
    assert result.culprit == sha(617)
    assert set(subject.runs) == {0, 1000}


def test_a_budget_that_ends_leaves_the_candidates(tmp_path):
    result = searched(tmp_path, Commanded(stepping((617, 0.05))), most=8)
    assert (result.outcome, result.culprit) == (Outcome.INCONCLUSIVE, None)
    assert first(result.reasons, Endings.SEARCH_BUDGET)
    assert 0 < len(result.candidates) <= 20


@pytest.mark.parametrize("most", range(16, 26))
def test_a_budget_that_ends_in_the_second_part_keeps_what_was_found(tmp_path, most):
    result = searched(tmp_path, Commanded(stepping((100, 0.05), (900, 0.03))), most=most)
    assert sha(100) in {found for found, _ in result.candidates}


def test_a_merge_is_named_as_one(tmp_path):
    commits = (
        Commit(sha(1), (sha(0),), "a"), Commit(sha(2), (sha(0),), "b"),
        Commit(sha(3), (sha(1), sha(2)), "merge"), Commit(sha(4), (sha(3),), "z"),
    )  # fmt: skip
    graph = CommitGraph(sha(0), sha(4), commits)
    result = searched(tmp_path, Commanded(stepping((3, 0.05))), graph)
    assert (result.outcome, result.culprit) == (Outcome.MERGE_CULPRIT, sha(3))


def noisy(number, run):
    return 10 + 5 * (number >= 4) + ((7 * number + 5 * run) % 10) / 10


@pytest.mark.parametrize(
    ("counts", "kind", "share"),
    [
        (stepping((4, 0.057)), Counts.BESIDE, 0.057),
        (stepping((4, 0.00001)), Counts.SAME, 0.00001),
        # What two runs of one revision differ by tells nothing.
        (lambda n, run: 1e6 * (1 + 0.002 * (n >= 4) + 0.002 * (run % 2)), Counts.UNSURE, None),
        (lambda n, run: 1e6 * (1 + 0.09 * (n >= 4) + 0.02 * (run % 2)), Counts.UNSURE, None),
        # As a wrapper in Python moves them.
        (lambda n, run: 1e6 * (1 + 0.0005 * (n >= 4) + 0.0003 * (run % 2)), Counts.SAME, None),
    ],
)
def test_counts_stand_beside_a_time(tmp_path, counts, kind, share):
    subject = Commanded(counts, noisy)
    result = searched(tmp_path, subject, line_of(6), metric="ms")
    assert result.culprit == sha(4)
    told = first(result.reasons, kind)
    assert (told["older"], told["newer"]) == (sha(3), sha(4))
    assert share is None or told["share"] == pytest.approx(share)
    assert 0.3 < told["low"] <= told["change"] <= told["high"] < 0.8


def test_counts_that_may_explain_a_small_change_are_not_called_equal(tmp_path):
    subject = Commanded(
        lambda n, run: 1e6 * (1 + 0.0005 * (n >= 4) + 0.0009 * (run % 2)),
        lambda n, run: noisy(0, run) / 100 + 10 + 0.1 * (n >= 4),
    )
    result = searched(tmp_path, subject, line_of(6), metric="ms")
    assert first(result.reasons, Counts.UNSURE)["change"] == pytest.approx(0.01, abs=0.002)


def test_counts_of_the_ends_say_code_where_no_commit_is_named(tmp_path):
    subject = Commanded(stepping((4, 0.3)), noisy, broken=frozenset({3, 4}))
    result = searched(tmp_path, subject, line_of(6), metric="ms")
    assert result.outcome is Outcome.CULPRIT_SET
    told = first(result.reasons, Counts.BESIDE)
    assert (told["older"], told["newer"]) == (sha(0), sha(6))
    assert result.difference.by is DiffersBy.CODE


def test_a_command_that_cannot_be_counted_keeps_its_answer(tmp_path):
    result = searched(tmp_path, Commanded(None, noisy), line_of(6), metric="ms")
    assert result.culprit == sha(4)
    assert first(result.reasons, Counts.UNCOUNTED)["why"] == Like(Commands.ENDED, code=1)


def forked():
    """1 and 2 on two branches of 0, 3 merges them, 4 is on top."""
    return CommitGraph(sha(0), sha(4), (
        Commit(sha(1), (sha(0),), "a"), Commit(sha(2), (sha(0),), "b"),
        Commit(sha(3), (sha(1), sha(2)), "merge"), Commit(sha(4), (sha(3),), "z"),
    ))  # fmt: skip


@pytest.mark.parametrize(("of_merge", "named"), [(0, {1, 2}), (400_000, {1, 2, 3})])
def test_what_each_branch_brings_is_not_of_the_merge(tmp_path, of_merge, named):
    added = {0: 0, 1: 300_000, 2: 300_000, 3: 600_000 + of_merge, 4: 600_000 + of_merge}
    subject = Commanded(lambda number, _run: 1_000_000 + added[number])
    result = searched(tmp_path, subject, forked())
    assert {found for found, _ in result.candidates} == set(map(sha, named))


def test_a_branch_that_lacks_what_the_older_end_has_is_no_change(tmp_path):
    """It forked before a fix in the older end, and nothing in it makes the newer end worse."""
    boundary = sha(900)
    graph = CommitGraph(sha(0), sha(2), (
        Commit(sha(1), (boundary,), "of the branch"),
        Commit(sha(2), (sha(0), sha(1)), "merge"),
    ))  # fmt: skip
    subject = Commanded(lambda number, _run: 1_000_000 + 500_000 * (number != 0))
    result = searched(tmp_path, subject, graph)
    assert sha(1) not in {found for found, _ in result.candidates}


def test_what_lies_among_skipped_commits_is_told_beside_a_commit(tmp_path):
    subject = Commanded(stepping((100, 0.06), (503, 0.04)), broken=frozenset(range(501, 506)))
    result = searched(tmp_path, subject)
    assert sha(100) in {found for found, _ in result.candidates}
    hidden = first(result.reasons, Counts.HIDDEN)
    assert hidden["commits"] == 6
    assert hidden["part"] == pytest.approx(0.4, abs=0.01)
