# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots that measure only what is searched: their windows, and which boots stand for them."""

from collections import defaultdict
from dataclasses import replace

import pytest

from helpers.campaigns import Quiet, World, boots, line_of, sha, with_kernel
from helpers.findings import first
from rtbisect.lab.fake import FakeLab
from rtbisect.lab.windows import LEVELS, WINDOWS
from rtbisect.model.campaign import CampaignRequest, Limits, Outcome
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.model.lab import Run, RunStatus
from rtbisect.pipeline import bisect
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.boot_windows import seconds_of
from rtbisect.pipeline.steps import Steps
from rtbisect.search.spec import BootPurpose

ALL = {window.name for window in WINDOWS}
PF, NOISE, RCU = {"pf-on", "pf-off"}, {"osnoise-off"}, {"rcu-off"}
CULPRIT = 4
#: A boot without a window, in seconds: a guest, and a server with its firmware.
GUEST_S, SERVER_S = 5.0, 400.0


def searched(folder, lab, *, suite=None, short=True, progress=None):
    """A campaign with such a lab: its world, story and result."""
    graph = line_of(8)
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite=suite
    )
    world = World(folder, graph, lab, request=request, limits=Limits(short_boots=short))
    setup, parts = with_kernel(*world.open(), explaining=LEVELS)
    parts = replace(parts, progress=progress or parts.progress)
    result, _ = bisect.bisect(setup, parts)
    return world, parts.journal.story(), result


def lab_of(kind="ipi", *, seconds=GUEST_S, window_s=2.0, draw=None):
    return FakeLab(draw or boots(CULPRIT, kind=kind), seconds=seconds, window_s=window_s)


def names(request):
    return [window.name for window in request.windows]


def measuring(request):
    return [window.name for window in request.windows if not window.explains]


def split(world):
    """The requests of the boots that measure in all windows, and those after them."""
    whole = [each for each in world.lab.requests if set(measuring(each)) == ALL]
    return whole, world.lab.requests[len(whole) :]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    return searched(tmp_path_factory.mktemp("short"), lab_of())


def test_boots_of_the_search_measure_what_the_figure_needs(campaign):
    world, story, result = campaign
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(CULPRIT))
    whole, later = split(world)
    assert whole == world.lab.requests[: len(whole)]
    assert later
    assert all(set(measuring(request)) == PF for request in later)
    told = first(story, Searches.SHORT_BOOTS)
    assert set(told["windows"]) == PF
    assert told["left_out"] == len(ALL) - len(PF)


def test_a_proof_shows_the_other_windows_behind_those_that_measure(campaign):
    world, _, result = campaign
    _, later = split(world)
    explained = [request for request in later if len(names(request)) > len(PF)]
    assert {request.revision for request in explained} == {sha(CULPRIT), sha(CULPRIT - 1)}
    for request in explained:
        shown = names(request)
        assert set(shown[:2]) == PF
        assert set(shown[2:]) == (ALL - PF) | {"pf-quarter", "pf-bpf"}
        assert shown[-1] in {"pf-quarter", "pf-bpf"}
    # The report still has figures of other suites.
    assert {row.window for row in result.table} >= {"rcu-off", "osnoise-off"}


def test_each_boot_of_the_comparison_begins_with_the_windows_of_one_figure(campaign):
    world, _, _ = campaign
    whole, _ = split(world)
    begins = []
    for request in whole:
        (group,) = (each for each in (PF, NOISE, RCU) if set(names(request)[: len(each)]) == each)
        begins.append(group)
    # Both ends in turn, so that both begin alike.
    assert begins[0::2] == begins[1::2]
    assert {frozenset(each) for each in begins[:6]} == {
        frozenset(each) for each in (PF, NOISE, RCU)
    }
    # Then with the figure that will likely be searched.
    assert len(begins) > 6
    assert all(each == PF for each in begins[6:])
    assert {request.revision for request in whole[0:2]} == {sha(0), sha(8)}


def test_the_search_calibrates_with_boots_that_began_as_its_own_do(tmp_path):
    """A figure that depends on what ran before it: the boots of the search are a third of those of
    the comparison that began with other windows. Told as one level, both ends would scatter.
    """

    def draw(request, random):
        behind = set(names(request)[: len(PF)]) != PF
        return [
            replace(m, value=m.value * (3.0 if behind and m.window in PF else 1.0))
            for m in boots(CULPRIT)(request, random)
        ]

    world, _, result = searched(tmp_path, lab_of(draw=draw))
    assert result.culprit == sha(CULPRIT)
    whole, later = split(world)
    alike = sum(set(names(request)[: len(PF)]) == PF for request in whole)
    ends = [request.revision for request in later].count(sha(0))
    assert 0 < alike < len(whole)
    assert ends >= Limits().calibrate_min - alike / 2
    (judged,) = (each for each in (result.judgement,) if each)
    assert max(judged.base.values) < 0.1


class Shown(Quiet):
    """What the progress has of each boot: its number, the total, and what is left."""

    def __init__(self):
        self.boots = defaultdict(list)

    def step(self, what, done, total, left):
        self.boots[what.data["purpose"]].append((done, total, left))


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    seen = Shown()
    searched(tmp_path_factory.mktemp("shown"), lab_of(), progress=seen)
    return seen.boots


def test_boots_to_come_take_what_short_ones_take(shown):
    done, total, left = shown[BootPurpose.VERIFY][-1]
    assert left.middle_s / (total - done + 1) == pytest.approx(GUEST_S + 2.0 * len(PF))


def test_the_time_of_a_comparison_is_not_that_of_the_search_behind_it(shown):
    compared = {BootPurpose.BASE, BootPurpose.TIP}
    assert compared < shown.keys()
    for purpose, taken in shown.items():
        assert {left.search_may_follow for *_, left in taken} == {purpose in compared}


def test_what_the_comparison_has_booted_counts_in_the_first_total_of_the_search(shown):
    totals = {total for _, total, _ in shown[BootPurpose.CALIBRATE]}
    # A guess that knew of no boot would be far from it.
    assert totals == {shown[BootPurpose.SEARCH][0][1]}


def test_a_boot_takes_the_windows_that_it_has():
    windows = (("a", "b", "c"), (1.0, 2.0, 4.0))
    run = Run(
        run_id="r", revision="r", status=RunStatus.COMPLETE, window_order=windows[0],
        window_s=windows[1], seconds=10.0,
    )  # fmt: skip
    assert seconds_of(run, ("a",)) == 4.0
    # All of it: in all windows; where nothing timed them; where two clocks disagree.
    assert seconds_of(run, ()) == 10.0
    assert seconds_of(replace(run, window_s=()), ("a",)) == 10.0
    assert seconds_of(replace(run, seconds=5.0), ("a",)) == 5.0


@pytest.mark.parametrize(("rule", "windows"), [(True, 2), (False, len(ALL))])
def test_campaigns_that_began_before_take_boots_as_they_were(tmp_path, rule, windows):
    world = World(tmp_path, line_of(2), lab_of(), limits=Limits(short_costs=rule))
    setup, parts = with_kernel(*world.open(), explaining=LEVELS)
    steps = Steps.of(setup, parts, None)
    steps.boot(BootRequest(sha=sha(0), purpose=BootPurpose.SEARCH))
    assert steps.budget.boot_cost_s() == GUEST_S + 2.0 * len(ALL)
    steps.measure_only(tuple(steps.runs[0].window_order[:2]))
    assert steps.budget.boot_cost_s() == GUEST_S + 2.0 * windows


def test_a_suite_that_is_asked_for_is_all_that_boots_measure(tmp_path):
    world, _, result = searched(tmp_path, lab_of("rcu"), suite="rcu")
    assert result.culprit == sha(CULPRIT)
    assert all(set(measuring(request)) == RCU for request in world.lab.requests)


@pytest.mark.parametrize(
    ("seconds", "window_s"),
    [(SERVER_S, 2.0), (GUEST_S, 0.0)],
    ids=["boots-cost-more-than-windows", "nobody-knows-how-long-windows-last"],
)
def test_all_windows_stay_where_it_spares_nothing(tmp_path, seconds, window_s):
    lab = lab_of(seconds=seconds, window_s=window_s)
    world, story, result = searched(tmp_path, lab)
    assert result.culprit == sha(CULPRIT)
    assert not first(story, Searches.SHORT_BOOTS)
    assert all(set(measuring(request)) == ALL for request in world.lab.requests)


def test_a_campaign_that_began_before_measures_all_in_a_drawn_order(tmp_path):
    world, story, result = searched(tmp_path, lab_of(), short=False)
    assert result.culprit == sha(CULPRIT)
    assert not first(story, Searches.SHORT_BOOTS)
    assert all(set(measuring(request)) == ALL for request in world.lab.requests)
    assert len({names(request)[0] for request in world.lab.requests[:12]}) > len((PF, NOISE, RCU))


def test_boots_that_differ_in_their_windows_have_one_ramdisk(campaign):
    world, _, _ = campaign
    assert {request.aboard for request in world.lab.requests} == {("ipi", "osnoise", "rcu")}
