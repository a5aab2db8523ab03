# SPDX-License-Identifier: GPL-2.0-or-later
"""Before and after, and the tested revisions, of an answer of `run`."""

from dataclasses import replace

import pytest

from helpers.results import culprit_result, other_result
from rtbisect.model import result as kept
from rtbisect.model.campaign import CampaignRequest, Judgement, Level, Outcome, Sample
from rtbisect.model.command import SUITE, WINDOW, CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered
from rtbisect.model.kinds.judge import Told
from rtbisect.model.kinds.pipeline import Parts, Proofs
from rtbisect.model.kinds.search import Untestable
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.result import CheckStatus
from rtbisect.report.marks import Mark
from rtbisect.report.revision_chart import Column
from rtbisect.report.run_answer import caption_of, change_of, columns_of

FIGURES = {"old": [1.0, 2.0, 9.0], "mid": [4.0], "new": [5.0, 6.0, 7.0]}


def asked(**more):
    command = CommandRequest(argv=("x",), metric="p99_us", **more)
    return CampaignRequest(
        kind="run", site="", tree="", older="old", newer="new", extra=command.extra()
    )


def runs(figures, name="p99_us", unit="us"):
    return [
        Run(
            run_id="r", revision=sha, status=RunStatus.COMPLETE,
            measurements=(Measurement(suite=SUITE, name=name, window=WINDOW, value=v, unit=unit),),
        )
        for sha, values in figures.items()
        for v in values
    ]  # fmt: skip


OPEN = other_result(Outcome.INCONCLUSIVE)


def test_where_nothing_is_named_the_ends_are_shown():
    change = change_of(asked(), OPEN, runs(FIGURES))
    assert (change.before.value, change.before.low, change.before.high) == (2.0, 1.0, 9.0)
    assert (change.after.value, change.after.runs, change.unit) == (6.0, 3, "us")
    assert change.effect is None
    assert change.found.kind == Answered.SIDES


def test_a_figure_without_a_unit_does_not_get_that_of_counts_beside_it():
    counts = runs({"old": [1e6], "new": [1e6]}, name="instructions", unit="instructions")
    assert change_of(asked(), OPEN, [*runs(FIGURES, unit=""), *counts]).unit == ""


def test_an_end_without_a_figure_leaves_nothing_to_show():
    assert change_of(asked(), OPEN, runs({"old": [1.0]})) is None


@pytest.mark.parametrize(("ratio", "kind"), [(None, Answered.DIFFERENCE), (1.1, Answered.RATIO)])
def test_a_named_commit_is_shown_with_the_runs_that_prove_it(ratio, kind):
    judged = Judgement(
        key=asked_key(), level=Level.REGRESSED, base=Sample((10.0, 12.0)), new=Sample((20.0,)),
        effect=9.0, interval=(7.0, 11.0), p=0.01, reason=Finding.of(Told.RATIO, ratio=2.0),
    )  # fmt: skip
    result = culprit_result("mid", judgement=judged)
    change = change_of(asked(ratio=ratio), result, runs(FIGURES))
    assert (change.before.value, change.after.value) == (11.0, 20.0)
    assert change.effect == (9.0, 7.0, 11.0)
    assert change.found.kind == kind
    # The effect of something else than the figure is not shown as its own.
    wider = replace(judged, figure=Finding.of(Told.RATIO, ratio=2.0))
    assert change_of(asked(), culprit_result("mid", judgement=wider), runs(FIGURES)).effect is None


def asked_key():
    return CommandRequest(argv=(), metric="p99_us").threshold().key


def test_failing_runs_are_a_share_with_an_interval_that_is_never_empty():
    change = change_of(
        CampaignRequest(
            kind="run", site="", tree="", older="old", newer="new",
            extra=CommandRequest(argv=("x",), pass_fail=True).extra(),
        ),
        OPEN,
        runs({"old": [0.0] * 10, "new": [1.0, 0.0]}, name="value", unit=""),
    )  # fmt: skip
    assert change.share
    assert (change.before.value, change.before.low) == (0.0, 0.0)
    assert change.before.high == pytest.approx(0.2775, abs=1e-3)
    assert change.found.kind == Answered.SHARES


def told_for(*shas_and_bads, skipped=None):
    of = kept.TestedRevision
    return tuple(
        of(sha, "", 3, bad, skipped if sha not in ("old", "new") else None)
        for sha, bad in shas_and_bads
    )


@pytest.mark.parametrize(
    ("kind", "status", "mark"),
    [
        (Proofs.DOUBTED, CheckStatus.FAIL, Mark.OPEN),
        (Proofs.DOUBTED, CheckStatus.UNDECIDED, Mark.NEWER),
        (Parts.TESTED_FOR, CheckStatus.PASS, Mark.OPEN),
    ],
)
def test_what_is_refuted_or_tested_for_another_commit_is_open_and_not_skipped(kind, status, mark):
    doubt = Finding.of(kind, **({"culprit": None} if kind is Parts.TESTED_FOR else {}))
    tested = told_for(("old", 0.0), ("mid", 0.95), ("new", 1.0), skipped=doubt)
    check = kept.Verification(check=kept.CheckName.PARENT, status=status, judgement=None, note=None)
    result = replace(OPEN, tested=tested, verifications=(check,))
    columns = columns_of(asked(), result, runs(FIGURES))
    assert [column.mark for column in columns] == [Mark.OLDER, mark, Mark.NEWER]
    assert not caption_of(columns, 3, "us").data["skipped"]


def test_an_end_is_what_a_person_called_it():
    """Also where the ends are not known to differ."""
    result = replace(OPEN, tested=told_for(("old", 0.0), ("new", 0.5)))
    columns = columns_of(asked(), result, runs(FIGURES))
    assert [column.mark for column in columns] == [Mark.OLDER, Mark.NEWER]


def test_revisions_are_marked_by_how_sure_it_is_what_they_are():
    skipped = Finding.of(Untestable.NO_BUILD)
    of = kept.TestedRevision
    tested = (
        of("old", "", 3, 0.0), of("x", "", 0, 0.5, skipped), of("y", "", 1, 0.6),
        of("mid", "", 1, 0.95), of("new", "", 3, 1.0),
    )  # fmt: skip
    result = replace(culprit_result("mid"), tested=tested)
    columns = columns_of(asked(), result, runs(FIGURES))
    assert columns == (
        Column(2.0, Mark.OLDER), Column(None, Mark.SKIPPED), Column(None, Mark.OPEN),
        Column(4.0, Mark.NAMED), Column(6.0, Mark.NEWER),
    )  # fmt: skip
    told = caption_of(columns[:4], 5, "us").data
    assert (told["shown"], told["tested"], told["low"], told["high"]) == (4, 5, 2.0, 4.0)
    assert (told["skipped"], told["open"], told["named"]) == (True, True, True)


def test_each_of_several_commits_is_marked():
    of = kept.TestedRevision
    tested = (of("old", "", 3, 0.0), of("mid", "", 4, 0.95), of("new", "", 3, 1.0))
    several = replace(
        culprit_result("mid", candidates=(("mid", 1.0), ("new", 0.9))),
        outcome=Outcome.MULTIPLE_CULPRITS,
        tested=tested,
    )
    columns = columns_of(asked(), several, runs(FIGURES))
    assert [column.mark for column in columns] == [Mark.OLDER, Mark.NAMED, Mark.NAMED]
