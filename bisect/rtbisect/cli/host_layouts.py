# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect host layouts`: whether the layout of the code can matter on a host."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbisect.acceptance.layouts import LayoutPlan, LayoutsBooted, boot_layouts
from rtbisect.cli.answer_files import check_writable
from rtbisect.cli.options import WholeNumber, answers, seed_option, site_option, site_path
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.config.paths import data
from rtbisect.errors import Exit
from rtbisect.judge.layouts import DIFFER, MOST_BOOTS, MOST_LAYOUTS, advice_of, figures_of
from rtbisect.model.campaign import Role, Scale
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.layouts import Layouts
from rtbisect.model.layouts import LayoutAdvice, LayoutFigure, LayoutResult, LayoutSpread
from rtbisect.report.layout_plot import LayoutPanel, layout_picture
from rtbisect.report.run_plot import svg_of
from rtbisect.store import codec
from rtbisect.store.artefacts import write_whole
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Sequence

_KIND = {
    LayoutResult.MATTERS: Layouts.MATTERS,
    LayoutResult.NEGLIGIBLE: Layouts.NEGLIGIBLE,
    None: Layouts.SHOWN,
}


@click.command(epilog="Example: rtbisect host layouts rt01 --layouts 8 --boots 3")
@click.argument("name", required=False)
@click.option("--tree", help="Tree or build_config whose kernel is booted (default: the first).")
@click.option("--layouts", "orders", type=WholeNumber(2, MOST_LAYOUTS), default=8,
              show_default=True, help="Orders of the kernel's functions.")  # fmt: skip
@click.option("--boots", type=WholeNumber(2, MOST_BOOTS), default=3, show_default=True,
              help="Boots of each order.")  # fmt: skip
@click.option("--all", "shown", is_flag=True, help="Show also figures that are not primary.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.svg",
              help="Write a picture of the boots of each order.")  # fmt: skip
@seed_option
@site_option
@answers
def layouts(
    output: Output,
    name: str | None,
    tree: str | None,
    orders: int,
    boots: int,
    shown: bool,
    plot: Path | None,
    seed: int,
    site: Path | None,
) -> int:
    """Measure whether the layout of the code can matter on the host NAME (none: this machine).

    The tip of a tree is built once, linked in several orders of its functions, and each of these is
    booted several times in turns. Says at the end whether the site should set build.layout: relink.
    Exit code 4: more boots would tell.
    """
    if plot is not None:
        check_writable("--plot", plot)
    plan = LayoutPlan(host=name, tree=tree, layouts=orders, boots=boots, seed=seed)
    booted = boot_layouts(output.state, site_path(site), plan, PlainProgress())
    figures = figures_of(booted.thresholds, booted.boots, seed=seed)
    advice = advice_of(figures)
    output.answer(
        _as_json(plan, booted, figures, advice), "\n".join(_lines(booted, figures, advice, shown))
    )
    if plot is not None:
        _draw(plot, figures)
    return Exit.UNDECIDED if advice is LayoutAdvice.MORE_BOOTS else Exit.ANSWERED


def _lines(
    booted: LayoutsBooted, figures: Sequence[LayoutFigure], advice: LayoutAdvice, shown: bool
) -> list[str]:
    found = [told_of(each) for each in figures if shown or each.threshold.role is Role.PRIMARY]
    if booted.emulated:
        found.append(Finding.of(Layouts.EMULATED, device=booted.emulated))
    return [str(speak(each)) for each in (*found, _advised(figures, advice))]


def _advised(figures: Sequence[LayoutFigure], advice: LayoutAdvice) -> Finding:
    if advice is LayoutAdvice.RELINK:
        return Finding.of(Layouts.RELINK)
    if advice is LayoutAdvice.FIXED:
        return Finding.of(Layouts.FIXED)
    open_ = [each.more for each in figures if each.result is LayoutResult.UNDECIDED]
    plans = [each for each in open_ if each is not None]
    most = max(plans, key=lambda each: each.layouts * each.boots) if plans else None
    told = most if most and len(plans) == len(open_) else None
    return Finding.of(
        Layouts.MORE_BOOTS,
        layouts=told.layouts if told else None,
        boots=told.boots if told else None,
    )


def told_of(figure: LayoutFigure) -> Finding:
    """What the boots say of a figure."""
    metric, spread, result = str(figure.threshold.key), figure.spread, figure.result
    if spread is None:
        return Finding.of(Layouts.TOO_FEW, metric=metric)
    p = spread.p if figure.p_adjusted is None else figure.p_adjusted
    said: dict[str, Any] = {"metric": metric, "p": p, "spread": _spread_told(figure, spread)}
    if result is LayoutResult.UNDECIDED:
        more = figure.more
        plan = {"layouts": more.layouts if more else None, "boots": more.boots if more else None}
        return Finding.of(Layouts.UNDECIDED, **said, **plan)
    return Finding.of(_KIND[result], **said)


def _spread_told(figure: LayoutFigure, spread: LayoutSpread) -> Finding:
    """Logarithms as shares of the figure."""
    share = figure.threshold.scale is Scale.LOG
    sizes = {name: getattr(spread, name) for name in ("boots_sd", "layouts_sd", "low", "high")}
    sizes |= {"differ": DIFFER * spread.layouts_sd, "differ_most": DIFFER * spread.high}
    sizes |= {"effect": figure.effect}
    if share:
        sizes = {name: math.expm1(size) for name, size in sizes.items()}
    return Finding.of(
        Layouts.SPREAD,
        metric=str(figure.threshold.key),
        unit=figure.threshold.unit,
        share=share,
        layouts=spread.layouts,
        boots=spread.boots,
        **sizes,
    )


def _as_json(
    plan: LayoutPlan,
    booted: LayoutsBooted,
    figures: Sequence[LayoutFigure],
    advice: LayoutAdvice,
) -> dict[str, Any]:
    left_out = [
        {"layout": found.data["layout"], "number": found.data["number"],
         "why": str(speak(found)), "why_found": codec.to_plain(Finding, found)}
        for found in booted.left_out
    ]  # fmt: skip
    return {
        "host": plan.host,
        "revision": booted.revision,
        "emulated": bool(booted.emulated),
        "layouts": plan.layouts,
        "boots": plan.boots,
        "measured": len(booted.boots),
        "left_out": left_out,
        "figures": [_figure_row(each) for each in figures],
        "advice": advice.value,
    }


def _figure_row(figure: LayoutFigure) -> dict[str, Any]:
    threshold, spread = figure.threshold, figure.spread
    names = ("boots_sd", "layouts_sd", "low", "high", "differ", "differ_most", "effect")
    sizes: dict[str, Any] = dict.fromkeys(names)
    if spread is not None:
        told = _spread_told(figure, spread)
        sizes = {name: told.data[name] for name in names}
    return {
        "metric": str(threshold.key),
        "unit": threshold.unit,
        "primary": threshold.role is Role.PRIMARY,
        "share": threshold.scale is Scale.LOG,
        "result": figure.result.value if figure.result else None,
        "p": spread.p if spread else None,
        "p_adjusted": figure.p_adjusted if spread else None,
        **sizes,
        "more": asdict(figure.more) if figure.more else None,
        "values": figure.values,
    }


def _draw(place: Path, figures: Sequence[LayoutFigure]) -> None:
    """The primary figures. OSError where the disk refuses."""
    panels = [LayoutPanel.of(each) for each in figures if each.result is not None]
    picture = layout_picture([each for each in panels if each is not None])
    if picture is not None:
        text = svg_of(picture, data("reports"), "code layouts")
        write_whole(place, text.encode("utf-8", "replace"))
