# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns whose boots each have a kernel that was linked anew for them."""

from dataclasses import replace

import pytest

from helpers.campaigns import line_of, sha, with_kernel, world
from rtbisect.evidence import bundle
from rtbisect.evidence.replay import Answers
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.model.campaign import CampaignRequest, Limits, Outcome
from rtbisect.model.code import RELINKED, WITHOUT_RT, seed_of, variant_beside
from rtbisect.model.facts import LAYOUT_SEED, LINK_S, LINKER
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.lab import RunStatus
from rtbisect.model.ports import NoNote
from rtbisect.model.subject import RunOrder
from rtbisect.pipeline import bisect

LIMITS = Limits(layout_below=0.0)
FAILED = Finding.of(Boots.FAKE, status=RunStatus.BOOT_FAILED)


def open_relinked(place):
    setup, parts = place.open()
    build = replace(setup.kernel.build, variant=RELINKED)
    return with_kernel(setup, parts, build=build)


def boot_once(place, script=(), layout=0):
    """A built revision, and its first boot."""
    place.lab._script = {sha(3): list(script)}
    _setup, parts = open_relinked(place)
    build = parts.subject.build(sha(3), layout, NoNote())
    order = RunOrder(run_id="c-r1", number=1, layout=layout)
    return build, parts.subject.run(build, order, NoNote())


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    place = world(tmp_path_factory.mktemp("relinked"), 4, limits=LIMITS)
    result, _report = bisect.bisect(*open_relinked(place))
    place.store.finish(place.campaign, result, None)
    return place, result


class TestACampaign:
    def test_finds_its_commit(self, ended):
        _place, result = ended
        assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(4))

    def test_builds_each_revision_once_and_no_other_layouts(self, ended):
        place, _result = ended
        asked = [(each.revision, each.variant) for each in place.builder.requests]
        assert len(asked) == len(set(asked))
        assert {variant for _, variant in asked} == {RELINKED}

    def test_links_before_each_boot_with_a_seed_of_its_own(self, ended):
        place, _result = ended
        kernels = [each.kernel for each in place.lab.requests]
        assert len(place.builder.linked) == len(kernels) == len(set(kernels))
        assert [seed for _, seed in place.builder.linked] == [
            seed_of(each.run_id) for each in place.lab.requests
        ]
        assert len({each.build_id for each in place.lab.requests}) == len(kernels)

    def test_keeps_the_seed_with_the_boot(self, ended):
        place, _result = ended
        report, _story = place.mailer.drafts[-1]
        facts = dict(report.facts)
        assert int(facts[LAYOUT_SEED]) in {seed for _, seed in place.builder.linked}
        assert (facts[LINKER], facts[LINK_S]) == ("LLD", "2.000")

    def test_leaves_others_the_kernels_of_its_answer(self, ended):
        place, result = ended
        setup, _parts = open_relinked(place)
        held = bundle.CampaignEvidence(setup, (), Answers(), result)
        record = place.store.get(place.campaign)
        builds = bundle._builds_of_answer(place.store, record, held)
        assert {build.revision for build in builds} == {sha(3), sha(4)}


def test_a_boot_costs_its_link_too(tmp_path):
    _build, run = boot_once(world(tmp_path, None))
    assert run.seconds == pytest.approx(22.0)


def test_the_kernel_without_rt_is_linked_anew_as_well(tmp_path):
    build, run = boot_once(world(tmp_path, None), layout=WITHOUT_RT)
    assert build.variant == variant_beside(RELINKED, WITHOUT_RT)
    assert run.complete


def test_a_kernel_that_boots_only_as_it_was_built_is_no_verdict(tmp_path):
    place = world(tmp_path, None)
    script = [RunStatus.BOOT_FAILED, RunStatus.COMPLETE, RunStatus.BOOT_FAILED]
    build, run = boot_once(place, script)
    assert run.status is RunStatus.INVALID
    assert run.reason == Finding.of(Boots.ONLY_MOVED, seed=seed_of("c-r1"), why=FAILED)
    moved, as_built, again = place.lab.requests
    assert as_built.kernel == build.kernel != moved.kernel == again.kernel
    assert run.seconds == pytest.approx(62.0)


@pytest.mark.parametrize(
    "controls",
    [[RunStatus.INVALID], [RunStatus.HUNG], [RunStatus.COMPLETE] * 2],
    ids=["not measured", "hung", "boots the second time"],
)
def test_a_kernel_that_fails_once_is_no_verdict_and_no_word_on_the_order(tmp_path, controls):
    place = world(tmp_path, None)
    _build, run = boot_once(place, [RunStatus.BOOT_FAILED, *controls])
    assert run.status is RunStatus.INVALID
    assert run.reason == Finding.of(Boots.MAYBE_MOVED, seed=seed_of("c-r1"), why=FAILED)
    assert len(place.lab.requests) == 1 + len(controls)


def test_a_kernel_that_never_boots_is_one(tmp_path):
    place = world(tmp_path, None)
    _build, run = boot_once(place, [RunStatus.BOOT_FAILED] * 2)
    assert run.status is RunStatus.BOOT_FAILED
    assert run.run_id == "c-r1"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("no room", Finding.of(Boots.NOT_LINKED, seed=seed_of("c-r1"), error="no room")),
        ("", Finding.of(Boots.OTHER_AGAIN)),
    ],
)
def test_a_kernel_that_does_not_link_is_no_verdict(tmp_path, error, reason):
    place = world(tmp_path, None, builder=FakeBuilder(unlinkable={sha(3): error}))
    _build, run = boot_once(place)
    assert run.status is RunStatus.INVALID
    assert run.reason == reason
    assert place.lab.requests == []


def test_ends_that_are_alike_cost_no_boots_beyond_the_looks(tmp_path):
    """Each boot of a kernel has a layout of its own: none can be repeated."""
    graph = line_of(8)
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite="rcu"
    )
    place = world(tmp_path, None, limits=LIMITS, request=request)
    setup, parts = open_relinked(place)
    result, _report = bisect.bisect(setup, parts)
    assert result.outcome is Outcome.NOT_REPRODUCED
    assert {request.revision for request in place.lab.requests} == {sha(0), sha(8)}
    assert len(place.lab.requests) <= 2 * setup.limits.calibrate_max
