# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect try`: one revision, one verdict, in the exit codes of `git bisect run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rtbisect import wiring
from rtbisect.cli import runner
from rtbisect.cli.options import (
    json_option,
    metric_option,
    seed_option,
    site_option,
    site_path,
    suite_option,
)
from rtbisect.model.campaign import CampaignRequest, Level

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.cli.output import Output

#: git bisect run: this revision cannot be tested.
SKIP = 125


@click.command(
    "try",
    epilog="Example: git bisect run rtbisect try HEAD --tree stable-rt_6.12 --suite ipi",
)
@click.argument("revision")
@click.option("--tree", required=True, help="build_config of the site file.")
@suite_option
@metric_option
@click.option("--limit", type=float, help="Bad beyond this value (default: limit of thresholds/).")
@click.option("--boots", type=click.IntRange(1, 99), default=3, help="Boots; their median decides.")
@seed_option
@site_option
@json_option
@click.pass_obj
def try_revision(
    output: Output,
    revision: str,
    tree: str,
    suite: str | None,
    metric: str | None,
    limit: float | None,
    boots: int,
    seed: int,
    site: Path | None,
    as_json: bool,
) -> int:
    """Build and boot REVISION and judge it against a limit.

    Exit code 0: good; 1: bad; 125: cannot be tested; 128 and more: an error.
    """
    place = site_path(site)
    sha = wiring.one_revision(output.state, place, tree, revision, suite, metric)
    extra = (("boots", str(boots)), *((("limit", repr(limit)),) if limit is not None else ()))
    request = CampaignRequest(
        "try", str(place), tree, sha, sha, suite or "ipi", metric, seed, extra
    )
    record = runner.start(output, request)
    level = (
        record.result.judgements[0].level if record.result and record.result.judgements else None
    )
    verdict = {Level.PASS: ("good", 0), Level.REGRESSED: ("bad", 1)}.get(
        level or Level.UNDECIDED, ("skip", SKIP)
    )
    reason = record.result.reasons[0] if record.result and record.result.reasons else ""
    data = runner.answer_of(output, record) | {"verdict": verdict[0], "reason": reason}
    output.answer(data, f"{sha[:12]}: {verdict[0]}: {reason}", as_json=as_json)
    return verdict[1]
