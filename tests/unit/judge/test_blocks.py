# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of one campaign on several hosts."""

import random
from dataclasses import replace

import pytest

from helpers.campaigns import RES
from rtbisect.judge import blocks, stats
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Level, MetricKey, Observation, Sample, Scale, Statistic
from rtbisect.model.lab import RunStatus
from rtbisect.search.events import Booted
from rtbisect.search.ledger import Ledger

LIMIT = replace(
    RES, key=MetricKey("ipi", "res_per_s", "on"), scale=Scale.LINEAR, min_effect=2.0, floor=0.0
)


def test_what_a_host_adds_is_found_beside_the_kernels():
    boots = [
        (kernel, host, at + add + wobble)
        for kernel, at in (("good", 10.0), ("bad", 20.0), ("middle", 10.0))
        for host, add in (("a", 0.0), ("b", 5.0))
        for wobble in (-0.3, 0.0, 0.3)
    ]
    found = blocks.offsets(boots)
    assert found["b"] - found["a"] == pytest.approx(5.0)
    assert sum(found[host] for _, host, _ in boots) == pytest.approx(0.0)


def test_a_search_hears_boots_without_what_their_hosts_add():
    """Also of a revision that was booted on one host only."""
    boots = [("good", "a", 1.0), ("good", "b", 6.0), ("bad", "a", 3.0), ("bad", "b", 8.0)] * 3
    boots += [("middle", "b", 6.0)]
    events = tuple(
        Booted(
            revision=sha,
            status=RunStatus.COMPLETE,
            observation=Observation(value=value, host=host),
            seconds=1.0,
        )
        for n, (sha, host, value) in enumerate(boots)
    )
    found = Ledger(LIMIT, events)
    good, bad, middle = (found.values[sha] for sha in ("good", "bad", "middle"))
    assert max(good) - min(good) == pytest.approx(0.0, abs=1e-9)
    assert middle[0] == pytest.approx(good[0])
    assert bad[0] - good[0] == pytest.approx(2.0)
    # Shares of failures have no such part.
    shares = replace(LIMIT, statistic=Statistic.FRACTION)
    seen = [0.0, 1.0]
    events = tuple(
        Booted(
            revision="good",
            status=RunStatus.COMPLETE,
            observation=Observation(value=v, host="ab"[n]),
            seconds=1.0,
        )
        for n, v in enumerate(seen)
    )
    assert Ledger(shares, events).values["good"] == (0.0, 1.0)


def test_hosts_that_share_no_kernel_cannot_be_told_from_kernels():
    assert blocks.offsets([("good", "a", 1.0), ("bad", "b", 9.0)]) == {"a": 0.0, "b": 0.0}


def test_one_host_is_as_if_there_were_none():
    one, two = (1.0, 2.0, 3.0, 2.5, 1.5), (6.0, 7.0, 8.0, 6.5, 9.0)
    named = judge(LIMIT, Sample(one, ("a",) * 5), Sample(two, ("a",) * 5))
    plain = judge(LIMIT, Sample(one), Sample(two))
    assert (named.p, named.effect, named.interval) == (plain.p, plain.effect, plain.interval)


def test_a_slow_host_is_no_regression():
    """The bad end was booted on the slow host more often: without blocks it looks worse."""
    rng = random.Random(7)

    def boots(at, hosts):
        return Sample(tuple(at + 9.0 * (h == "slow") + rng.gauss(0, 0.5) for h in hosts), hosts)

    base = boots(10.0, ("fast",) * 6 + ("slow",) * 2)
    new = boots(10.0, ("fast",) * 2 + ("slow",) * 6)
    assert judge(LIMIT, Sample(base.values), Sample(new.values)).effect > 5
    found = judge(LIMIT, base, new)
    assert found.level is not Level.REGRESSED
    assert abs(found.effect) < 1
    assert found.p > 0.05


def test_a_regression_is_seen_through_the_hosts():
    """Hosts differ by more than the kernels do."""
    rng = random.Random(8)

    def boots(at, hosts):
        return Sample(tuple(at + 30.0 * (h == "slow") + rng.gauss(0, 0.5) for h in hosts), hosts)

    hosts = ("fast", "slow") * 4
    base, new = boots(10.0, hosts), boots(14.0, hosts)
    assert judge(LIMIT, Sample(base.values), Sample(new.values)).level is not Level.REGRESSED
    found = judge(LIMIT, base, new)
    assert found.level is Level.REGRESSED
    assert found.effect == pytest.approx(4.0, abs=1.0)


def test_labels_change_places_within_a_host_only():
    assert blocks.smallest_p(("a",) * 3, ("a",) * 3) == 1 / 20
    assert blocks.smallest_p(("a", "a", "b"), ("a", "b", "b")) == 1 / 9
    # Nothing can be said of kernels that share no host.
    assert blocks.smallest_p(("a",) * 9, ("b",) * 9) == 1.0
    apart = blocks.split_p(((1.0,) * 9, (9.0,) * 9), (("a",) * 9, ("b",) * 9), ranks=True)
    assert apart == 1.0


@pytest.mark.parametrize("ranks", [True, False])
def test_the_test_is_honest_under_the_null(ranks):
    """P values of one kernel on two unequal hosts, unevenly used, are at most as small as they
    claim.
    """
    rng = random.Random(9)
    found = []
    for _ in range(200):
        hosts = tuple(rng.choice("ab") for _ in range(6)), tuple(rng.choice("ab") for _ in range(6))
        sides = [tuple(4.0 * (h == "b") + rng.gauss(0, 1) for h in side) for side in hosts]
        one, two = blocks.aligned(sides, hosts)
        found.append(blocks.split_p((one, two), hosts, ranks=ranks, seed=1))
    for level in (0.05, 0.2, 0.5):
        assert sum(p <= level for p in found) / len(found) < level + 3 * (level / 200) ** 0.5


def test_blocks_agree_with_the_exact_test_where_there_is_one_host():
    one, two = (1.0, 5.0, 3.0, 2.5, 1.5), (6.0, 2.0, 8.0, 6.5, 9.0)
    exact = stats.rank_p(one, two, alternative="greater")
    found = blocks.split_p((one, two), (("a",) * 5, ("a",) * 5), ranks=True)
    assert found == pytest.approx(exact, abs=0.01)
