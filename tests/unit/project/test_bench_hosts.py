# SPDX-License-Identifier: GPL-2.0-or-later
"""Worlds of several hosts: what hosts add is in the boots, and a search hears whose they are."""

import statistics

import pytest

from rtbisect.search.ancestry import Ancestry
from searchbench.calibration import spec_of
from searchbench.histories import history
from searchbench.hosts import HostWorld
from searchbench.simulate import rehearse
from searchbench.world import Cell

ANCESTRY = Ancestry(history("linear-16"))


def here(hosts, **more):
    cell = Cell(name="hosts", history="linear-16", effect=3.0, tail="normal")
    return HostWorld(cell, ANCESTRY, 5, (9,), False, frozenset(), hosts=hosts, **more)  # noqa: FBT003


def test_boots_land_on_all_hosts_and_each_has_its_level():
    place, seen = here(3), {}
    for _ in range(30):
        (value,) = place.values("good", 1)
        seen.setdefault(place.host, []).append(value)
    assert [len(values) for values in seen.values()] == [10, 10, 10]
    means = [statistics.mean(values) for values in seen.values()]
    assert max(means) - min(means) > 1


def test_nobody_is_told_of_hosts_whose_levels_are_known():
    place = here(3, levelled=True)
    values = [place.values("good", 1)[0] for _ in range(30)]
    assert place.host == ""
    assert abs(statistics.mean(values)) < 0.6


@pytest.mark.parametrize("hosts", [1, 3])
def test_a_search_takes_a_boot_of_each_host_at_a_time(hosts):
    place = here(hosts)
    state, finish = rehearse(spec_of(place), place, hosts=hosts)
    boots = [boot for seen in state.ledger.observations.values() for boot in seen]
    names = {f"host-{number + 1}" for number in range(hosts)} if hosts > 1 else {""}
    assert {boot.host for boot in boots} == names
    assert finish.outcome.value == "culprit"
    assert state.spec.graph.commits[state.belief.best].sha in place.truth
