# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of a page: in all scripts, one line, with nothing in it that steers a reader's screen. That
it is no markup is seen to by the templates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Scale
from rtbisect.report.averages import limit_of, unit_of
from rtbisect.report.text import cut, number, unit_text
from rtbisect.report.wording import voice_of_report
from rtbisect.words import numbers
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.campaign import Judgement, MetricKey, Threshold
    from rtbisect.model.finding import Finding
    from rtbisect.model.report import ReportInput

#: Characters of a cell; no name or sentence of ours has so many.
LONGEST = 1000
#: Join letters in some scripts, and are not printable by themselves.
_JOINERS = "\u200c\u200d"


def shown(text: str, limit: int = LONGEST) -> str:
    """One line; what is not printable, such as marks that turn the direction of a text, is `?`."""
    line = " ".join(text[: 4 * limit].split())
    return cut("".join(c if c.isprintable() or c in _JOINERS else "?" for c in line), limit)


def row(cells: Iterable[str]) -> tuple[str, ...]:
    """Cells of a table; an empty one is seen to be meant."""
    return tuple(shown(cell) or "-" for cell in cells)


def told(report: ReportInput, finding: Finding | None, key: MetricKey | None = None) -> str:
    """A finding as its campaign is told, with the figures in the unit that this one has on the
    page, else in that of the searched one; "" for none.
    """
    if finding is None:
        return ""
    about = key or report.result.metric
    voice = replace(voice_of_report(report), unit=unit_of(report, about) if about else "")
    return shown(str(speak(finding, voice)))


def axis_label(name: str, unit: str, *, log: bool = False) -> str:
    """What an axis shows: the figure by its short name, and its unit where it has one."""
    scale = ", logarithmic" if log else ""
    return shown(f"{name}{numbers.unit(unit_text(unit), ', ')}{scale}")


def figure_name(report: ReportInput, key: MetricKey, part: Finding | None = None) -> str:
    """The figure with its window, and which part of it; as long as it is."""
    return shown(f"{key} {told(report, part)}".rstrip())


def floor_of(limit: Threshold | None) -> float | None:
    """What is added before the logarithm where a figure is judged by ratios, else None."""
    return limit.floor if limit is not None and limit.scale is Scale.LOG else None


def interval(judgement: Judgement) -> str:
    return " to ".join(number(each, whole=False) for each in judgement.interval)


def effect(report: ReportInput, judgement: Judgement) -> str:
    """`x 7.02`, or a difference with its unit; "" where its scale is not known."""
    limit = limit_of(report, judgement)
    if limit is None or not judgement.two_sided:
        return ""
    if floor_of(limit) is not None:
        return f"x {number(judgement.effect, whole=False)}"
    return number(judgement.effect, limit.unit, sign=True, whole=False)
