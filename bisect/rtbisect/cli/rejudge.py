# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect rejudge`: the answer of a bundle, from its measurements alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect import bundle
from rtbisect.cli.options import json_option
from rtbisect.errors import Exit

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@click.command(epilog="Example: rtbisect rejudge bisect-3/")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option
@click.pass_obj
def rejudge(output: Output, folder: Path, as_json: bool) -> int:
    """Judge the measurements of the bundle in FOLDER again; exits with 1 when they say otherwise.

    Needs no tree, no lab and no network.
    """
    found = bundle.rejudge(folder)
    now = found.now
    differences = list(bundle.differences(found))
    data = {
        "campaign": found.campaign,
        "same": found.same,
        "outcome": now.outcome.value if now else None,
        "cause": now.cause.value if now else None,
        "culprit": now.culprit if now else None,
        "confidence": round(now.confidence, 4) if now else None,
        "differences": differences,
    }
    text = f"{found.campaign}: "
    if now is not None:
        text += f"{now.outcome}, cause {now.cause}"
        text += f", {now.culprit[:12]}" if now.culprit else ""
        text += f", confidence {now.confidence:.3f}: "
    text += "the same answer" if found.same else "NOT the answer that it tells"
    output.answer(data, "\n".join([text, *differences]), as_json=as_json)
    return int(Exit.ANSWERED) if found.same else int(Exit.REGRESSED)
