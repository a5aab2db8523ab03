# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of one boot that a regression may show in: the whole, or one CPU beside the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rtbisect.judge import blocks
from rtbisect.judge.scale import badness, by_mean, counted, effect_floor
from rtbisect.judge.verdict import effect_found
from rtbisect.model.campaign import (
    Better,
    Judgement,
    Observation,
    Sample,
    Scale,
    Statistic,
    Threshold,
)
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Figures

#: Badness of the whole boot, then for each CPU how much worse it is than the other CPUs.
#: What all CPUs of a boot share (the host, the temperature) cancels in the latter. Of counts: the
#: rate of events and the exposure.
Views: TypeAlias = tuple[float, ...]

#: A revision and the number of its code layout.
Kernel: TypeAlias = tuple[str, int]


def views(threshold: Threshold, observation: Observation) -> Views:
    """Views of one boot; ValueError where the whole is no number, or no possible one. Shares of
    failures and counts have no CPUs, and a CPU without a number leaves the whole alone.
    """
    whole = badness(threshold, observation.value)
    if counted(threshold):
        if whole < 0 or not 0 < observation.exposure < math.inf:
            raise ValueError(f"{threshold.key}: {whole:g} for {observation.exposure:g} is no rate")
        return (whole, observation.exposure)
    if len(observation.per_cpu) < 2 or by_mean(threshold):
        return (whole,)
    try:
        cpus = [badness(threshold, value) for value in observation.per_cpu]
    except ValueError:
        return (whole,)
    total, others = math.fsum(cpus), len(cpus) - 1
    return (whole, *(value - (total - value) / others for value in cpus))


def host_parts(
    threshold: Threshold,
    boots: Mapping[Kernel, Sequence[Views]],
    observations: Mapping[Kernel, Sequence[Observation]],
) -> Mapping[str, float]:
    """What each host adds to the whole of a boot, by boots of kernels that several hosts had; empty
    with one host, and of shares and counts, which have no such part.
    """
    hosts = {kernel: [each.host for each in seen] for kernel, seen in observations.items()}
    if blocks.one_block(*hosts.values()) or by_mean(threshold):
        return {}
    return blocks.offsets(
        [
            (repr(kernel), host, boot[0])
            for kernel, names in hosts.items()
            for host, boot in zip(names, boots[kernel], strict=True)
        ]
    )


def without_host(boot: Views, added: float) -> Views:
    """The views of a boot without what its host adds; CPUs are compared within a boot."""
    return (boot[0] - added, *boot[1:]) if added else boot


def common(boots: Iterable[Sequence[float]]) -> int:
    """Number of views that all boots have: those of the CPUs only if every boot has them."""
    sizes = {len(boot) for boot in boots}
    return sizes.pop() if len(sizes) == 1 else 1


@dataclass(frozen=True, slots=True)
class Aspect:
    """The part of a boot's figure in which the ends differ."""

    #: Its place in the views of a boot: 0 the whole, 1, 2, ... the watched CPUs.
    view: int = 0
    #: Not None: how far the whole lies from this value (in badness), instead of the whole.
    around: float | None = None
    #: The medians of the ends are equal, and their means are not.
    mean: bool = False

    @property
    def found(self) -> Finding | None:
        """The same as a finding; None for the figure of the threshold itself."""
        if self.around is not None:
            return Finding.of(Figures.SPREAD)
        if self.mean:
            return Finding.of(Figures.MEAN)
        return Finding.of(Figures.ONE_CPU, number=self.view) if self.view else None

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
            statistic=Statistic.MEAN if self.mean else threshold.statistic,
            min_effect=effect_floor(threshold),
            limit=None,
            floor=0.0,
            control=None,
        )

    def observation_of(self, threshold: Threshold, observation: Observation) -> Observation | None:
        """The figure of one boot, for the threshold above; None when the boot does not have it, or
        not as a number that can be compared.
        """
        try:
            boot = views(threshold, observation)
        except ValueError:
            return None
        if self.plain:
            return observation
        if self.around is not None:
            return replace(observation, value=abs(boot[0] - self.around), per_cpu=())
        return (
            replace(observation, value=boot[self.view], per_cpu=())
            if self.view < len(boot)
            else None
        )

    def for_reader(self, threshold: Threshold, judgement: Judgement) -> Judgement:
        """A judgement of this figure in what a reader knows: how many times (LOG) or by how much a
        CPU exceeds the others, or a boot lies from the middle; the mean in its unit. Its reason is
        for a reader already, by `effect_for_reader`.
        """
        if self.plain:
            return judgement
        log = threshold.scale is Scale.LOG
        floor = threshold.floor if self.mean else 0.0

        def of_badness(value: float) -> float:
            return self._of_badness(threshold, value)

        low, high = sorted(of_badness(value) for value in judgement.interval)
        return replace(
            judgement,
            base=Sample(tuple(of_badness(value) - floor * log for value in judgement.base.values)),
            new=Sample(tuple(of_badness(value) - floor * log for value in judgement.new.values)),
            effect=of_badness(judgement.effect),
            interval=(low, high),
            figure=self.found,
            unit=self._unit(threshold),
            mean=self.mean,
        )

    def effect_for_reader(self, threshold: Threshold, effect: float) -> Finding:
        """An effect that was judged on this figure, in what a reader knows."""
        if self.plain:
            return effect_found(threshold, effect)
        shown = replace(threshold, unit=self._unit(threshold))
        return effect_found(shown, self._of_badness(threshold, effect))

    def _unit(self, threshold: Threshold) -> str:
        return threshold.unit if self.mean or threshold.scale is not Scale.LOG else "1"

    def _of_badness(self, threshold: Threshold, value: float) -> float:
        sign = 1.0 if threshold.better is Better.LOWER or self.around is not None else -1.0
        return math.exp(sign * value) if threshold.scale is Scale.LOG else sign * value


#: The figure as it is.
WHOLE = Aspect()
