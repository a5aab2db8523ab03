# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of one boot that a regression may show in: the whole, or one CPU beside the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from rtbisect.judge import blocks
from rtbisect.judge.scale import MEAN, badness, by_mean, counted, effect_floor
from rtbisect.judge.verdict import effect_text
from rtbisect.model.campaign import Better, Observation, Sample, Scale, Threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rtbisect.model.campaign import Judgement

#: Badness of the whole boot, then for each CPU how much worse it is than the other CPUs.
#: What all CPUs of a boot share (the host, the temperature) cancels in the latter. Of counts: the
#: rate of events and the exposure.
Views: TypeAlias = tuple[float, ...]

#: A revision and the number of its code layout.
Kernel: TypeAlias = tuple[str, int]


def views(threshold: Threshold, seen: Observation) -> Views:
    """Views of one boot; ValueError where the whole is no number, or no possible one. Shares of
    failures and counts have no CPUs, and a CPU without a number leaves the whole alone.
    """
    whole = badness(threshold, seen.value)
    if counted(threshold):
        if whole < 0 or not 0 < seen.exposure < math.inf:
            raise ValueError(f"{threshold.key}: {whole:g} for {seen.exposure:g} is no rate")
        return (whole, seen.exposure)
    if len(seen.per_cpu) < 2 or by_mean(threshold):
        return (whole,)
    try:
        each = [badness(threshold, value) for value in seen.per_cpu]
    except ValueError:
        return (whole,)
    total, others = math.fsum(each), len(each) - 1
    return (whole, *(value - (total - value) / others for value in each))


def without_hosts(
    threshold: Threshold, boots: Mapping[Kernel, Sequence[Views]], hosts: Mapping[Kernel, list[str]]
) -> dict[Kernel, tuple[Views, ...]]:
    """Views of boots by kernel, without what their hosts add to the whole; CPUs are compared within
    a boot. Shares and counts have no such part.
    """
    if blocks.one_block(*hosts.values()) or by_mean(threshold):
        return {kernel: tuple(found) for kernel, found in boots.items()}
    added = blocks.offsets(
        [
            (repr(kernel), host, seen[0])
            for kernel, names in hosts.items()
            for host, seen in zip(names, boots[kernel], strict=True)
        ]
    )
    return {
        kernel: tuple(
            (seen[0] - added[host], *seen[1:])
            for host, seen in zip(hosts.get(kernel, ()), found, strict=True)
        )
        for kernel, found in boots.items()
    }


def common(boots: Iterable[Sequence[float]]) -> int:
    """Number of views that all boots have: those of the CPUs only if every boot has them."""
    sizes = {len(found) for found in boots}
    return sizes.pop() if len(sizes) == 1 else 1


@dataclass(frozen=True, slots=True)
class Aspect:
    """What of a boot the ends differ in: a view, or with `around` how far the whole lies from
    that value. `mean` says that the medians of the ends are equal, and their means are not.
    """

    view: int = 0
    around: float | None = None
    mean: bool = False

    def __str__(self) -> str:
        if self.around is not None:
            return "in the spread of the boots"
        if self.mean:
            return "in the mean of the boots, not in their median"
        return f"on the watched CPU number {self.view} beside the others" if self.view else ""

    @property
    def plain(self) -> bool:
        """It is the figure of the threshold itself."""
        return not self.view and self.around is None and not self.mean

    def threshold(self, threshold: Threshold) -> Threshold:
        """How to judge this figure: as badness, where a larger value is worse."""
        if self.plain:
            return threshold
        return replace(
            threshold,
            unit="log" if threshold.scale is Scale.LOG else threshold.unit,
            better=Better.LOWER,
            scale=Scale.LINEAR,
            statistic=MEAN if self.mean else threshold.statistic,
            min_effect=effect_floor(threshold),
            limit=None,
            floor=0.0,
            control=None,
        )

    def of(self, threshold: Threshold, seen: Observation) -> Observation | None:
        """The figure of one boot, for the threshold above; None when the boot does not have it, or
        not as a number that can be compared.
        """
        try:
            found = views(threshold, seen)
        except ValueError:
            return None
        if self.plain:
            return seen
        if self.around is not None:
            return replace(seen, value=abs(found[0] - self.around), per_cpu=())
        return replace(seen, value=found[self.view], per_cpu=()) if self.view < len(found) else None

    def told(self, threshold: Threshold, found: Judgement) -> Judgement:
        """A judgement of this figure in what a reader knows: how many times (LOG) or by how much a
        CPU exceeds the others, or a boot lies from the middle; the mean in its unit.
        """
        if self.plain:
            return found
        sign = 1.0 if threshold.better is Better.LOWER or self.around is not None else -1.0
        log = threshold.scale is Scale.LOG
        floor = threshold.floor if self.mean else 0.0

        def back(value: float) -> float:
            return math.exp(sign * value) if log else sign * value

        low, high = sorted(back(value) for value in found.interval)
        unit = threshold.unit if self.mean or not log else "1"
        before = effect_text(self.threshold(threshold), found.effect)
        after = effect_text(replace(threshold, unit=unit), back(found.effect))
        return replace(
            found,
            base=Sample(tuple(back(value) - floor * log for value in found.base.values)),
            new=Sample(tuple(back(value) - floor * log for value in found.new.values)),
            effect=back(found.effect),
            interval=(low, high),
            figure=str(self),
            unit=unit,
            mean=self.mean,
            reason=found.reason.replace(before, after, 1),
        )


#: The figure as it is.
WHOLE = Aspect()
