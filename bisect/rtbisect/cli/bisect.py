# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect bisect`: find the commit between a good and a bad revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rtbisect.campaign import resolve, session
from rtbisect.cli import result
from rtbisect.cli.options import (
    bad_option,
    find_fix_option,
    good_option,
    json_option,
    metric_option,
    seed_option,
    site_option,
    site_path,
    suite_option,
)
from rtbisect.cli.output import PlainProgress
from rtbisect.model.campaign import CampaignKind, CampaignRequest, Sought
from rtbisect.model.command import Extra

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.cli.output import Output


@click.command(
    epilog="Example: rtbisect bisect stable-rt_6.12 --good v6.12.53 --bad v6.12.54 --suite ipi"
)
@click.argument("tree")
@good_option
@bad_option
@suite_option
@metric_option
@find_fix_option
@seed_option
@site_option
@json_option
@click.pass_obj
def bisect(
    output: Output,
    tree: str,
    good: str,
    bad: str,
    suite: str | None,
    metric: str | None,
    find_fix: bool,
    seed: int,
    site: Path | None,
) -> int:
    """Find the commit between --good and --bad in TREE, prove it, and draft the mail.

    Without --suite all suites are compared first and the one that regressed is searched. With
    --find-fix the commit is searched that made things better again. Where the older end is no
    ancestor of the newer one their merge base takes its place, and that is said.
    Exit code 0: answered (see `outcome`); 4: inconclusive.
    """
    loaded = output.sites.at(site_path(site))
    sought = Sought.REPAIR if find_fix else Sought.REGRESSION
    older, newer, given = resolve.ends_of_tree(
        output.state, loaded, tree, *sought.ends(good, bad), suite, metric
    )
    request = CampaignRequest(
        kind=CampaignKind.BISECT,
        site=str(loaded.path),
        tree=tree,
        older=older,
        newer=newer,
        suite=suite,
        metric=metric,
        seed=seed,
        extra=Extra(given=given).pairs,
        sought=sought,
    )
    record = session.start(output.state, request, PlainProgress(), output.sites)
    result.show(output, record)
    return result.exit_of(record.result)
