# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of a kernel, and the one way from them to a judged figure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

from rtbisect.model.campaign import MetricKey, Observation, Sample
from rtbisect.model.lab import RunStatus

if TYPE_CHECKING:
    from collections.abc import Collection

    from rtbisect.model.lab import Run
    from rtbisect.model.result import KernelRole


@dataclass(frozen=True, slots=True)
class Boots:
    """Boots of one kernel in one role, in their order."""

    #: All boots, also those that are no evidence.
    runs: tuple[Run, ...] = ()
    #: What the kernel is there for; None in a search, where it is one of many.
    role: KernelRole | None = None

    def with_run(self, run: Run) -> Boots:
        """The same with one boot more."""
        return replace(self, runs=(*self.runs, run))

    @property
    def evidence(self) -> tuple[Run, ...]:
        """The boots that count as evidence."""
        return tuple(run for run in self.runs if run.complete)

    def dead(self, keys: Collection[MetricKey]) -> tuple[Run, ...]:
        """The boots in which the kernel hung or died, but for those of which that is one of these
        figures.
        """
        return tuple(
            run
            for run in self.runs
            if (run.hung or run.status is RunStatus.BOOT_FAILED)
            and not (run.complete and any(_told(run, key)[0] is not None for key in keys))
        )

    def figure(self, key: MetricKey, exposure: MetricKey | None = None) -> tuple[Observation, ...]:
        """The figure in each boot that is evidence and has it, and has the `exposure` where one is
        asked for (`Threshold.exposure`).
        """
        found = []
        for run in self.evidence:
            value, per_cpu = _told(run, key)
            exposed = _told(run, exposure)[0] if exposure else 1.0
            if value is not None and exposed is not None:
                found.append(
                    Observation(value=value, per_cpu=per_cpu, exposure=exposed, host=run.device)
                )
        return tuple(found)

    def sample(self, key: MetricKey) -> Sample:
        """The same as a side of a comparison."""
        return Sample.of(self.figure(key))


def _told(run: Run, key: MetricKey) -> tuple[float | None, tuple[float, ...]]:
    """What a boot tells of a figure: the whole of it, None where it has none; then each CPU that is
    watched, in their order.
    """
    of_metric = [
        m
        for m in run.measurements
        if m.name == key.name and m.window == key.window and m.suite == key.suite
    ]
    whole = next((m.value for m in of_metric if m.cpu is None), None)
    cpus = [(m.cpu, m.value) for m in of_metric if m.cpu is not None]
    return whole, tuple(value for _, value in sorted(cpus, key=itemgetter(0)))
