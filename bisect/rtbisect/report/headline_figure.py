# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a mail: the headline claim, the factor table, the table of checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Judgement, Scale, Threshold
from rtbisect.report.averages import (
    boots_with,
    by_mean,
    centre,
    judged_name,
    judged_unit,
    limit_of,
    middle,
    middle_word,
    of_boots,
    overlap,
)
from rtbisect.report.text import foreign, histogram, number, suffix
from rtbisect.report.wording import words_of

if TYPE_CHECKING:
    from rtbisect.model.report import ReportInput


#: Ratios that are the same to a reader.
_SAME = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineClaim:
    """The headline of a mail: the middles of two sides and what lies between them, as printed."""

    #: `suite.name` and, of a part of a figure, which part.
    metric: str
    window: str
    #: What the sides are: parent and commit, or the two ends.
    base_name: str
    new_name: str
    #: Their middles, the new one with its unit too; "not measured" for a side without boots.
    base: str
    new: str
    #: What those are: median, mean or geometric mean.
    middle: str
    #: What the figure does from base to new: rises, falls, stays.
    verb: str
    #: Ratio or difference with its 95% interval, "" where the scale is not known.
    effect: str
    #: `8 + 8 boots`, base first.
    boots: str
    #: The test by name, and `p = 0.0012`.
    test: str
    p: str
    #: What a subject says of it, with both middles.
    symptom: str
    #: Of a figure that a boot has or has not, how many have it: `3 of 8 boots`; else "".
    base_seen: str = ""
    new_seen: str = ""
    #: What the figure is, by thresholds/; "" where they do not say.
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
    noun = "difference" if linear else "ratio"
    added = "" if linear else _added(judgement, limit)
    return f"a {noun} of {effect}{unit}{added} (95% interval {low} to {high}{unit})"


def _added(judgement: Judgement, limit: Threshold) -> str:
    """What ratios are formed with, where a reader who divides the medians gets another one: the
    floor keeps figures near nothing from making large ratios.
    """
    if not limit.floor or not judgement.two_sided:
        return ""
    base, new = (centre(side, limit) for side in (judgement.base, judgement.new))
    if base > 0 and abs(judgement.effect * base - new) <= _SAME * abs(new):
        return ""
    return f" with {limit.floor:g}{suffix(limit.unit)} added to both"


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
    unit = judged_unit(report, judgement)
    drawn = histogram(judgement.base.values, judgement.new.values, unit, names)
    return f"Boots by {judged_name(report, judgement)}", drawn


def is_finding(report: ReportInput) -> bool:
    """Whether the shape says more than middle and range do: boots of one side lie among those of
    the other. Of a figure that a boot has or has not the counts say all.
    """
    opening = headline(report)
    if opening is None or of_boots(opening[0].key):
        return False
    return opening[0].two_sided and overlap(opening[0].base, opening[0].new)


def claim(report: ReportInput) -> HeadlineClaim | None:
    opening = headline(report)
    if opening is None:
        return None
    judgement, base_name, new_name = opening
    limit = limit_of(report, judgement)
    unit = judged_unit(report, judgement)
    base, new = judgement.base, judgement.new
    before, after = (centre(side, limit) if judgement.two_sided else 0.0 for side in (base, new))
    if not judgement.two_sided:
        verb = "was not measured on both sides"
    elif after == before:
        verb = "stays"
    else:
        verb = "rises" if after > before else "falls"
    base_share, new_share = (boots_with(judgement.key, side) for side in (base, new))
    both_shares = bool(base_share and new_share)
    change = f"{number(before)} -> {number(after, unit)}"
    return HeadlineClaim(
        metric=judged_name(report, judgement),
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
            f"stands still in {base_share} -> {new_share}"
            if both_shares
            else f"{judged_name(report, judgement)} {change}"
        ),
        base_seen=base_share if both_shares else "",
        new_seen=new_share if both_shares else "",
        title=foreign(limit.title, 200) if limit else "",
    )


def medians(report: ReportInput, judgement: Judgement) -> str:
    """Both middles with the unit, `-` where a side was not measured."""
    if not judgement.two_sided:
        return "-"
    if of_boots(judgement.key):
        base, new = (f"{sum(s.values):.0f}/{s.n}" for s in (judgement.base, judgement.new))
        return f"{base} -> {new}"
    limit = limit_of(report, judgement)
    unit = judged_unit(report, judgement)
    return f"{middle(judgement.base, '', limit)} -> {middle(judgement.new, unit, limit)}"
