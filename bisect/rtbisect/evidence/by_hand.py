# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots that somebody made with the scripts of a bundle, beside what its campaign reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.evidence.kernels import figures_of
from rtbisect.judge.scale import halfway

if TYPE_CHECKING:
    from rtbisect.model.campaign import MetricKey
    from rtbisect.model.lab import Measurement
    from rtbisect.model.result import Result
    from rtbisect.model.setup import Setup


@dataclass(frozen=True, slots=True)
class BootByHand:
    """One boot, by its console."""

    #: Name of the console; the kernel is what stands before the first dot.
    console: str
    #: Figures of all CPUs together; () for no valid boot.
    measurements: tuple[Measurement, ...]
    #: Why it is no valid boot; "" for one that is.
    why: str = ""

    @property
    def kernel(self) -> str:
        """The kernel's name, as the mail and the scripts have it."""
        return self.console.partition(".")[0]

    def value(self, metric: MetricKey) -> float | None:
        """The figure in this boot; None where it was not measured."""
        return next(
            (
                each.value
                for each in self.measurements
                if (each.suite, each.name, each.window)
                == (metric.suite, metric.name, metric.window)
            ),
            None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The figure that a campaign judged, and the kernels that differ in it."""

    metric: MetricKey
    unit: str
    #: Half way between the kernels, on the scale that they were compared on; None where a part of
    #: the figure was judged, or a kernel was not measured.
    limit: float | None
    #: Kernels without the sought change and with it, by 12 digits of their sha.
    base: str
    new: str
    #: The kernels are a commit and its parent; else they are the ends of the range.
    proved: bool


def reported(setup: Setup, result: Result) -> Reported | None:
    """What the answer of a campaign stands on; None where no figure was judged."""
    check = next((each for each in result.verifications if each.parent and each.judgement), None)
    judgement = check.judgement if check else result.judgement
    if judgement is None:
        return None
    threshold = next((each for each in setup.judged if each.key == judgement.key), None)
    if threshold is None:
        return None
    request, limit = setup.request, None
    if judgement.figure is None and judgement.two_sided:
        limit = halfway(threshold, judgement.base.values, judgement.new.values)
    return Reported(
        metric=judgement.key,
        unit=threshold.unit,
        limit=limit,
        proved=check is not None,
        base=check.parent if check else request.older[:12],
        new=(result.culprit or "")[:12] if check else request.newer[:12],
    )


def boot_by_hand(setup: Setup, console: str, text: str) -> BootByHand:
    """What a boot measured, from the name and the text of its console."""
    try:
        return BootByHand(console, figures_of(setup, text))
    except ConfigError as error:
        return BootByHand(console, (), error.message)
