# SPDX-License-Identifier: GPL-2.0-or-later
"""What a revert of the culprit would bring back: by its own words, and by measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.report.averages import boots_with, metric_name, spread, threshold_of
from rtbisect.report.text import foreign

if TYPE_CHECKING:
    from rtbisect.model.campaign import MetricKey, Sample
    from rtbisect.model.report import Repaired, ReportInput

#: Fixes: tags and measurements that are told, each.
MOST = 3


def brings_back(report: ReportInput) -> tuple[str, ...]:
    """Sentences, the measured ones first; one that says so where nothing is known."""
    sentences = tuple(_measured(report, each) for each in report.repaired[-MOST:])
    tags = report.culprit.fixes[:MOST] if report.culprit else ()
    sentences += tuple(
        f"The commit says that it repairs {foreign(tag, 80)}: a revert brings that back."
        for tag in tags
    )
    unknown = "What a revert brings back is not known: the commit names nothing that it repairs,"
    return sentences or (f"{unknown} and no campaign here found anything.",)


def _measured(report: ReportInput, known: Repaired) -> str:
    limit = threshold_of(report, known.metric)
    unit = known.unit if known.figure else limit.unit if limit else ""
    name = f"{metric_name(known.metric)} {foreign(known.figure, 80)}".rstrip()
    base, new = (_level(known.metric, each, unit) for each in (known.without, known.with_it))
    return (
        f"A revert brings back what the commit repairs: {name} is {base} "
        f"without the commit and {new} with it (campaign {foreign(known.campaign, 40)})."
    )


def _level(metric: MetricKey, sample: Sample, unit: str) -> str:
    """A median with its range; of a figure of boots those that have it."""
    if share := boots_with(metric, sample):
        return f"seen in {share}"
    return f"{spread(sample, unit)} ({sample.n} boots)"
