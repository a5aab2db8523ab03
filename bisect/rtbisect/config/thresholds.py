# SPDX-License-Identifier: GPL-2.0-or-later
"""The thresholds of a suite, one file a suite."""

from __future__ import annotations

from pathlib import Path

from rtbisect.config import yamlfile
from rtbisect.config.schema import MetricEntry, ThresholdsFile
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import MetricKey, Role, Statistic, Threshold


def load_thresholds(folder: Path, suites: tuple[str, ...]) -> tuple[Threshold, ...]:
    """Thresholds of the named suites from `<folder>/<suite>.yaml`."""
    thresholds: list[Threshold] = []
    for suite in suites:
        document = yamlfile.read(folder / f"{suite}.yaml")
        checked = document.checked(ThresholdsFile)
        if checked.suite != suite:
            raise document.refuse(
                ("suite",), f"suite is {checked.suite!r}, the file says {suite!r}"
            )
        thresholds.extend(_threshold(suite, entry) for entry in checked.metrics)
    return tuple(thresholds)


def _threshold(suite: str, entry: MetricEntry) -> Threshold:
    control = entry.control
    return Threshold(
        key=MetricKey(suite, entry.name, entry.window),
        unit=entry.unit,
        better=entry.better,
        scale=entry.scale,
        statistic=Statistic(entry.statistic),
        min_effect=entry.min_effect,
        limit=entry.limit,
        floor=entry.floor,
        role=entry.role,
        control=MetricKey(suite, control.name, control.window) if control else None,
        reason=entry.reason,
        exposure=MetricKey(suite, entry.exposure, entry.window) if entry.exposure else None,
        title=entry.title,
    )


def choose_threshold(
    thresholds: tuple[Threshold, ...], suite: str, metric: str | None
) -> Threshold:
    """The metric to search on: by name (or name@window), else the suite's primary one."""
    of_suite = [t for t in thresholds if t.key.suite == suite]
    if not of_suite:
        known = ", ".join(sorted({t.key.suite for t in thresholds}))
        raise ConfigError(f"unknown suite {suite!r}", f"there are: {known}")
    if metric is None:
        return next((t for t in of_suite if t.role is Role.PRIMARY), of_suite[0])
    for threshold in of_suite:
        if metric in (threshold.key.name, f"{threshold.key.name}@{threshold.key.window}"):
            return threshold
    known = ", ".join(f"{t.key.name}@{t.key.window}" for t in of_suite)
    raise ConfigError(f"unknown metric {metric!r} of suite {suite}", f"there are: {known}")
