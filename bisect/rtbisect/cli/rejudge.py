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

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@click.command(epilog="Example: rtbisect rejudge bisect-3/")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@answers
def rejudge(output: Output, folder: Path) -> int:
    """Judge the measurements of the bundle in FOLDER again; exits with 1 when they say otherwise.

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
        "confidence": round(now.confidence, 4) if now else None,
        "differences": differences,
    }
    text = f"{judged.campaign}: "
    if now is not None:
        text += f"{now.outcome}, cause {now.cause}"
        text += f", {now.culprit[:12]}" if now.culprit else ""
        text += f", confidence {now.confidence:.3f}: "
    text += "the same answer" if judged.same else "NOT the answer that it tells"
    output.answer(data, "\n".join([text, *differences]))
    return Exit.ANSWERED if judged.same else Exit.REGRESSED


@click.command(epilog="Example: rtbisect figures bisect-3/ boot.log")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("console", type=click.File("rb"))
@answers
def figures(output: Output, folder: Path, console: BinaryIO) -> int:
    """Figures of one boot by the script boot.sh of the bundle in FOLDER, from its CONSOLE.

    They are those of the machine that booted it, and one boot decides nothing.
    """
    data = console.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise ConfigError("the console is too long", "give that of one boot")
    measurements, reported = bundle.read_boot(folder, data.decode("utf-8", "replace"))
    names = ("suite", "name", "window", "value", "unit")
    rows = [{name: getattr(each, name) for name in names} for each in measurements]
    keys = [MetricKey(each.suite, each.name, each.window) for each in measurements]
    judged = reported.metric
    lines = [
        f"{'*' if key == judged else ' '} {key!s:<44} {each.value:.6g} {each.unit}"
        for key, each in zip(keys, measurements, strict=True)
    ]
    figures_data = {"metric": str(judged) if judged else None, "figures": rows}
    output.answer(figures_data, "\n".join(lines))
    return 0
