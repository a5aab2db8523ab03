# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect resume`: go on with an interrupted campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rtbisect.campaign import session
from rtbisect.cli import check, result, tryrev
from rtbisect.cli.options import json_option
from rtbisect.cli.output import PlainProgress
from rtbisect.model.campaign import CampaignKind
from rtbisect.process import plugins

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@click.command(epilog="Example: rtbisect resume bisect-3")
@click.argument("campaign", required=False)
@json_option
@click.pass_obj
def resume(output: Output, campaign: str | None) -> int:
    """Go on with CAMPAIGN, or with the newest unfinished one.

    What was measured before the interruption is kept; only the step that was in flight is
    done again. The exit code is that of the command that started the campaign.
    """
    record = session.go_on(output.state, campaign, PlainProgress(), output.sites)
    if record.kind == CampaignKind.CHECK:
        return check.conclude(output, record)
    if record.kind == CampaignKind.TRY:
        return tryrev.conclude(output, record)
    for entry in plugins.plugins(plugins.CAMPAIGNS):
        if record.kind == entry.name:
            return int(plugins.load(entry)(output, record))
    result.show(output, record)
    return result.exit_of(record.result)
