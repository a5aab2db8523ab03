# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a mail: the headline claim, the factor table, the table of checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Scale
from rtbisect.report.averages import (
    by_mean,
    centre,
    judged_name,
    judged_unit,
    limit_of,
    middle,
    middle_word,
    of_boots,
    seen,
    suffix,
)
from rtbisect.report.text import foreign, number
from rtbisect.report.wording import words_of

if TYPE_CHECKING:
    from rtbisect.model.campaign import Judgement, Threshold
    from rtbisect.model.report import ReportInput


#: Ratios that are the same to a reader.
_SAME = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The headline: two medians (or means, as `middle` says) and what lies between them, as
    printed. `base_seen` and `new_seen` are the boots that have a figure which is 0 or 1; `title`
    says what the figure is.
    """

    metric: str
    window: str
    base_name: str
    new_name: str
    base: str
    new: str
    middle: str
    verb: str
    effect: str
    boots: str
    test: str
    p: str
    symptom: str
    base_seen: str = ""
    new_seen: str = ""
    title: str = ""


def effect_text(report: ReportInput, judgement: Judgement) -> str:
    """Ratio or difference with its interval; empty when the scale is not known."""
    limit = limit_of(report, judgement)
    if limit is None:
        return ""
    linear = limit.scale is Scale.LINEAR
    effect, low, high = (
        number(value, sign=linear, whole=False) for value in (judgement.effect, *judgement.interval)
    )
    unit = suffix(limit.unit) if linear else ""
    what = "difference" if linear else "ratio"
    added = "" if linear else _added(judgement, limit)
    return f"a {what} of {effect}{unit}{added} (95% interval {low} to {high}{unit})"


def _added(judgement: Judgement, limit: Threshold) -> str:
    """What ratios are formed with, where a reader who divides the medians gets another one: the
    floor keeps figures near nothing from making large ratios.
    """
    if not limit.floor or not judgement.base.values or not judgement.new.values:
        return ""
    base, new = (centre(side, limit) for side in (judgement.base, judgement.new))
    if base > 0 and abs(judgement.effect * base - new) <= _SAME * abs(new):
        return ""
    return f" with {limit.floor:g}{suffix(limit.unit)} added to both"


def test_name(limit: Threshold | None, judgement: Judgement) -> str:
    """The test of judge.judge that gave p: labels of boots are exchanged, one side is asked for."""
    hosts = {*judgement.base.hosts, *judgement.new.hosts}
    what = "permutation test of means" if by_mean(limit) else "rank test"
    return f"one-sided {what}{' within hosts' if len(hosts) > 1 else ''}"


def headline(report: ReportInput) -> tuple[Judgement, str, str] | None:
    """The judgement that the mail opens with, and the names of its two sides.

    A check against a parent on fresh boots goes before that of the ends.
    """
    for check in report.result.verifications:
        if check.judgement is not None and check.parent:
            return check.judgement, "parent", "commit"
    if report.result.judgement is not None:
        return report.result.judgement, *words_of(report).ends
    return None


def claim(report: ReportInput) -> Claim | None:
    found = headline(report)
    if found is None:
        return None
    judgement, base_name, new_name = found
    limit = limit_of(report, judgement)
    unit = judged_unit(report, judgement)
    base, new = judgement.base, judgement.new
    measured = bool(base.values and new.values)
    before = centre(base, limit) if measured else 0.0
    after = centre(new, limit) if measured else 0.0
    if not measured:
        verb = "was not measured on both sides"
    elif after == before:
        verb = "stays"
    else:
        verb = "rises" if after > before else "falls"
    seen_base, seen_new = (seen(judgement.key, each) for each in (base, new))
    shares = bool(seen_base and seen_new)
    told = f"{number(before)} -> {number(after, unit)}"
    return Claim(
        metric=judged_name(judgement),
        window=foreign(judgement.key.window, 30),
        base_name=base_name,
        new_name=new_name,
        base=middle(base, unit, limit),
        new=middle(new, unit, limit),
        middle=middle_word(limit),
        verb=verb,
        effect=effect_text(report, judgement),
        boots=f"{base.n} + {new.n} boots",
        test=test_name(limit, judgement),
        p=f"p = {judgement.p:.2g}",
        symptom=(
            f"stands still in {seen_base} -> {seen_new}"
            if shares
            else f"{judged_name(judgement)} {told}"
        ),
        base_seen=seen_base if shares else "",
        new_seen=seen_new if shares else "",
        title=foreign(limit.title, 200) if limit else "",
    )


def medians(report: ReportInput, judgement: Judgement | None) -> str:
    """Both middles with the unit, `-` where a side was not measured."""
    if judgement is None or not (judgement.base.values and judgement.new.values):
        return "-"
    if of_boots(judgement.key):
        base, new = (f"{sum(s.values):.0f}/{s.n}" for s in (judgement.base, judgement.new))
        return f"{base} -> {new}"
    limit = limit_of(report, judgement)
    unit = judged_unit(report, judgement)
    return f"{middle(judgement.base, '', limit)} -> {middle(judgement.new, unit, limit)}"
