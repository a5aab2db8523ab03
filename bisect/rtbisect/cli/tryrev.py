# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect try`: one revision, one verdict, in the exit codes of `git bisect run`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from rtbisect.campaign import resolve, session
from rtbisect.cli.options import (
    answers,
    metric_option,
    seed_option,
    site_option,
    suite_option,
)
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.cli.result import answer_of
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import CampaignKind, CampaignRequest, Level
from rtbisect.model.command import Extra

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.store.campaigns import CampaignRecord

#: git bisect run: this revision cannot be tested.
SKIP = 125


@click.command(
    "try",
    epilog="Example: git bisect run rtbisect try HEAD --tree rt_6.12 --suite rcu --limit 900",
)
@click.argument("revision")
@click.option("--tree", required=True, help="build_config of the site file.")
@suite_option
@metric_option
@click.option(
    "--limit", type=float, help="Bad beyond this value; needed where thresholds/ has no limit."
)
@click.option(
    "--boots",
    type=click.IntRange(1, 99),
    default=3,
    show_default=True,
    help="Boots; their median decides, of shares and counts the mean.",
)
@seed_option
@site_option
@answers
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
) -> int:
    """Build and boot REVISION and judge it against a limit.

    HEAD is that of the checkout in which you stand, as `git bisect run` calls it.

    Exit code 0: good; 1: bad; 125: cannot be tested; 128 and more: an error.
    """
    if limit is not None and not math.isfinite(limit):
        raise ConfigError(f"--limit {limit} is no limit", "give a number in the metric's unit")
    loaded = output.site(site)
    sha = resolve.one_revision(output.state, loaded, tree, revision, suite, metric)
    suite = suite or resolve.DEFAULT_SUITE
    if limit is None:
        resolve.check_limit(loaded, tree, suite, metric)
    request = CampaignRequest(
        kind=CampaignKind.TRY,
        site=str(loaded.path),
        tree=tree,
        older=sha,
        newer=sha,
        suite=suite,
        metric=metric,
        seed=seed,
        extra=Extra(boots=boots, limit=limit).pairs,
    )
    record = session.start(output.state, request, PlainProgress(), output.sites)
    return conclude(output, record)


def conclude(output: Output, record: CampaignRecord) -> int:
    """Print the verdict; gives the exit code for `git bisect run`."""
    result = record.result
    level = result.judgements[0].level if result and result.judgements else Level.UNDECIDED
    verdict, code = {Level.PASS: ("good", 0), Level.REGRESSED: ("bad", 1)}.get(
        level, ("skip", SKIP)
    )
    reason = result.reasons[0] if result and result.reasons else ""
    data = answer_of(output.store, record) | {"verdict": verdict, "reason": reason}
    output.answer(data, f"{data['bad'][:12]}: {verdict}: {reason}")
    return code
