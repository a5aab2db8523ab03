# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a campaign, beside its mail and on its page, never needed to understand them;
matplotlib is an extra (`plots`).
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import Judgement, MetricKey
from rtbisect.report.averages import (
    centre,
    judged_name,
    judged_unit,
    limit_of,
    metric_name,
    middle_word,
    unit_of,
)
from rtbisect.report.headline_figure import headline
from rtbisect.report.posterior import probability, top
from rtbisect.report.text import ascii_line, foreign, many, unit_text
from rtbisect.report.wording import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rtbisect.model.lab import Run
    from rtbisect.model.report import ReportInput

#: Blue and orange that also differ in grey and for colour-blind readers.
_COLOURS = ("#0072b2", "#d55e00")
_GREY = "#999999"
_DPI = 110
#: Revisions of a heat map; of more those with the most boots are shown.
_MOST_ROWS = 16


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


def draw_page(
    report: ReportInput,
    runs: Sequence[Run],
    folder: Path,
    loader: Callable[[], Any | None] = load,
) -> tuple[Path, ...]:
    """`trend.png` and `cpus.png` in `folder`, as far as there is something to show; () without
    matplotlib.
    """
    figure, key = loader(), report.result.metric
    if figure is None or key is None:
        return ()
    boots = [(run, seen.value) for run in runs for seen in Boots((run,)).figure(key)]
    drawings = {
        "trend.png": _trend(figure, report, key, boots) if boots else None,
        "cpus.png": _cpus(figure, report, key, [run for run, _ in boots]),
    }
    return tuple(
        _save(drawing, folder / name) for name, drawing in drawings.items() if drawing is not None
    )


def role(report: ReportInput, sha: str) -> str:
    """What a booted revision is to a reader, "" for one of many. What is no commit of the range was
    made for a proof: the tip without the culprit.
    """
    culprit = report.result.culprit
    if culprit and sha == culprit:
        return "culprit"
    if sha in report.graph.parents_of(culprit):
        return "parent"
    if sha in (report.older, report.newer):
        return f"{words_of(report).ends[sha != report.older]} end"
    return "" if any(each.sha == sha for each in report.graph.commits) else "revert"


def _trend(figure_class: Any, report: ReportInput, key: MetricKey, boots: Sequence[Any]) -> Any:
    """The figure of each boot in the order of the campaign, coloured by what the search says of its
    kernel in the end.
    """
    before, after = words_of(report).kernels
    worse = {row.sha: row.probability_bad >= 0.5 for row in report.result.tested}
    figure, axes = _empty(figure_class, 9, 3.2)
    for label, colour, side in (
        (before, _COLOURS[0], False),
        (after, _COLOURS[1], True),
        ("reverts and controls", _GREY, None),
    ):
        points = [(n, v) for n, (run, v) in enumerate(boots, 1) if worse.get(run.revision) is side]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                "o",
                ms=5,
                alpha=0.8,
                color=colour,
                label=label,
                clip_on=False,
            )
    axes.set_xlabel("boot of the campaign that tells the figure")
    axes.set_ylabel(_axis(metric_name(key), unit_of(report, key)))
    axes.set_ylim(bottom=min(0.0, *(value for _, value in boots)))
    # Above the axes it never lies on a boot.
    figure.legend(fontsize=8, frameon=False, loc="outside upper left", ncols=3)
    _bare(axes)
    return figure


def _cpus(figure_class: Any, report: ReportInput, key: MetricKey, runs: Sequence[Run]) -> Any:
    """Median over boots by revision and CPU; None where nothing tells single CPUs."""
    by_sha: dict[str, dict[int, list[float]]] = {}
    for run in runs:
        for measurement in run.measurements:
            of_metric = MetricKey(measurement.suite, measurement.name, measurement.window) == key
            if of_metric and measurement.cpu is not None and math.isfinite(measurement.value):
                of_cpu = by_sha.setdefault(run.revision, {})
                of_cpu.setdefault(measurement.cpu, []).append(measurement.value)
    if not by_sha:
        return None
    order = {commit.sha: n for n, commit in enumerate(report.graph.commits, 1)}
    most = sorted(by_sha, key=lambda sha: -sum(map(len, by_sha[sha].values())))[:_MOST_ROWS]
    shown = sorted(
        most, key=lambda sha: order.get(sha, len(order) + 1 if sha != report.older else 0)
    )
    cpus = sorted({cpu for sha in shown for cpu in by_sha[sha]})
    grid = [
        [median(by_sha[sha][cpu]) if cpu in by_sha[sha] else math.nan for cpu in cpus]
        for sha in shown
    ]
    figure, axes = _empty(figure_class, 2.8 + 0.5 * len(cpus), 1.4 + 0.3 * len(shown))
    drawn = axes.imshow(grid, aspect="auto", cmap="cividis")
    axes.set_xticks(range(len(cpus)), [str(cpu) for cpu in cpus])
    labels = [f"{sha[:12]} {role(report, sha)}".rstrip() for sha in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=8, family="monospace")
    axes.set_xlabel("CPU")
    figure.colorbar(drawn, ax=axes, label=_axis(metric_name(key), unit_of(report, key)))
    return figure


def _axis(name: str, unit: str, more: str = "") -> str:
    return _plain(f"{name} ({unit_text(unit) or 'no unit'}){more}")


def _plain(text: str) -> str:
    """Foreign text as it is: a dollar would start mathematics."""
    return foreign(ascii_line(text), 48).replace("$", r"\$")


def _bare(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
