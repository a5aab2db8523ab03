# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect rejudge`: the answer of a bundle, from its measurements alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from rtbisect.cli.options import answers
from rtbisect.errors import ConfigError, Exit
from rtbisect.evidence import bundle
from rtbisect.lab.job_log import LONGEST
from rtbisect.model.campaign import MetricKey
from rtbisect.words.numbers import probability, stated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.cli.output import Output
    from rtbisect.evidence.by_hand import BootByHand, Reported


@click.command(epilog="Example: rtbisect rejudge bisect-3/")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@answers
def rejudge(output: Output, folder: Path) -> int:
    """Judge the measurements of the bundle in FOLDER again. Exit code 1: the answer differs.

    Needs no tree, no lab and no network.
    """
    judged = bundle.rejudge(folder)
    now = judged.now
    differences = list(bundle.differences(judged))
    data = {
        "campaign": judged.campaign,
        "same": judged.same,
        "outcome": now.outcome if now else None,
        "cause": now.cause if now else None,
        "culprit": now.culprit if now else None,
        "confidence": stated(now.confidence) if now else None,
        "differences": differences,
    }
    text = f"{judged.campaign}: "
    if now is not None:
        text += f"{now.outcome}, cause {now.cause}"
        text += f", {now.culprit[:12]}" if now.culprit else ""
        text += f", confidence {probability(now.confidence)}: "
    text += "the same answer" if judged.same else "NOT the answer that it tells"
    output.answer(data, "\n".join([text, *differences]))
    return Exit.ANSWERED if judged.same else Exit.REGRESSED


@click.command(epilog="Example: rtbisect figures bisect-3/ bisect-3/booted/*.log")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("consoles", nargs=-1, required=True, type=click.File("rb"))
@answers
def figures(output: Output, folder: Path, consoles: tuple[BinaryIO, ...]) -> int:
    """Compute the figures of boots with the scripts of the bundle in FOLDER, from their CONSOLES.

    Names of consoles begin with the kernel, as the scripts write them. Of several boots it prints
    the figure of the report for each, beside the limit half way between the two kernels of the
    report; of one boot it prints all figures. They are figures of the machine that booted, and a
    few boots prove nothing.
    """
    named = [(Path(console.name).name, _text(console)) for console in consoles]
    boots, reported = bundle.read_boots(folder, named)
    rows = [
        {"console": boot.console, "kernel": boot.kernel}
        | {name: getattr(each, name) for name in _SHOWN}
        for boot in boots
        for each in boot.measurements
    ]
    invalid = [{"console": boot.console, "why": boot.why} for boot in boots if boot.why]
    data = {
        "metric": str(reported.metric) if reported else None,
        "unit": reported.unit if reported else None,
        "limit": reported.limit if reported else None,
        "figures": rows,
        "invalid": invalid,
    }
    lines = [f"{each['console']}: {each['why']}" for each in invalid]
    if len(boots) == 1:
        lines += _every_figure(boots[0], reported)
    if reported:
        lines += _compared(boots, reported)
    output.answer(data, "\n".join(lines))
    return 0


#: Of a measurement.
_SHOWN = ("suite", "name", "window", "value", "unit")


def _text(console: BinaryIO) -> str:
    data = console.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise ConfigError(f"the console {console.name} is too long", "give the console of one boot")
    return data.decode("utf-8", "replace")


def _every_figure(boot: BootByHand, reported: Reported | None) -> list[str]:
    judged = reported.metric if reported else None
    keys = [MetricKey(each.suite, each.name, each.window) for each in boot.measurements]
    return [
        f"{'*' if key == judged else ' '} {key!s:<44} {each.value:.6g} {each.unit}"
        for key, each in zip(keys, boot.measurements, strict=True)
    ]


def _compared(boots: Sequence[BootByHand], reported: Reported) -> list[str]:
    """A line for each kernel: its boots, and how many are beyond the limit."""
    unit = "" if reported.unit == "1" else f" {reported.unit}"
    limit = reported.limit
    lines = [f"{reported.metric}:" + (f" limit {limit:.4g}{unit}" if limit is not None else "")]
    roles = ("parent", "commit") if reported.proved else ("older", "newer")
    sides = dict(zip((reported.base, reported.new), roles, strict=True))
    for kernel in dict.fromkeys([*sides, *(boot.kernel for boot in boots)]):
        measured = [boot.value(reported.metric) for boot in boots if boot.kernel == kernel]
        values = [value for value in measured if value is not None]
        told = ", ".join(f"{value:.4g}" for value in values) + unit if values else "not measured"
        if values and limit is not None:
            told += f" ({sum(value > limit for value in values)} of {len(values)} above)"
        lines.append(f"  {kernel} {sides.get(kernel, ''):<6}  {told}")
    return lines
