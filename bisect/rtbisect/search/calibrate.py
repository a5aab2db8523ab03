# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibration: do the two ends differ at all? Interleaved boots, a fixed schedule of looks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import scipy

from rtbisect.errors import ConfigError
from rtbisect.judge import blocks, shares, stats
from rtbisect.judge.scale import by_mean, effect_floor
from rtbisect.search.disturbed import of_boots
from rtbisect.search.likelihood.features import WHOLE, Aspect, Views, common

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.search.ledger import Ledger
    from rtbisect.search.spec import SearchSpec

#: Boots at a look over boots at the look before.
GROWTH = 1.6
#: With more looks six boots a side could say nothing: their p is 0.0011 at least.
MOST_LOOKS = 6
#: Shares of the alpha of a look: for a shift of the whole, for a shift of one CPU (divided among
#: them), for a wider spread. The latter two need some boots before they can say anything.
SHIFT, ONE_CPU, SPREAD = 0.7, 0.15, 0.15
WIDER_FROM = 10
#: Ends that may still be alike are booted again while the last look has this chance to tell them
#: apart, by the boots so far; before WIDER_FROM nobody knows of all that may differ. With 40 boots
#: at most, ends that are alike take 15 to 16 boots a side in the mean, and of those that differ by
#: one standard deviation 1 (heavy tails) to 3 in 100 (none) are given up by it.
PROMISING = 0.1
#: Share of the alpha of all looks that the last look at shares of failures has by its limit.
LAST_OF_SHARES = 0.4
#: Ends that twice as many boots have this chance to tell apart are not called alike by a last look
#: that the budget made the last one.
OPEN = 0.5
#: The spread counts by this quantile: it has to be worse by the smallest effect too.
HIGH = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How far the calibration is: what the last look at the ends has said, whatever comes later."""

    #: Whether the ends differ; None while more boots are due.
    reproduced: bool | None
    #: P value of that look, one-sided; of shares of failures that of all looks together.
    p: float
    #: By how much `figure` is worse at the newer end, in badness (judge/scale.py).
    shift: float
    #: The ends differ the other way round.
    swapped: bool = False
    #: The part of a boot's figure in which the ends differ.
    figure: Aspect = WHOLE
    #: All boots of both ends gave the same figure to the last digit.
    still: bool = False
    #: The chance that the last look shows a difference, by this one; of the last look itself, that
    #: twice its boots do.
    promise: float = 0.0
    #: The looks are over, and the ends may well differ.
    open: bool = False
    #: Values of both ends at this look, the older one first, without what hosts add.
    values: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())

    @property
    def used(self) -> int:
        """Boots a side at that look; 0 before the first one."""
        return len(self.values[0])


def check_spec(spec: SearchSpec) -> None:
    """ConfigError for a calibration that could never say yes, or a budget below it."""
    first, last = spec.calibrate_min, spec.calibrate_max
    if not 2 <= first <= last:
        raise ConfigError(f"calibration with {first} to {last} boots a side is impossible")
    last = _schedule(spec)[-1]
    if stats.smallest_p(last, last) > asked_p(spec):
        raise ConfigError(
            f"{last}+{last} boots of the ends cannot reach p <= {asked_p(spec):g}",
            "calibrate with more boots or raise alpha",
        )
    if spec.max_boots < 2 * first:
        raise ConfigError(
            f"{spec.max_boots} boots do not cover the calibration", f"allow at least {2 * first}"
        )
    if not 0.5 < spec.confidence < 1:
        raise ConfigError(f"confidence {spec.confidence} is not between 0.5 and 1")
    if not 0 < spec.prior_none < 1:
        raise ConfigError(f"prior_none {spec.prior_none} is not between 0 and 1")
    if not spec.graph.commits or spec.graph.commits[-1].sha != spec.graph.newer:
        raise ConfigError("there is no commit between good and bad", "give two different revisions")
    effect_floor(spec.threshold)


def looks(first: int, last: int, most: int = 0, growth: float = GROWTH) -> tuple[int, ...]:
    """Boots a side at every look, of which there are at most so many; each look gets an even share
    of alpha (Bonferroni: the looks share data, so that the true rate of false alarms stays below).
    """
    growth = max(growth, (last / first) ** (1 / (most - 1))) if most else growth
    schedule = [first]
    while schedule[-1] < last:
        schedule.append(min(last, math.ceil(growth * schedule[-1])))
    return tuple(schedule)


def asked_p(spec: SearchSpec) -> float:
    """The p of a shift of the whole at which a look says that the ends differ."""
    return _look_rule(spec).asked_p


def _look_rule(spec: SearchSpec) -> LookRule:
    schedule, mean = _schedule(spec), by_mean(spec.threshold)
    # What happens in one boot of four promises nothing before it has happened.
    patient = mean or not spec.looks_max
    return LookRule(
        looks=schedule,
        always=spec.calibrate_max if patient else WIDER_FROM,
        floor=effect_floor(spec.threshold),
        alpha=spec.alpha / len(schedule),
        seed=spec.seed,
        mean=mean,
        shares=spec.of_shares,
        reach=spec.of_shares and spec.parts.share_reach,
        bounded=bool(spec.looks_max),
        disturbed=spec.threshold if spec.parts.disturbed else None,
        rounded=spec.parts.rounded,
    )


def _schedule(spec: SearchSpec) -> tuple[int, ...]:
    last = max(spec.calibrate_min, spec.looks_max) if spec.looks_max else spec.calibrate_max
    if spec.of_shares:
        return looks(spec.calibrate_min, last, growth=shares.GROWTH)
    return looks(spec.calibrate_min, last, MOST_LOOKS if spec.looks_max else 0)


def calibration_of(spec: SearchSpec, ledger: Ledger) -> Calibration:
    """The decision of the looks that are due. Each look uses the first boots of each side, and
    what it takes for the part of hosts comes from these alone, so later boots never change what
    it said.
    """
    ends, rule = spec.graph.ends, _look_rule(spec)
    good, bad = (EndBoots(*ledger.as_measured(end, rule.looks[-1])) for end in ends)
    return decide(good, bad, rule)


@dataclass(frozen=True, slots=True)
class EndBoots:
    """The boots of one end in the order of their time."""

    #: The views of each boot as measured, with what hosts add.
    views: tuple[Views, ...]
    #: Name of the host of each boot; empty: all on one host.
    hosts: tuple[str, ...] = ()

    def first(self, boots: int) -> EndBoots:
        return EndBoots(self.views[:boots], self.hosts[:boots])

    def below(self, most: float) -> EndBoots:
        """The boots that are no worse."""
        if most == math.inf:
            return self
        kept = [i for i, boot in enumerate(self.views) if boot[0] <= most]
        hosts = tuple(self.hosts[i] for i in kept) if self.hosts else ()
        return EndBoots(tuple(self.views[i] for i in kept), hosts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRule:
    """How a look at the ends decides."""

    #: Boots a side at each look, ascending.
    looks: tuple[int, ...]
    #: Looks at more boots than so many follow only where they are promising.
    always: int
    #: The smallest shift of badness that counts.
    floor: float
    #: Alpha of one look.
    alpha: float
    #: Seed of the sampled permutations.
    seed: int
    #: Means are compared (shares, counts), not medians.
    mean: bool
    #: After the last look it is the budget that allows no further one.
    bounded: bool = False
    #: Runs pass or fail, and p is that of all looks.
    shares: bool = False
    #: Shares differ by the smallest shift that counts where their interval reaches it.
    reach: bool = False
    #: How far from the others a boot was disturbed; the threshold of the figure, or None: never.
    disturbed: Threshold | None = None
    #: Values may be rounded.
    rounded: bool = True

    @property
    def asked_p(self) -> float:
        """The p of a shift of the whole at which a look says that the ends differ."""
        return self.alpha * len(self.looks) if self.shares else SHIFT * self.alpha


def decide(good: EndBoots, bad: EndBoots, rule: LookRule) -> Calibration:
    """What the looks say about the boots of both ends."""
    calibration, may_differ = Calibration(reproduced=None, p=1.0, shift=0.0), False
    for boots in rule.looks:
        if min(len(good.views), len(bad.views)) < boots:
            return replace(calibration, reproduced=None)
        one, two = good.first(boots), bad.first(boots)
        calibration = _judge_look(one, two, rule)
        if calibration.reproduced:
            return calibration
        # Every boot of both ends gave the same to the last digit: such a figure is not measured,
        # and more boots do not change that. Shares and counts may well be 0 for long.
        if not rule.mean and boots >= WIDER_FROM and len({*one.views, *two.views}) == 1:
            return replace(calibration, still=True)
        # To give up early never makes equal ends differ: alpha holds whatever ends the looks.
        if boots >= rule.always and calibration.promise < PROMISING:
            break
    may_differ = rule.bounded and boots == rule.looks[-1] and calibration.promise >= OPEN
    reverse = _Look.of(bad, good, rule)
    swapped = reverse.p() <= rule.asked_p and reverse.counts(-calibration.shift)
    return replace(calibration, swapped=swapped, open=may_differ)


@lru_cache(maxsize=64)
def _judge_look(good: EndBoots, bad: EndBoots, rule: LookRule) -> Calibration:
    """One look: reproduced or not."""
    look = _Look.of(good, bad, rule)
    values = tuple(look.good), tuple(look.bad)
    most = math.inf
    if rule.disturbed is not None:
        ends = (good.views, good.hosts), (bad.views, bad.hosts)
        most = of_boots(rule.disturbed, *ends, rounded=rule.rounded)
    calm = _Look.of(good.below(most), bad.below(most), rule)
    shift, p = calm.shift(), calm.p()
    differ = Calibration(reproduced=True, p=p, shift=shift, values=values)
    if p <= rule.asked_p:
        if shift > 0 and calm.counts(shift):
            return differ
        # Figures that are mostly 0, and sometimes not, differ although their medians do not.
        mean_shift = stats.mean(calm.bad) - stats.mean(calm.good)
        if shift == 0 and mean_shift >= rule.floor and mean_shift > 0 and not rule.mean:
            return replace(differ, shift=mean_shift, figure=Aspect(mean=True))
    # What both ends have more or less of, in a state that is far off, may differ in that.
    promise = max(_promise(*look.seen(each), look) for each in {p, look.p()})
    for other in _other_figures(good, bad, look):
        if other.p <= other.share / other.number * rule.alpha and other.size >= rule.floor:
            return replace(differ, p=other.p, shift=other.size, figure=other.figure)
        promise = max(promise, _promise(min(1.0, other.number * other.p), other.share, look))
    return replace(differ, reproduced=False, promise=promise)


def _promise(p: float, share: float, look: _Look) -> float:
    """The chance that a figure with this p passes the last look with its share of alpha, where
    nothing else is known of it (predictive power; Spiegelhalter, Freedman and Blackburn, 1986).
    """
    times = look.rule.looks[-1] / len(look.good)
    if times <= 1:
        times = 2.0
    asked = scipy.stats.norm.isf(share * look.rule.alpha)
    seen = scipy.stats.norm.isf(min(p, 1 - 1e-9))
    return float(scipy.stats.norm.sf((asked - seen * math.sqrt(times)) / math.sqrt(times - 1)))


@dataclass(frozen=True, slots=True)
class _Look:
    """One figure of the boots of both ends, one value a boot, and the hosts of these boots."""

    good: Sequence[float]
    bad: Sequence[float]
    hosts: tuple[tuple[str, ...], tuple[str, ...]]
    rule: LookRule

    @classmethod
    def of(cls, good: EndBoots, bad: EndBoots, rule: LookRule, view: int = 0) -> _Look:
        """One view of these boots, without what hosts add to the whole: CPUs are compared within a
        boot already, and shares and counts have no such part.
        """
        values = [[boot[view] for boot in end.views] for end in (good, bad)]
        hosts = good.hosts, bad.hosts
        if not (view or rule.mean or blocks.one_block(*hosts)):
            values = [list(end) for end in blocks.aligned(values, hosts)]
        return cls(values[0], values[1], hosts, rule)

    def shift(self) -> float:
        middle = stats.mean if self.rule.mean else stats.median
        return middle(self.bad) - middle(self.good)

    def counts(self, shift: float) -> bool:
        """Whether `shift` is the smallest one that counts, or may be."""
        if self.rule.reach:
            _, largest = stats.bootstrap_shift(self.good, self.bad, mean=True)
            shift = max(shift, largest)
        return shift >= self.rule.floor

    def p(self) -> float:
        """One-sided, by ranks; of shares of failures that of all looks."""
        values, rule = (self.good, self.bad), self.rule
        if rule.shares:
            return shares.p_of_looks(values, self.hosts, rule.looks, rule.seed)
        return blocks.exchange_p(values, self.hosts, ranks=True, seed=rule.seed)

    def seen(self, p: float) -> tuple[float, float]:
        """The p of this look alone, and the share of alpha that the last one has; `p` as above."""
        if not self.rule.shares:
            return p, SHIFT
        failed = round(sum(self.good)), round(sum(self.bad))
        apart = shares.distance(failed, len(self.good))
        return float(scipy.stats.norm.sf(apart)), LAST_OF_SHARES * len(self.rule.looks)

    def spread(self) -> _Look:
        """How far each boot lies from the middle of its end."""
        good, bad = stats.deviations(self.good), stats.deviations(self.bad)
        return replace(self, good=good, bad=bad)


@dataclass(frozen=True, slots=True)
class _Other:
    """A difference of the ends that is no shift of the whole."""

    figure: Aspect
    size: float
    p: float
    #: Share of alpha of this kind of difference; it is divided among so many figures.
    share: float
    number: int = 1


def _other_figures(good: EndBoots, bad: EndBoots, whole: _Look) -> Iterator[_Other]:
    rule = whole.rule
    if rule.mean or len(good.views) < WIDER_FROM:
        return
    size = stats.quantile(whole.bad, HIGH) - stats.quantile(whole.good, HIGH)
    p = whole.spread().p()
    yield _Other(Aspect(around=stats.median([*whole.good, *whole.bad])), size, p, SPREAD)
    views = common([*good.views, *bad.views])
    for view in range(1, views):
        look = _Look.of(good, bad, rule, view)
        yield _Other(Aspect(view), look.shift(), look.p(), ONE_CPU, views - 1)


def ends_due(spec: SearchSpec, ledger: Ledger, count: int) -> list[str]:
    """The next `count` boots of the ends in ABBA order: good, bad, bad, good, ..."""
    good, bad = ledger.measured(spec.graph.older), ledger.measured(spec.graph.newer)
    schedule = _schedule(spec)
    target = next((boots for boots in schedule if min(good, bad) < boots), schedule[-1])
    ends: list[str] = []
    while len(ends) < count and min(good, bad) < target:
        if good < bad or (good == bad and good % 2 == 0):
            good += 1
            ends.append(spec.graph.older)
        else:
            bad += 1
            ends.append(spec.graph.newer)
    return ends
