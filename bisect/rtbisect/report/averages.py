# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and units of figures, and the middle of their boots, as mails print them."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean, median
from typing import TYPE_CHECKING

from rtbisect.judge import scale
from rtbisect.model.campaign import Judgement, MetricKey, Sample, Scale, Statistic, Threshold
from rtbisect.report.text import foreign, number, suffix
from rtbisect.report.wording import said
from rtbisect.suites.base import every, find
from rtbisect.words import workloads
from rtbisect.words.metrics import name_of
from rtbisect.words.numbers import readable

if TYPE_CHECKING:
    from rtbisect.model.report import Repaired, ReportInput


def threshold_of(report: ReportInput, key: MetricKey) -> Threshold | None:
    return next((limit for limit in report.thresholds if limit.key == key), None)


def unit_of(report: ReportInput, key: MetricKey) -> str:
    """Unit of a metric: by its threshold, else by the rows measured of it, else empty."""
    limit = threshold_of(report, key)
    if limit is not None:
        return limit.unit
    return next((row.unit for row in report.result.table if row.metric == key), "")


def repaired_by(report: ReportInput, known: Repaired) -> tuple[Threshold | None, str]:
    """The threshold whose middle tells what another campaign has measured of a repair, and the
    unit: a part of a figure has none of its own.
    """
    limit = None if known.figure else threshold_of(report, known.metric)
    return limit, limit.unit if limit else known.unit


def limit_of(report: ReportInput, judgement: Judgement) -> Threshold | None:
    """The threshold of what was judged: of a part of a figure it has that part's unit."""
    limit = threshold_of(report, judgement.key)
    if limit is None or not judgement.figure:
        return limit
    statistic = Statistic.MEAN if judgement.mean else limit.statistic
    return replace(limit, unit=judgement.unit, statistic=statistic)


def judged_unit(report: ReportInput, judgement: Judgement) -> str:
    """Unit of the numbers of a judgement."""
    return judgement.unit if judgement.figure else unit_of(report, judgement.key)


def judged_name(report: ReportInput, judgement: Judgement) -> str:
    """The figure in plain words, and what of it was judged."""
    part = f" {said(report, judgement.figure, 80)}" if judgement.figure else ""
    return foreign(name_of(str(judgement.key)), 40) + part


def by_mean(limit: Threshold | None) -> bool:
    """Whether the middle of boots is their mean: of shares and counts the median says nothing."""
    return limit is not None and scale.by_mean(limit)


def _geometric(limit: Threshold) -> bool:
    """Whether means of logarithms are compared."""
    return scale.by_mean(limit) and limit.scale is Scale.LOG


def middle_word(limit: Threshold | None) -> str:
    """What `centre` is."""
    if limit is not None and _geometric(limit):
        return "geometric mean"
    return "mean" if by_mean(limit) else "median"


def centre(sample: Sample, limit: Threshold | None) -> float:
    """The middle of the boots that the figure is compared by."""
    if limit is not None and _geometric(limit):
        return math.exp(fmean(math.log(v + limit.floor) for v in sample.values)) - limit.floor
    return centre_of(sample, mean=by_mean(limit))


def centre_of(sample: Sample, *, mean: bool) -> float:
    """The plain mean of the boots, or their median."""
    if not mean:
        return median(sample.values)
    try:
        return fmean(sample.values)
    except (OverflowError, ValueError):
        # Beyond what a number holds on the way there, or infinities of both signs.
        return math.nan


def spread(sample: Sample, unit: str = "", *, mean: bool = False) -> str:
    """Median (or mean) with the range over boots: `8.60 [3.30..13.1]`, then the unit."""
    if not sample.values:
        return "not measured"
    values = (centre_of(sample, mean=mean), min(sample.values), max(sample.values))
    all_whole = all(value == int(value) for value in values if math.isfinite(value))
    middle_text, low, high = (number(value, whole=all_whole) for value in values)
    return f"{middle_text} [{low}..{high}]{suffix(unit)}"


def overlap(one: Sample, other: Sample) -> bool:
    """Whether the ranges of the boots of two sides, both with some, have anything in common."""
    return max(one.values) >= min(other.values) and max(other.values) >= min(one.values)


def shown_in(report: ReportInput, judgement: Judgement) -> tuple[str, float]:
    """The unit that both sides of a judgement are told in, and by what they are multiplied."""
    limit = limit_of(report, judgement)
    middles = (centre(side, limit) for side in (judgement.base, judgement.new) if side.values)
    return readable(judged_unit(report, judgement), *middles)


def of_boots(key: MetricKey) -> bool:
    """Whether a figure is of a boot as a whole, which has it or has it not. What is counted may
    happen to be 0 or 1 in every boot.
    """
    return key.name in find(key.suite).of_boots


def of_boot(key: MetricKey, value: float) -> str:
    """Whether a boot has a figure of boots; "" for any other."""
    return ("yes" if value else "no") if of_boots(key) else ""


def has_share(key: MetricKey, sample: Sample) -> bool:
    """Whether boots were measured that have a figure of boots or have it not."""
    return of_boots(key) and bool(sample.values) and set(sample.values) <= {0.0, 1.0}


def boots_with(key: MetricKey, sample: Sample) -> str:
    """How many boots have a figure of boots; "" for any other, and where none was measured."""
    return f"{sum(sample.values):.0f} of {sample.n} boots" if has_share(key, sample) else ""


def level_in(window: str) -> str:
    """What runs in a window of ours; "" of any other."""
    own = (each for suite in every() for each in suite.windows if each.name == window)
    return next((each.level for each in own), "") or workloads.level_of(window)
