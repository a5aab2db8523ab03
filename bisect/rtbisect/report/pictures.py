# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a campaign beside its mail, never needed to understand it; matplotlib is an extra
(`plots`). Those of its page are drawn by its template.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.report.averages import (
    centre,
    judged_name,
    judged_unit,
    limit_of,
    middle_word,
)
from rtbisect.report.headline_figure import headline
from rtbisect.report.posterior import top
from rtbisect.report.text import ascii_line, foreign, many, unit_text
from rtbisect.words.numbers import probability

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rtbisect.model.campaign import Judgement
    from rtbisect.model.report import ReportInput

#: Blue and orange that also differ in grey and for colour-blind readers.
_COLOURS = ("#0072b2", "#d55e00")
_DPI = 110


@dataclass(frozen=True, slots=True)
class Plots:
    """What was drawn."""

    files: tuple[Path, ...]
    #: Why there are none, for the campaign log; else "".
    note: str = ""


def load() -> Any | None:
    """Class Figure of matplotlib, None when the extra is not installed."""
    try:
        return importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        return None


def draw(report: ReportInput, folder: Path, loader: Callable[[], Any | None] = load) -> Plots:
    """Posterior over commits and the boots of both sides as PNG files in `folder`."""
    figure = loader()
    if figure is None:
        return Plots((), "plots skipped: matplotlib is not installed (extra `plots`)")
    files = []
    if report.result.candidates:
        files.append(_save(_posterior(figure, report), folder / "posterior.png"))
    opening = headline(report)
    if opening is not None and opening[0].two_sided:
        files.append(_save(_boots(figure, report, *opening), folder / "boots.png"))
    return Plots(tuple(files), "" if files else "plots skipped: nothing was measured")


def _save(figure: Any, path: Path) -> Path:
    """By rename, so that a page never shows half a picture."""
    part = path.with_name(f".{path.name}.part")
    figure.savefig(part, format="png", dpi=_DPI, metadata={"Software": None})
    return part.replace(path)


def _empty(figure_class: Any, width: float, height: float) -> tuple[Any, Any]:
    """A figure of so many inches, and its axes."""
    figure = figure_class(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _posterior(figure_class: Any, report: ReportInput) -> Any:
    shown, left, mass = top(report.result.candidates, 12)
    subjects = {commit.sha: commit.subject for commit in report.graph.commits}
    labels = [f"{sha[:12]}  {_plain(subjects.get(sha, ''))}" for sha, _ in shown]
    values = [value for _, value in shown]
    if left:
        labels.append(f"{many(left, 'more commit')} together")
        values.append(mass)
    figure, axes = _empty(figure_class, 9, 1.6 + 0.32 * len(values))
    places = range(len(values))
    axes.barh(places, values, color=_COLOURS[0])
    axes.set_yticks(places, labels, fontsize=8, family="monospace")
    axes.invert_yaxis()
    axes.set_xlim(0, 1.1)
    axes.set_xlabel("posterior probability to be the culprit")
    for place, value in zip(places, values, strict=True):
        axes.text(value + 0.01, place, probability(value), va="center", fontsize=8)
    _bare(axes)
    return figure


def _boots(figure_class: Any, report: ReportInput, judgement: Judgement, *names: str) -> Any:
    limit = limit_of(report, judgement)
    figure, axes = _empty(figure_class, 7, 2.6)
    for row, sample in enumerate((judgement.base, judgement.new)):
        places = [row + shift for shift in _spread_out(len(sample.values))]
        axes.plot(sample.values, places, "o", ms=5, alpha=0.7, color=_COLOURS[row])
        middle = centre(sample, limit)
        axes.plot([middle, middle], [row - 0.3, row + 0.3], color=_COLOURS[row], lw=2)
    sizes = (judgement.base.n, judgement.new.n)
    axes.set_yticks(range(2), [f"{name}\nn = {n}" for name, n in zip(names, sizes, strict=True)])
    axes.set_ylim(1.5, -0.5)
    unit = judged_unit(report, judgement)
    axes.set_xlabel(_axis(judged_name(report, judgement), unit, ", one dot a boot"))
    title = f"Boots of both sides; the line is the {middle_word(limit)}"
    axes.set_title(title, fontsize=9, loc="left")
    _bare(axes)
    return figure


def _spread_out(count: int) -> Sequence[float]:
    """Fixed small shifts, so that equal values are seen and a plot is reproducible."""
    return [0.12 * ((i * 2) % 5 - 2) / 2 for i in range(count)]


def _axis(name: str, unit: str, more: str = "") -> str:
    return _plain(f"{name} ({unit_text(unit) or 'no unit'}){more}")


def _plain(text: str) -> str:
    """Foreign text as it is: a dollar would start mathematics."""
    return foreign(ascii_line(text), 48).replace("$", r"\$")


def _bare(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
