# SPDX-License-Identifier: GPL-2.0-or-later
"""The looks at the ends, where a campaign has several hosts."""

import random
import statistics
from dataclasses import replace
from itertools import cycle

from helpers.campaigns import line_of, sha, thresholds
from rtbisect.model.campaign import Observation, Statistic
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.calibrate import PROMISING, EndBoots, LookRule, asked_p, decide
from rtbisect.search.events import Booted, Built
from rtbisect.search.spec import SearchSpec

#: A median wait in us, in steps of 1000 us.
WAIT = next(t for t in thresholds() if (t.key.name, t.key.window) == ("p50_us", "rcu-off"))


def look_rule(looks, alpha=0.005, always=99):
    return LookRule(looks=looks, always=always, floor=0.0, alpha=alpha, seed=0, mean=False)


RULE = look_rule((6, 10))


def end(values, hosts):
    return EndBoots(tuple((value,) for value in values), tuple(hosts))


def test_labels_of_boots_change_places_within_a_host_only():
    """One boot of each end on each of six hosts: the bad one is the slower of two six times, which
    happens once in 64 times. Had each boot been free to be of either end it would be 1 in 924.
    """
    hosts = "abcdef"
    good = [100.0 * n for n, _ in enumerate(hosts)]
    bad = [value + 2.0 for value in good]
    found = decide(end(good, hosts), end(bad, hosts), look_rule((6,)))
    assert found.reproduced is False
    assert 0.8 / 64 < found.p < 1.3 / 64
    alone = decide(end([0.0] * 6, ""), end([2.0] * 6, ""), RULE)
    assert alone.reproduced


def test_equal_ends_on_unequal_hosts_are_called_different_no_more_often_than_said():
    rng, wrong, tries = random.Random(3), 0, 150
    rule = look_rule((12,), 0.1 / 0.7)
    for _ in range(tries):
        offset = {host: rng.gauss(0, 5) for host in "abc"}
        one, two = (
            end([offset[host] + rng.gauss(0, 1) for host in "abc" * 4], "abc" * 4) for _ in range(2)
        )
        wrong += bool(decide(one, two, rule).reproduced)
    assert wrong / tries <= 0.1 + 3 * (0.1 * 0.9 / tries) ** 0.5


def booted(place, value, host):
    return Booted(
        revision=sha(place),
        status=RunStatus.COMPLETE,
        observation=Observation(value=value, host=host),
        seconds=20.0,
    )


def test_what_a_look_has_said_stays_said():
    """Later boots tell more about the hosts, and change no look that is over."""
    rng = random.Random(4)
    state = engine.start(SearchSpec(graph=line_of(8), threshold=WAIT, seed=0))
    for place in (0, 8, 4):
        state = engine.apply(state, Built(sha(place), True, f"kernel {place}", 20.0))  # noqa: FBT003
    for number in range(20):
        host = "ab"[number // 2 % 2]
        place = 8 * (number % 2)
        value = 6000.0 + 3000.0 * (place == 8) + 4000.0 * (host == "b") + rng.gauss(0, 60)
        state = engine.apply(state, booted(place, value, host))
    before = state.ends
    assert before.reproduced
    for value, host in ((6000.0, "a"), (16000.0, "b"), (5000.0, "a"), (17000.0, "b")):
        state = engine.apply(state, booted(4, value, host))
    assert state.ends == before


def spec_of(looks_max, statistic=WAIT.statistic):
    return SearchSpec(
        graph=line_of(8),
        threshold=replace(WAIT, statistic=statistic),
        seed=0,
        looks_max=looks_max,
        max_boots=200,
    )


def after_looks(spec, boot_of):
    """A search after its looks at the ends; `boot_of` a trial is what it measures."""
    state = engine.start(spec)
    for end in spec.graph.ends:
        state = engine.apply(state, Built(end, ok=True, signature=end, seconds=1.0))
    while state.ends.reproduced is None:
        (trial, *_) = engine.propose(state)
        state = engine.apply(state, boot_of(trial))
    return state


def looked(spec, shift, seed, cpus=0):
    """The calibration of a search whose newer end is slower by `shift` standard deviations, or the
    first of so many CPUs of it.
    """
    rng = random.Random(seed)

    def boot_of(trial):
        more = shift * (trial.revision == spec.graph.newer)
        each = [rng.gauss(0, 1) + more * (not number) for number in range(cpus or 1)]
        values = tuple(20000.0 + 4000.0 * value for value in each)
        boot = booted(int(trial.revision, 16), statistics.median(values), "")
        seen = replace(boot.observation, per_cpu=values if cpus else ())
        return replace(boot, observation=seen)

    return after_looks(spec, boot_of).ends


def failed(spec, fails):
    """A search after its looks; boots of the newer end fail (1) or pass (0) so in turns, and those
    of the older end pass.
    """
    turns = cycle(fails)

    def boot_of(trial):
        value = next(turns) if trial.revision == spec.graph.newer else 0.0
        return booted(int(trial.revision, 16), value, "")

    return after_looks(spec, boot_of)


def test_looks_go_on_while_they_promise_a_difference():
    """Of one standard deviation, which 10 boots a side seldom show."""
    known = [looked(spec_of(40), 1.0, seed) for seed in range(20)]
    short = [looked(spec_of(0), 1.0, seed) for seed in range(20)]
    assert sum(ends.reproduced for ends in short) <= 10
    assert sum(ends.reproduced for ends in known) >= 14
    assert max(ends.used for ends in known) > 10


def test_ends_that_are_alike_take_few_boots():
    looks = [looked(spec_of(40), 0.0, seed) for seed in range(40)]
    assert not any(ends.reproduced for ends in looks)
    assert sum(ends.used for ends in looks) / len(looks) < 20
    given_up = [ends for ends in looks if ends.used < 40]
    assert all(ends.promise < PROMISING for ends in given_up)
    assert min(ends.used for ends in looks) == 10


def test_nothing_is_given_up_before_everything_was_looked_at():
    """One CPU of five, which six boots do not look at; and ends the wrong way round."""
    cpu = [looked(spec_of(40), 4.0, seed, cpus=5) for seed in range(10)]
    assert sum(bool(ends.reproduced and ends.figure.view) for ends in cpu) >= 8
    swapped = [looked(spec_of(40), -2.5, seed) for seed in range(10)]
    assert sum(ends.swapped for ends in swapped) >= 7


def test_free_hosts_take_no_boots_beyond_the_budget():
    spec = replace(spec_of(40), max_boots=13)
    state = engine.start(spec)
    for end in spec.graph.ends:
        state = engine.apply(state, Built(end, ok=True, signature=end, seconds=1.0))
    for _ in range(12):
        (trial, *_) = engine.propose(state)
        worse = trial.revision == spec.graph.newer
        number = state.ledger.boots
        value = 20000.0 + 3000.0 * worse + 2000.0 * (number % 4)
        state = engine.apply(state, booted(int(trial.revision, 16), value, ""))
    assert state.ends.reproduced is None
    assert len(engine.propose(state, free_hosts=8)) == 1


def test_the_budget_bounds_the_looks():
    """What they may take at most follows from it, also where more were taken always before."""
    spec = replace(spec_of(20), calibrate_max=40)
    assert max(looked(spec, 0.7, seed).used for seed in range(20)) == 20


def test_ends_that_the_last_look_almost_tells_apart_are_not_called_alike():
    looks = [looked(spec_of(20), 0.8, seed) for seed in range(60)]
    last = [ends for ends in looks if ends.used == 20 and not ends.reproduced]
    assert {ends.open for ends in last} == {True, False}
    assert min(e.p for e in last if not e.open) >= max(e.p for e in last if e.open)
    # Of a site that bounds its looks itself the last one decides.
    own = [looked(replace(spec_of(0), calibrate_max=20), 0.8, seed) for seed in range(20)]
    assert not any(ends.open for ends in own)


def test_what_seldom_happens_is_not_given_up_before_it_has_happened():
    """A share of boots is looked at `calibrate_max` times, whatever the first ones say."""
    spec = spec_of(40, Statistic.FRACTION)
    assert failed(spec, (0.0,)).ends.used == spec.calibrate_max


def test_looks_at_shares_have_one_p_value_together():
    """An end that fails in two of three boots, beside one that never does."""
    used = {}
    for rule in (True, False):
        spec = spec_of(40, Statistic.FRACTION)
        limit = replace(spec.threshold, min_effect=0.2)
        parts = replace(spec.parts, share_looks=rule)
        state = failed(replace(spec, threshold=limit, parts=parts), (0.0, 1.0, 1.0))
        assert state.ends.reproduced
        assert state.ends.p <= asked_p(state.spec)
        used[rule] = state.ends.used
    assert used[True] < used[False]


def test_ends_whose_shares_may_differ_by_what_counts_are_searched():
    """An end that fails in one of six boots, beside one that never does: a sixth was measured, and
    the fifth that is asked for is no surprise.
    """
    said = {}
    for rule in (True, False):
        spec = replace(spec_of(40, Statistic.FRACTION), calibrate_max=60, max_boots=400)
        limit = replace(spec.threshold, min_effect=0.2)
        parts = replace(spec.parts, share_reach=rule)
        state = failed(replace(spec, threshold=limit, parts=parts), (0.0, 0.0, 1.0, *(0.0,) * 3))
        said[rule] = state.ends.reproduced
    assert said == {True: True, False: False}


def test_who_looks_at_shares_sees_what_promises_a_difference():
    """Beyond the boots that all ends get, looks go on while the last one may tell."""
    spec = replace(spec_of(40, Statistic.FRACTION), calibrate_max=10)
    alike, may_differ = (failed(spec, fails) for fails in ((0.0,), (0.0, 0.0, 0.0, 1.0)))
    assert alike.ends.used == 10
    assert may_differ.ends.used > 10
