# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect case`: the demo's road on a named kind of history (docs/cases.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rtbisect.cli.options import answers
from rtbisect_labkit.commands.demo import (
    commits_option,
    lab_option,
    seed_option,
    source_option,
    walk,
)
from rtbisect_labkit.demo.cases import CASES
from rtbisect_labkit.demo.plan import plan

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.cli.output import Output


@click.command(epilog="Example: rtbisect case ipi-storm --seed 7 --json")
@click.argument("name", type=click.Choice(tuple(CASES)))
@seed_option
@commits_option
@source_option
@lab_option
@answers
def case(
    output: Output,
    name: str,
    seed: int,
    commits: int,
    source: Path,
    lab: Path | None,
) -> int:
    """Make a kernel history with the known regression NAME, find it, and check the answer.

    Exit codes and JSON keys are those of `demo`.
    """
    return walk(output, plan(seed, commits, name), source, lab)
