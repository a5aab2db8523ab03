# SPDX-License-Identifier: GPL-2.0-or-later
"""Worlds that the model of the search does not contain do what they say."""

import json
import statistics
from dataclasses import replace
from itertools import pairwise

import pytest

from rtbisect.search.ancestry import Ancestry
from searchbench.arms import run
from searchbench.histories import history
from searchbench.scoring import Said, right
from searchbench.strange import DRAWN, Strange, log_opened, unopened, world_of

#: A build is all the noise: boots of one are alike but for what is strange.
STILL = Strange(name="still", history="linear-100", effect=100.0, build=1.0)


def strange(**what):
    cell = replace(STILL, **what)
    return world_of(cell, Ancestry(history(cell.history)), 1)


def boots(world, sha, count, layout=0):
    return [world.values(sha, 1, layout)[0] for _ in range(count)]


def bad(world):
    return world.graph.newer


def test_boots_of_a_world_without_anything_strange_are_alike():
    world = strange()
    assert len(set(boots(world, bad(world), 20))) == 1
    assert world.host == ""


def test_each_host_has_its_level_and_its_scale():
    world = strange(hosts=3, host_level=2.0, host_scale=0.3)
    by_host = [[], [], []]
    for _ in range(40):
        for sha in (world.graph.older, bad(world)):
            value = world.values(sha, 1)[0]
            by_host[int(world.host[-1])].append(round(value, 6))
    shifts = [max(values) - min(values) for values in by_host]
    assert all(len(set(values)) == 2 for values in by_host)
    assert len({round(shift, 3) for shift in shifts}) == 3


def test_boots_in_a_row_are_alike_where_they_are_correlated():
    world = strange(wander=1.0, correlation=0.9)
    seen = boots(world, world.graph.older, 400)
    assert statistics.correlation(seen[1:], seen[:-1]) > 0.6


@pytest.mark.parametrize(
    ("what", "apart"), [({"states": 0.3, "apart": 7.0}, 7.0), ({"shown": 0.5}, 100.0)]
)
def test_boots_fall_into_two_states(what, apart):
    world = strange(**what)
    seen = sorted({round(value, 6) for value in boots(world, bad(world), 40)})
    assert len(seen) == 2
    assert seen[1] - seen[0] == pytest.approx(apart)


def test_the_effect_depends_on_the_build():
    world = strange(by_build=0.5)
    seen = [world.values(bad(world), 1, layout)[0] for layout in range(30)]
    assert statistics.stdev(seen) > 20
    assert statistics.mean(seen) > 50


def test_the_host_drifts_by_each_boot():
    world = strange(slope=0.5)
    seen = boots(world, bad(world), 11)
    assert seen[-1] - seen[0] == pytest.approx(5.0)


def test_values_are_rounded():
    seen = boots(strange(build=0.0, rounded=1.25), "0" * 40, 40)
    assert 3 <= len(set(seen)) <= 8
    assert all(value / 1.25 == round(value / 1.25) for value in seen)


def test_a_layout_stays_until_the_next_jump():
    world = strange(jumps=0.05, jump_tau=1.0, none=1.0)
    levels = [world.values(commit.sha, 1)[0] for commit in world.graph.commits]
    changes = [i for i, (one, other) in enumerate(pairwise(levels), 1) if one != other]
    assert 1 <= len(changes) <= 15
    assert changes == [i for i in range(1, 100) if world.jumped[i] == i]
    # Another layout of the same code has its own offset, which neighbours share, too.
    place = next(i for i in range(1, 100) if i not in changes)
    pair = [world.values(world.graph.commits[i].sha, 1, 3)[0] for i in (place - 1, place)]
    assert pair[0] == pair[1] != levels[place]


def test_a_persistent_layout_is_no_culprit_and_may_be_left_open():
    jumps = strange(jumps=0.02, jump_tau=1.0, none=1.0)
    for outcome in ("layout_sensitive", "not_reproduced", "inconclusive"):
        assert right(jumps, Said(outcome))
    assert not right(jumps, Said("culprit", (bad(jumps),), 0.99))
    assert not right(strange(slope=0.1, none=1.0), Said("inconclusive"))


def test_a_commit_decides_what_is_drawn():
    one, other = "0" * 40, "1" * 40
    assert unopened(one) == unopened(one) != unopened(other)
    assert len({cell.name for cell in (*unopened(one), *unopened(other))}) == 2 * len(DRAWN)
    for cell, reaches in zip(unopened(one), DRAWN.values(), strict=True):
        assert all(low <= getattr(cell, name) <= high for name, (low, high) in reaches.items())


def test_that_worlds_were_opened_is_kept(tmp_path):
    log = tmp_path / "opened.jsonl"
    for first in (0, 40):
        log_opened(log, "0" * 40, unopened("0" * 40)[:2], range(first, first + 40))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["sha"], line["first"], line["trials"]) for line in lines] == [
        ("0" * 40, 0, 40), ("0" * 40, 40, 40),
    ]  # fmt: skip
    assert lines[0]["cells"] == ["hosts@00000000", "correlated@00000000"]


def test_a_search_hears_on_which_host_a_boot_was():
    cell = Strange(
        name="hosts", history="linear-16", effect=6.0, boot=0.3, hosts=3, host_level=4.0
    )  # fmt: skip
    row = run(world_of(cell, Ancestry(history(cell.history)), 1), "ours", 1)
    assert row.strict
