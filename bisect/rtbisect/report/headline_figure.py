# SPDX-License-Identifier: GPL-2.0-or-later
"""The judgement that a report is about, and its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.report.averages import (
    by_mean,
    centre,
    has_share,
    judged_name,
    limit_of,
    of_boots,
    shown_in,
)
from rtbisect.report.text import counted, histogram, number, suffix
from rtbisect.report.wording import words_of

if TYPE_CHECKING:
    from rtbisect.model.campaign import Judgement, Threshold
    from rtbisect.model.report import ReportInput


#: Ratios that are the same to a reader.
_SAME = 0.02


def floor_that_shows(judgement: Judgement, limit: Threshold) -> float:
    """What ratios are formed with, where a reader who divides the medians gets another one: the
    floor keeps figures near nothing from making large ratios. 0 where it makes no difference.
    """
    if not limit.floor or not judgement.two_sided:
        return 0.0
    base, new = (centre(side, limit) for side in (judgement.base, judgement.new))
    alike = base > 0 and abs(judgement.effect * base - new) <= _SAME * abs(new)
    return 0.0 if alike else limit.floor


def test_name(limit: Threshold | None, judgement: Judgement) -> str:
    """The test of judge.judge that gave p: labels of boots are exchanged, one side is asked for."""
    hosts = {*judgement.base.hosts, *judgement.new.hosts}
    test = "permutation test of means" if by_mean(limit) else "rank test"
    return f"one-sided {test}{' within hosts' if len(hosts) > 1 else ''}"


def headline(report: ReportInput) -> tuple[Judgement, str, str] | None:
    """The judgement that the mail opens with, and the names of its two sides.

    A check against a parent on fresh boots goes before that of the ends.
    """
    for check in report.result.verifications:
        if check.judgement is not None and check.parent:
            return check.judgement, "parent", "commit"
    if report.result.judgement is not None:
        older, newer = words_of(report).ends
        return report.result.judgement, f"{older} end", f"{newer} end"
    return None


def boots_by(report: ReportInput) -> tuple[str, tuple[str, ...]]:
    """Title and lines of a histogram of the boots on both sides of the headline; no lines where
    there is no headline.
    """
    opening = headline(report)
    if opening is None:
        return "", ()
    judgement, *names = opening
    called, base, new = judged_name(report, judgement), judgement.base, judgement.new
    if has_share(judgement.key, base) and has_share(judgement.key, new):
        rows = [
            (answer, base.values.count(value), new.values.count(value))
            for answer, value in (("no", 0.0), ("yes", 1.0))
        ]
        drawn = counted(called, rows, names)
    else:
        shown, factor = shown_in(report, judgement)
        before, after = ([value * factor for value in side.values] for side in (base, new))
        drawn = histogram(before, after, shown, names)
    return f"Boots by {called}", drawn


def medians(report: ReportInput, judgement: Judgement) -> str:
    """Both middles with the unit that they are best read in, `-` where a side was not measured."""
    if not judgement.two_sided:
        return "-"
    if of_boots(judgement.key):
        base, new = (f"{sum(s.values):.0f}/{s.n}" for s in (judgement.base, judgement.new))
        return f"{base} -> {new}"
    limit = limit_of(report, judgement)
    older, newer = (centre(side, limit) for side in (judgement.base, judgement.new))
    unit, factor = shown_in(report, judgement)
    # A scaled figure has its three digits, as a sentence has them.
    whole = factor == 1
    before, after = (number(value * factor, whole=whole) for value in (older, newer))
    return f"{before} -> {after}{suffix(unit)}"
