# SPDX-License-Identifier: GPL-2.0-or-later
"""The story of a campaign in words: kernels by their roles, figures by their names and units."""

from dataclasses import replace

import pytest

from rtbisect.model.campaign import CampaignKind, CampaignRequest, Level, Sought
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered
from rtbisect.model.kinds.boot import Boots, Part
from rtbisect.model.kinds.judge import Told
from rtbisect.model.kinds.pipeline import Ends, Proofs, Searches, Work
from rtbisect.model.kinds.screen import Shown
from rtbisect.model.lab import RunStatus
from rtbisect.search.spec import BootPurpose
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

pytestmark = pytest.mark.words

OLDER, NEWER, PARENT, CULPRIT, REVERT = (letter * 40 for letter in "abcde")
REQUEST = CampaignRequest(
    kind=CampaignKind.BISECT, site="", tree="t", older=OLDER, newer=NEWER, suite=None, seed=1
)
SEARCHING = voice_of_request(REQUEST)
PROVEN = replace(SEARCHING, proven={CULPRIT[:12]: "culprit", PARENT[:12]: "parent"})
PANIC = Finding.of(Boots.PANIC, part=Part.BOOT, symptom="VFS")


def told(voice, kind, **data):
    return str(speak(Finding.of(kind, **data), voice))


def figure(voice, purpose, revision, **more):
    data = {"variant": "", "metric": "rcu.p50_us@rcu-off", "value": 6120.4, "unit": "us"} | more
    return told(voice, Work.FIGURE, purpose=purpose, revision=revision, **data)


@pytest.mark.parametrize(
    ("purpose", "revision", "said"),
    [
        (BootPurpose.CALIBRATE, OLDER, "calibration, good end aaaaaaaaaaaa"),
        (BootPurpose.CONTROL, NEWER, "control, bad end bbbbbbbbbbbb"),
        (BootPurpose.SEARCH, CULPRIT, "search, dddddddddddd"),
        (BootPurpose.VERIFY, CULPRIT, "proof, culprit dddddddddddd"),
        (BootPurpose.VERIFY, PARENT, "proof, parent cccccccccccc"),
        (BootPurpose.LAYOUT, CULPRIT, "other layout, dddddddddddd"),
        (BootPurpose.CAUSE, CULPRIT, "cause, culprit dddddddddddd"),
        (BootPurpose.REVERT, NEWER, "proof, bad end bbbbbbbbbbbb"),
        (BootPurpose.REVERT, REVERT, "proof, revert eeeeeeeeeeee"),
        (BootPurpose.TRY, REVERT, "eeeeeeeeeeee"),
        ("of a newer program", OLDER, "of a newer program, good end aaaaaaaaaaaa"),
    ],
)
def test_a_kernel_has_the_role_that_it_is_booted_in(purpose, revision, said):
    assert figure(PROVEN, purpose, revision) == f"{said}: synchronize_rcu() 6.12 ms"


@pytest.mark.parametrize(
    ("purpose", "said"),
    [
        (BootPurpose.VERIFY, "boot 29, proof, bad end bbbbbbbbbbbb"),
        (BootPurpose.TIP, "boot 29, bad end bbbbbbbbbbbb"),
    ],
)
def test_a_boot_begins(purpose, said):
    assert told(SEARCHING, Work.BOOTING, number=29, revision=NEWER, purpose=purpose) == said


def test_a_build_of_a_command_has_no_signature():
    data = {"revision": NEWER, "variant": "", "wall_s": 90.0}
    kernel = told(SEARCHING, Work.BUILT, signature="e" * 64, **data)
    assert kernel.startswith(told(SEARCHING, Work.BUILT, signature="", **data))
    assert kernel.endswith(", kernel signature eeeeeeeeeeee")


def test_trees_that_are_kept_are_told_with_their_size():
    data = {"size": 12_300_000, "free": 5e9, "trees": 12}
    assert told(SEARCHING, Work.TREES_KEPT, **data) == (
        "a built tree takes 12.3 MB, and 5.0 GB are free:"
        " up to 12 trees will be kept (--keep-builds)"
    )


def test_what_is_not_proved_yet_has_no_role():
    assert figure(SEARCHING, BootPurpose.VERIFY, CULPRIT).startswith("proof, dddddddddddd: ")


def test_the_ends_of_a_comparison_are_called_as_its_options():
    voice = voice_of_request(replace(REQUEST, kind=CampaignKind.CHECK))
    data = {"side": "base", "revision": OLDER, "figures": ()}
    assert told(voice, Work.FIGURES, **data) == "base aaaaaaaaaaaa: "


def test_a_boot_has_a_figure_of_boots_or_has_it_not():
    stall = {"metric": "stall.frozen_periods@stall", "unit": "1"}
    seen, unseen = (
        figure(SEARCHING, BootPurpose.SEARCH, PARENT, value=value, **stall) for value in (1.0, 0.0)
    )
    assert seen == "search, cccccccccccc: the timer stopped"
    assert unseen == "search, cccccccccccc: the timer did not stop"
    of = {"suite": "stall", "name": "rcu_stall", "value": 0.0, "unit": "1"}
    assert told(SEARCHING, Work.FIGURE_OF, **of) == "no RCU stall"
    assert told(SEARCHING, Work.FIGURE_OF, **of | {"value": 2.0}) == "RCU stalls 2"


def test_a_figure_of_a_site_has_its_own_name_and_steers_no_format():
    of = {"suite": "ours", "name": "{voice.run}", "value": 0.5, "unit": "{x"}
    assert told(SEARCHING, Work.FIGURE_OF, **of) == "ours.{voice.run} 0.500 {x"


@pytest.mark.parametrize(
    ("beside", "where"),
    [
        ("reader:pf", "with reader:pf"),
        ("{voice.run}", "with {voice.run}"),
        ("none", "with no workload"),
        ("", "in window pf-on"),
    ],
)
def test_of_a_figure_of_several_windows_each_has_its_own(beside, where):
    of = {"suite": "ipi", "name": "res_per_s", "value": 36.5, "unit": "1/s"}
    of |= {"window": "pf-on", "beside": beside}
    assert told(SEARCHING, Work.FIGURE_IN, **of) == f"rescheduling IPIs 36.5/s {where}"
    hang = of | {"suite": "stall", "name": "rcu_stall", "value": 0.0}
    assert told(SEARCHING, Work.FIGURE_IN, **hang) == f"no RCU stall {where}"


@pytest.mark.parametrize(
    ("status", "why", "said"),
    [
        (RunStatus.BOOT_FAILED, PANIC, "failed: panic or oops at boot: VFS"),
        (RunStatus.INVALID, PANIC, "is invalid: panic or oops at boot: VFS"),
        (RunStatus.HUNG, None, "hung"),
        ("gone", None, "gone"),
    ],
)
def test_how_a_boot_ended(status, why, said):
    data = {"number": "23", "revision": CULPRIT, "status": status, "why": why}
    ended = told(PROVEN, Work.BOOT_ENDED, purpose=BootPurpose.SEARCH, **data)
    assert ended == f"boot 23 of dddddddddddd (search) {said}"
    assert told(PROVEN, Work.BOOT_ENDED, purpose=BootPurpose.TIP, **data | {"revision": NEWER}) == (
        f"boot 23 of bad end bbbbbbbbbbbb {said}"
    )


def test_the_ends_are_named_where_a_search_begins():
    data = {"commits": 64, "older": OLDER, "newer": NEWER}
    repair = voice_of_request(replace(REQUEST, sought=Sought.REPAIR))
    assert told(repair, Ends.RANGE, **data) == (
        "64 candidates: the commits after the broken end aaaaaaaaaaaa, up to the fixed end"
        " bbbbbbbbbbbb"
    )
    assert told(repair, Work.BUILDING, revision=NEWER, variant="") == (
        "building fixed end bbbbbbbbbbbb"
    )


def test_what_is_not_committed_is_told():
    assert told(SEARCHING, Ends.PATHS, paths=("src", "lib")) == (
        "only commits that touch src, lib were candidates (--path)"
    )
    assert told(SEARCHING, Ends.UNCOMMITTED, files=2, first="a.c") == (
        "what is not committed is not tested: 2 changed files, as a.c"
        " (--overlay lays files over each revision)"
    )


def test_several_good_revisions_are_told():
    assert told(SEARCHING, Ends.SEVERAL, older=OLDER, others=2) == (
        "measured as the good end: aaaaaaaaaaaa; commits in the history of 2 other revisions called"
        " good are no candidates"
    )


@pytest.mark.parametrize(
    ("level", "said"),
    [(Level.REGRESSED, "regressed"), (Level.PASS, "no change that counts"), ("open", "open")],
)
def test_a_look_at_the_ends(level, said):
    assert told(SEARCHING, Ends.LOOK, boots=6, level=level) == f"6 + 6 boots of the ends: {said}"


@pytest.mark.parametrize("how", [None, PANIC])
def test_boots_that_hang_or_die(how):
    said = f" ({speak(how)})" if how else ""
    checking = voice_of_request(replace(REQUEST, kind=CampaignKind.CHECK))
    counted = {"dead": 4, "boots": 10, "base_dead": 0, "base_boots": 6}
    assert told(checking, Ends.DIES_MORE, revision=NEWER, base=OLDER, how=how, **counted) == (
        f"4 of 10 boots of tip bbbbbbbbbbbb hang or die{said}, 0 of 6 of base aaaaaaaaaaaa:"
        " no figure of the other boots makes up for that"
    )


EXPECTED = {
    "boots": 6, "p": 0.0011, "figure": None, "builds": 5.0, "expected": 7.0, "low": 5.0,
    "high": 15.0, "wall_s": 900, "low_s": 600, "high_s": 2400, "chance": 1.0, "least": 12,
    "most": 18,
}  # fmt: skip


def test_a_forecast_is_no_certainty():
    assert told(SEARCHING, Searches.EXPECTED, **EXPECTED) == (
        "6 + 6 boots of the ends show the change (p = 0.0011); the search is expected to take"
        " 5 builds, 7 boots, 15 min (four of five searches like it take 5 to 15 boots, 10 min to"
        " 40 min), and to name a commit within the budget with probability >0.999; the proof"
        " usually takes 12 to 18 boots"
    )


def test_a_forecast_of_before_there_were_ranges_is_still_read():
    now = ("low", "high", "low_s", "high_s")
    data = {name: value for name, value in EXPECTED.items() if name not in now}
    assert told(SEARCHING, Searches.FORECAST, **data).startswith("6 + 6 boots of the ends show")


def test_a_search_that_takes_longer_says_so():
    data = {name: EXPECTED[name] for name in ("expected", "low", "high", "wall_s")}
    assert told(SEARCHING, Searches.LONGER, boots=20, chance=0.5, **data) == (
        "the search takes longer than expected: after 20 boots some 7 more (5 to 15), 15 min;"
        " within the budget it names a commit with probability 0.500"
    )


@pytest.mark.parametrize(
    ("figures", "p", "more"),
    [
        (1, None, ""),
        (4, None, "; the searched figure is the worst of 4"),
        (1, 0.004, "; a check of the same ends has found the figure worse (p = 0.004)"),
    ],
)
def test_what_is_known_before_is_told_with_its_reasons(figures, p, more):
    said = told(SEARCHING, Searches.PRIOR, none=0.5, figures=figures, p=p)
    assert said == f"before any boot the probability of no regression is 0.500{more}"


def test_the_end_of_the_time_says_how_long_it_was():
    assert told(SEARCHING, Searches.TIME_OVER, time_s=1800.0, boots=22) == (
        "the time of 30 min is over after 22 boots; the answer is what they tell"
    )


def test_where_a_search_stands_is_told_with_its_likeliest_commit():
    data = {"candidates": 40, "likeliest": CULPRIT, "probability": 0.62}
    several = told(SEARCHING, Searches.STANDS, holding=5, **data)
    assert several == (
        "5 of 40 commits hold 95% of the probability, if a commit did it; likeliest: dddddddddddd,"
        " 0.620"
    )
    assert told(SEARCHING, Searches.STANDS, holding=1, **data).startswith("1 of 40 commits holds")
    assert told(SEARCHING, Searches.PAUSED, campaign="bisect-3", boots=1) == (
        "bisect-3 is paused after 1 boot"
    )


def test_that_the_machine_may_be_shared_is_told_with_its_boots():
    """A benchmark with two levels of its own, else without noise, looks alike."""
    assert told(SEARCHING, Searches.DISTURBED, disturbed=9, boots=90) == (
        "9 of 90 boots lie far beyond all others of both ends, probably because something else"
        " used the machine: they are left out"
    )


@pytest.mark.parametrize(
    ("unknown", "more"),
    [(0, ""), (4, "; 4 whose level is unclear are left out")],
)
def test_that_boots_have_two_levels_is_told_with_their_numbers(unknown, more):
    effect = Finding.of(Told.RATIO, ratio=1.85)
    said = told(SEARCHING, Searches.SPEEDS, effect=effect, other=40, unknown=unknown, boots=134)
    assert said == (
        "boots have two levels, whatever the revision (ratio 1.85): 40 of 134 are at another level"
        f" than the first ones, and are corrected for it{more}"
    )


def test_a_budget_that_has_grown_is_told_with_the_option_that_sets_it():
    assert told(SEARCHING, Searches.GROWN, before=300, most=420) == (
        "the budget grows from 300 to 420 boots, which this search likely needs; --max-boots"
        " (max_boots of a site) gives another one"
    )


def test_that_the_machine_drifted_is_told_with_how_far():
    effect = Finding.of(Told.RATIO, ratio=1.04)
    assert told(SEARCHING, Searches.DRIFT, effect=effect, boots=134) == (
        "the machine drifted during these 134 boots (ratio 1.04 where it was furthest from its"
        " first level), whatever they measured; they count as if it had not"
    )


def test_the_outcome_says_how_sure_it_is_or_why_there_is_no_commit():
    nothing = {"culprit": None, "confidence": 0.0, "cause": None}
    spent = Finding.of(Proofs.BUDGET_ENDED, boots=48)
    assert told(SEARCHING, Searches.OUTCOME, outcome="inconclusive", why=spent, **nothing) == (
        "outcome: inconclusive: the budget of 48 boots ended during the proof"
    )
    commit = {"culprit": CULPRIT, "confidence": 0.996, "cause": None}
    sure = "outcome: culprit dddddddddddd, confidence 0.996"
    assert told(SEARCHING, Searches.OUTCOME, outcome="culprit", why=None, **commit) == sure
    # As older programs have kept it.
    old = Finding(Searches.OUTCOME.value, {"outcome": "culprit", **commit})
    assert str(speak(old, SEARCHING)) == sure


def test_runs_that_a_person_wants_are_told():
    assert told(SEARCHING, Searches.ASKED, revision="e" * 40, boots=1) == (
        "1 more boot of eeeeeeeeeeee, as asked"
    )


def test_what_is_kept_for_the_proof_is_told_before_it_is_missed():
    assert told(SEARCHING, Searches.KEEPS, most=300, kept=18, leading=120) == (
        "18 of the 300 boots are kept for the proof, and up to 120 once a commit leads"
    )
    said = told(SEARCHING, Searches.FEW_LEFT, left=1, kept=18)
    assert said.startswith("the search may take 1 boot more: 18 of the budget are kept")


def test_a_run_of_a_test_passes_or_fails():
    command = CommandRequest(argv=("./t",), pass_fail=True)
    voice = voice_of_request(replace(REQUEST, kind=CampaignKind.RUN, extra=command.extra()))
    data = {"metric": "command.value@run", "unit": ""}
    passed = figure(voice, BootPurpose.SEARCH, CULPRIT, value=0.0, **data)
    failed = figure(voice, BootPurpose.SEARCH, CULPRIT, value=1.0, **data)
    assert (passed, failed) == ("search, dddddddddddd: passed", "search, dddddddddddd: failed")
    share = {"before": 0.05, "after": 0.35, "share": True, "sure": True}
    change = told(voice, Shown.CHANGE, **data, **share)
    assert change == "regressed: failures, 5% of runs -> 35%"
    proved = told(voice, Told.DIFFERENCE, difference=0.286, unit="")
    assert proved == "difference +29 percentage points"
    ends = {"shown": 2, "tested": 2, "low": 0.0, "high": 0.5, "unit": ""}
    chart = told(voice, Answered.CHART, **ends, skipped=False, open=False, named=False)
    assert chart.startswith("2 tested revisions, oldest first, height from 0% to 50%;")


def test_each_commit_is_as_high_as_its_probability_however_many_share_a_column():
    spread = {"commits": (), "tested": (), "newer": (), "skipped": (), "subject": "", "moved": True}
    even = told(SEARCHING, Searches.SPREAD, probabilities=(0.01,) * 79, **spread)
    assert even.endswith(": " + "8" * 64)


def test_where_all_runs_of_both_ends_fail_it_may_be_for_another_reason():
    why = "the command may fail for a reason of its own, as what it printed tells"
    where = "(run/run-6/ of the state directory)"
    first = told(SEARCHING, Ends.ALL_FAIL, boots=6, campaign="run-6")
    assert first == f"all 6 + 6 boots of the ends fail: {why} {where}. If it does, press Ctrl-C"
    last = told(SEARCHING, Ends.ALL_FAILED, boots=75, campaign="run-6")
    assert last == f"all 75 + 75 boots of the ends fail: {why} {where}"
    older = str(speak(Finding(Ends.ALL_FAIL.value, {"boots": 6}), SEARCHING))
    assert older == f"all 6 + 6 boots of the ends fail: {why}. If it does, press Ctrl-C"


def test_first_runs_that_differ_are_told_with_what_to_do():
    said = told(SEARCHING, Ends.FRESH_DIFFER, fresh=9000.0, behind=7000.0, unit="us")
    assert ": 9 ms, then 7 ms. " in said
    assert "./bench >/dev/null; ./bench" in said


def test_one_commit_holds_what_two_hold():
    one, two = (told(SEARCHING, Shown.RANGE, holding=n, candidates=40) for n in (1, 2))
    assert one == "1 of 40 commits holds 95% of the probability, if a commit did it"
    assert two == "2 of 40 commits hold 95% of the probability, if a commit did it"
