# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a campaign from its boots, for its page; matplotlib is an extra (`plots`)."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Any

from rtbisect.judge.samples import figure as figure_of
from rtbisect.report.averages import judged_name, judged_unit, metric_name, unit_of
from rtbisect.report.headline_figure import headline
from rtbisect.report.plots import COLOURS, bare, load, plain, save
from rtbisect.report.text import unit_text
from rtbisect.report.wording import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rtbisect.model.campaign import MetricKey
    from rtbisect.model.lab import Run
    from rtbisect.model.report import ReportInput

#: Revisions of a heat map; of more those with the most boots are shown.
_MOST_ROWS = 16
_GREY = "#999999"


def draw_page(
    report: ReportInput,
    runs: Sequence[Run],
    folder: Path,
    loader: Callable[[], Any | None] = load,
) -> tuple[Path, ...]:
    """`trend.png`, `cpus.png` and `histogram.png` in `folder`, as far as there is something to
    show; () without matplotlib.
    """
    figure, key = loader(), report.result.metric
    if figure is None or key is None:
        return ()
    boots = [(run, value) for run in runs if (value := figure_of(run, key)) is not None]
    drawn = {
        "trend.png": _trend(figure, report, key, boots) if boots else None,
        "cpus.png": _cpus(figure, report, key, [run for run, _ in boots]),
        "histogram.png": _histogram(figure, report),
    }
    return tuple(save(made, folder / name) for name, made in drawn.items() if made is not None)


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
        return words_of(report).ends[sha != report.older]
    return "" if any(each.sha == sha for each in report.graph.commits) else "revert"


def _trend(figure_class: Any, report: ReportInput, key: MetricKey, boots: Sequence[Any]) -> Any:
    """The figure of each boot in the order of the campaign, coloured by what the search says of its
    kernel in the end.
    """
    before, after = words_of(report).kernels
    bad = {row.sha: row.probability_bad for row in report.result.tested}
    figure = figure_class(figsize=(9, 3.2), layout="constrained")
    axes = figure.add_subplot()
    for label, colour, wanted in (
        (before, COLOURS[0], lambda p: p is not None and p < 0.5),
        (after, COLOURS[1], lambda p: p is not None and p >= 0.5),
        ("reverts and controls", _GREY, lambda p: p is None),
    ):
        found = [(n, v) for n, (run, v) in enumerate(boots, 1) if wanted(bad.get(run.revision))]
        if found:
            axes.plot(
                *zip(*found, strict=True),
                "o",
                ms=5,
                alpha=0.8,
                color=colour,
                label=label,
                clip_on=False,
            )
    axes.set_xlabel("boot of the campaign that tells the figure")
    axes.set_ylabel(plain(f"{metric_name(key)} ({unit_text(unit_of(report, key)) or 'no unit'})"))
    axes.set_ylim(bottom=min(0.0, *(value for _, value in boots)))
    # Above the axes it never lies on a boot.
    figure.legend(fontsize=8, frameon=False, loc="outside upper left", ncols=3)
    bare(axes)
    return figure


def _cpus(figure_class: Any, report: ReportInput, key: MetricKey, runs: Sequence[Run]) -> Any:
    """Median over boots by revision and CPU; None where nothing tells single CPUs."""
    told: dict[str, dict[int, list[float]]] = {}
    for run in runs:
        for each in run.measurements:
            same = (each.suite, each.name, each.window) == (key.suite, key.name, key.window)
            if same and each.cpu is not None and math.isfinite(each.value):
                told.setdefault(run.revision, {}).setdefault(each.cpu, []).append(each.value)
    if not told:
        return None
    order = {commit.sha: n for n, commit in enumerate(report.graph.commits, 1)}
    most = sorted(told, key=lambda sha: -sum(map(len, told[sha].values())))[:_MOST_ROWS]
    shown = sorted(
        most, key=lambda sha: order.get(sha, len(order) + 1 if sha != report.older else 0)
    )
    cpus = sorted({cpu for sha in shown for cpu in told[sha]})
    grid = [
        [median(told[sha][cpu]) if cpu in told[sha] else math.nan for cpu in cpus] for sha in shown
    ]
    figure = figure_class(
        figsize=(2.8 + 0.5 * len(cpus), 1.4 + 0.3 * len(shown)), layout="constrained"
    )
    axes = figure.add_subplot()
    drawn = axes.imshow(grid, aspect="auto", cmap="cividis")
    axes.set_xticks(range(len(cpus)), [str(cpu) for cpu in cpus])
    labels = [f"{sha[:12]} {role(report, sha)}".rstrip() for sha in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=8, family="monospace")
    axes.set_xlabel("CPU")
    unit = unit_text(unit_of(report, key)) or "no unit"
    figure.colorbar(drawn, ax=axes, label=plain(f"{metric_name(key)} ({unit})"))
    return figure


def _histogram(figure_class: Any, report: ReportInput) -> Any:
    """Boots of both sides by the figure; None where one side has none."""
    found = headline(report)
    if found is None or not found[0].base.values or not found[0].new.values:
        return None
    judgement, *names = found
    values = (*judgement.base.values, *judgement.new.values)
    low, high = min(values), max(values)
    count = 1 if low == high else 24
    edges = [low + (high - low) * n / count for n in range(count + 1)] if count > 1 else 1
    figure = figure_class(figsize=(7, 2.8), layout="constrained")
    axes = figure.add_subplot()
    sides = (judgement.base.values, judgement.new.values)
    for name, side, colour in zip(names, sides, COLOURS, strict=True):
        axes.hist(side, bins=edges, alpha=0.6, color=colour, label=f"{name}, n = {len(side)}")
    unit = unit_text(judged_unit(report, judgement)) or "no unit"
    axes.set_xlabel(plain(f"{judged_name(judgement)} ({unit})"))
    axes.set_ylabel("boots")
    axes.yaxis.get_major_locator().set_params(integer=True)
    # Where it goes is said: to look for a free place takes long on a busy machine, which is told.
    figure.legend(fontsize=8, frameon=False, loc="outside upper left", ncols=2)
    bare(axes)
    return figure
