# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of a screen, made of facts alone."""

from dataclasses import replace

import pytest

from helpers.findings import words
from rtbisect.model.campaign import CampaignRequest, Sought
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Attributions, Ends, Proofs, Searches, Work
from rtbisect.model.kinds.screen import Line, Shown
from rtbisect.model.kinds.search import Checks
from rtbisect.model.ports import Left
from rtbisect.model.result import CheckName, CheckStatus, GateStatus
from rtbisect.report.campaign_screen import CampaignScreen, Tone, left_of
from rtbisect.search.spec import BootPurpose

OLDER, NEWER = "a" * 40, "f" * 40
COMMITS = (*(f"{number:040x}" for number in range(1, 8)), NEWER)
REQUEST = CampaignRequest(kind="bisect", site="", tree="t", older=OLDER, newer=NEWER)


@pytest.fixture
def now():
    return [100.0]


@pytest.fixture
def screen(now):
    return CampaignScreen(request=REQUEST, clock=lambda: now[0])


def figure(revision, value, purpose=BootPurpose.CALIBRATE, variant="", unit="us"):
    return Finding.of(
        Work.FIGURE, purpose=purpose, revision=revision, variant=variant, value=value, unit=unit,
        metric="rcu.p50_us@rcu-off",
    )  # fmt: skip


def spread(*probabilities, tested=(), newer=(), skipped=(), subject="sub\x1bject"):
    return Finding.of(
        Searches.SPREAD, commits=COMMITS, probabilities=probabilities, tested=tested, newer=newer,
        skipped=skipped, subject=subject, moved=False,
    )  # fmt: skip


def checked(check, status):
    return Finding.of(Proofs.CHECK, culprit="c4", check=check, status=status, note=None)


def lines(screen, width=80, **how):
    """Texts by their line; what goes on with a line stands with it."""
    found, line = {}, None
    for row in screen.rows(width, **how):
        line = row.line or line
        found.setdefault(line, []).append("".join(text for text, _ in row.parts))
    return found


def test_a_screen_begins_with_the_time_alone(screen):
    assert set(lines(screen)) == {Line.TIME}


def test_the_range_narrows_with_the_probability(screen):
    assert screen.hear(spread(*[1 / 8] * 8))
    wide = lines(screen, 8)
    assert screen.hear(spread(0, 0, 0.01, 0.97, 0.02, 0, 0, 0))
    narrow = lines(screen, 8)
    assert [wide[Line.RANGE][1], narrow[Line.RANGE][1]] == ["━" * 8, "───━────"]
    assert [wide[Line.PROBABILITY], narrow[Line.PROBABILITY]] == [["█" * 8], ["   █▁   "]]
    assert lines(screen, 8, ascii_only=True)[Line.PROBABILITY] == ["...81..."]
    assert lines(screen, 8, ascii_only=True)[Line.RANGE][1] == "---#----"


def test_the_last_picture_has_the_probability_of_the_answer(screen):
    screen.hear(spread(0, 0, 0.01, 0.97, 0.02, 0, 0, 0))
    told = {"outcome": "culprit", "confidence": 0.9994, "cause": None, "why": None}
    screen.hear(Finding.of(Searches.OUTCOME, culprit=COMMITS[3], **told))
    shown = {"revision": COMMITS[3], "probability": 0.9994, "subject": "sub\x1bject"}
    assert lines(screen)[Line.LIKELIEST] == [words(Finding.of(Shown.LIKELIEST, **shown))]
    # As where the rest of a change was searched, too.
    screen.hear(Finding.of(Searches.OUTCOME, culprit=COMMITS[4], **told))
    assert Line.LIKELIEST not in lines(screen)


def test_a_long_range_shares_columns_and_a_short_one_has_several(screen):
    screen.hear(spread(*[0] * 5, 0.5, 0.5, 0))
    assert lines(screen, 4)[Line.RANGE][1] == "──━━"
    assert lines(screen, 16)[Line.RANGE][1] == "─" * 10 + "━" * 4 + "─" * 2


def test_tested_revisions_are_marked_where_they_stand(screen):
    told = {"tested": (COMMITS[0], COMMITS[2], COMMITS[4], NEWER), "skipped": (COMMITS[1],)}
    screen.hear(spread(*[1 / 8] * 8, newer=(0.05, 0.5, 0.95, 1.0), **told))
    # As the voice calls the ends.
    assert lines(screen, 8)[Line.TESTED] == ["gx? b  b"]
    assert lines(screen, 24)[Line.TESTED] == ["g  x  ?     b        b  "]


def test_a_proof_that_refutes_opens_all_but_the_end_until_the_search_has_heard_it(screen):
    told = spread(*[1 / 8] * 8, tested=(COMMITS[0], COMMITS[4], NEWER), newer=(0.05, 0.95, 0.95))
    parent = Finding.of(Checks.NAMED, check=CheckName.PARENT)
    screen.hear(told)
    for status, shown in ((CheckStatus.UNDECIDED, "g   b  b"), (CheckStatus.FAIL, "?   ?  b")):
        screen.hear(checked(parent, status))
        assert lines(screen, 8)[Line.TESTED] == [shown]
    # What is refuted is no candidate of the answer.
    assert Line.LIKELIEST not in lines(screen)
    # The next commit is proved anew.
    screen.hear(told)
    after = lines(screen, 8)
    assert after[Line.TESTED] == ["g   b  b"]
    assert Line.LIKELIEST in after
    assert Line.PROOF not in after


def test_the_change_is_that_of_the_medians_of_the_ends(screen):
    for revision, value in ((OLDER, 5.0), (OLDER, 6.0), (OLDER, 40.0), (NEWER, 9.0)):
        screen.hear(figure(revision, value))
    # A build of another layout is no boot of the end.
    screen.hear(figure(NEWER, 100.0, BootPurpose.LAYOUT, "other layout"))
    change = screen.change()
    assert (change.data["before"], change.data["after"], change.data["sure"]) == (6.0, 9.0, False)
    screen.hear(Finding.of(Ends.SEARCHED_ON, metric="rcu.p50_us@rcu-off", why=None))
    assert screen.change().data["sure"]


@pytest.mark.parametrize(
    ("better", "sought", "after", "sure"),
    [
        ("lower", Sought.REGRESSION, 11.0, True),
        ("lower", Sought.REGRESSION, 9.0, False),
        ("higher", Sought.REGRESSION, 9.0, True),
        ("lower", Sought.REPAIR, 9.0, True),
    ],
)
def test_medians_that_go_the_other_way_are_no_change_that_is_sought(better, sought, after, sure):
    """As where more runs of the older end were disturbed."""
    command = CommandRequest(argv=("./bench",), better=better)
    request = replace(REQUEST, kind="run", sought=sought, extra=command.extra())
    screen = CampaignScreen(request=request)
    for revision, value in ((OLDER, 10.0), (NEWER, after)):
        screen.hear(figure(revision, value))
    screen.hear(spread(*[1 / 8] * 8))
    assert screen.change().data["sure"] is sure


def test_of_what_a_boot_has_or_has_not_the_share_counts(screen):
    for revision, value in ((OLDER, 0.0), (NEWER, 0.0), (NEWER, 1.0)):
        screen.hear(figure(revision, value, unit=""))
    change = screen.change().data
    assert (change["share"], change["before"], change["after"]) == (True, 0.0, 0.5)


def test_figures_of_a_comparison_are_those_of_the_searched_metric(screen):
    for revision, value in ((OLDER, 6.0), (NEWER, 9.0)):
        of = Finding.of(
            Work.FIGURE_IN, suite="rcu", name="p50_us", window="rcu-off", beside="none",
            value=value, unit="us",
        )  # fmt: skip
        other = Finding.of(Work.FIGURE_OF, suite="ipi", name="per_s", value=1.0, unit="1/s")
        screen.hear(Finding.of(Work.FIGURES, side="", revision=revision, figures=(other, of)))
    assert screen.change() is None
    screen.hear(Finding.of(Ends.SEARCHED_ON, metric="rcu.p50_us@rcu-off", why=None))
    assert screen.change().data["after"] == 9.0


def test_what_is_done_is_shown_until_the_answer(screen):
    screen.hear(Finding.of(Work.BUILDING, revision=NEWER, variant=""))
    assert {Line.NOW, Line.TIME} == set(lines(screen))
    booting = Finding.of(Work.BOOTING, number=3, revision=NEWER, purpose=BootPurpose.SEARCH)
    screen.hear(booting)
    screen.step(30, Left(low_s=60, middle_s=90, high_s=300))
    assert {Line.NOW, Line.WHY, Line.TIME} == set(lines(screen))
    done = Finding.of(
        Searches.OUTCOME, outcome="culprit", culprit=NEWER, confidence=0.9, cause=None, why=None
    )
    screen.hear(done)
    assert set(lines(screen)) == {Line.TIME}


def test_a_run_that_has_ended_is_not_under_way_for_long(screen, now):
    def shown():
        (row,) = (row for row in screen.rows(80) if row.line is Line.NOW)
        return row.parts[0][0], Line.WHY in lines(screen)

    begins = Finding.of(Work.BOOTING, number=3, revision=NEWER, purpose=BootPurpose.SEARCH)
    screen.hear(begins)
    screen.step(30, None)
    under_way = shown()
    # A boot of another revision may end meanwhile, on another device.
    screen.hear(figure(OLDER, 5.0))
    now[0] += 5
    assert shown() == under_way
    screen.hear(figure(NEWER, 5.0))
    assert shown() == under_way
    now[0] += 1.5
    assert shown() == (words(Finding.of(Shown.PLANS)), False)
    screen.hear(begins)
    screen.step(30, None)
    assert shown() == under_way


def test_the_time_that_is_left_goes_by(now):
    left = Left(low_s=60, middle_s=90, high_s=300)
    assert left_of(left, 80).data == {"wall_s": 10, "low_s": 0, "high_s": 220}
    assert left_of(left, 301).kind == Shown.OVERDUE
    follows = replace(left, search_may_follow=True)
    assert left_of(follows, 80) == replace(left_of(left, 80), kind=Shown.LEFT_OF_ENDS)


@pytest.mark.parametrize("kind", [Searches.KEEPS, Searches.EXPECTED, Proofs.CHECK])
def test_what_a_picture_has_no_room_for_is_said_above_it(screen, kind):
    assert not screen.hear(Finding.of(kind, **dict.fromkeys(kind.parameters)))


def test_checks_have_a_line_each_and_gates_are_counted(screen):
    names = CheckName.REVERT, CheckName.LAYOUT
    for name, status in zip(names, (CheckStatus.FAIL, CheckStatus.PASS), strict=True):
        check = Finding.of(Checks.NAMED, check=name)
        for told in (CheckStatus.UNDECIDED, status):
            screen.hear(checked(check, told))
    heard = [
        screen.hear(Finding.of(Attributions.GATE, gate="G1", status=status, why=None))
        for status in GateStatus
    ]
    assert heard == [True, False, True]
    rows = [row for row in screen.rows(80) if row.line not in (Line.TIME, Line.GATES)]
    assert [row.parts[0][1] for row in rows] == [Tone.NEWER, Tone.OLDER]


@pytest.mark.parametrize("kind", [Searches.ENDED, Work.NOT_BUILT, Ends.UNCOMMITTED])
def test_what_no_line_shows_is_said(screen, kind):
    data = dict.fromkeys(kind.parameters, "x")
    assert not screen.hear(Finding.of(kind, **data))
