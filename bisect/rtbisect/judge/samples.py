# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of boots, one a boot."""

from __future__ import annotations

from collections.abc import Iterable

from rtbisect.model.campaign import MetricKey, Sample
from rtbisect.model.lab import Run, RunStatus


def figure(run: Run, key: MetricKey) -> float | None:
    """Value of a whole-boot figure, None when the run is no evidence or lacks it."""
    if run.status is not RunStatus.COMPLETE:
        return None
    for m in run.measurements:
        if m.cpu is None and (m.suite, m.name, m.window) == (key.suite, key.name, key.window):
            return m.value
    return None


def sample(runs: Iterable[Run], key: MetricKey) -> Sample:
    """The figure over boots, in the order of the boots."""
    boots = [(value, run.device) for run in runs if (value := figure(run, key)) is not None]
    hosts = tuple(host for _, host in boots)
    return Sample(tuple(value for value, _ in boots), hosts if all(hosts) else ())
