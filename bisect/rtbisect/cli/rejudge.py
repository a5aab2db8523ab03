# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect rejudge`: the answer of a bundle, from its measurements alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from rtbisect.cli.options import json_option
from rtbisect.errors import ConfigError, Exit
from rtbisect.evidence import bundle
from rtbisect.lab.job_log import LONGEST

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@click.command(epilog="Example: rtbisect rejudge bisect-3/")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option
@click.pass_obj
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
        "outcome": now.outcome.value if now else None,
        "cause": now.cause.value if now else None,
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
    return int(Exit.ANSWERED) if judged.same else int(Exit.REGRESSED)


@click.command(epilog="Example: rtbisect figures bisect-3/ boot.log")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("console", type=click.File("rb"))
@json_option
@click.pass_obj
def figures(output: Output, folder: Path, console: BinaryIO) -> int:
    """Figures of one boot by the script boot.sh of the bundle in FOLDER, from its CONSOLE.

    They are those of the machine that booted it, and one boot decides nothing.
    """
    data = console.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise ConfigError("the console is too long", "give that of one boot")
    measurements, reported = bundle.read_boot(folder, data.decode("utf-8", "replace"))
    rows = [
        {"suite": m.suite, "name": m.name, "window": m.window, "value": m.value, "unit": m.unit}
        for m in measurements
    ]
    key = reported.metric
    judged = [
        (row["suite"], row["name"], row["window"])
        == ((key.suite, key.name, key.window) if key else None)
        for row in rows
    ]
    lines = [
        f"{'*' if mark else ' '} {f'{m.suite}.{m.name}@{m.window}':<44} {m.value:.6g} {m.unit}"
        for mark, m in zip(judged, measurements, strict=True)
    ]
    data_of = {"metric": str(key) if key else None, "figures": rows}
    output.answer(data_of, "\n".join(lines))
    return 0
