# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect report`: drafts that wait for a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect.cli.options import json_option
from rtbisect.errors import ConfigError
from rtbisect.store.campaigns import CampaignStore

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@click.group(no_args_is_help=False, epilog="Example: rtbisect report show demo-1")
def report() -> None:
    """Look at report drafts; nothing is mailed from here."""


@report.command(epilog="Example: rtbisect report show demo-1 --json")
@click.argument("campaign")
@json_option
@click.pass_obj
def show(output: Output, campaign: str, as_json: bool) -> int:
    """Print the draft of CAMPAIGN."""
    record = CampaignStore(output.state).get(campaign)
    if record.report is None:
        raise ConfigError(f"campaign {campaign} has no draft", "see `rtbisect status`")
    path = Path(record.report.path)
    try:
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "the draft was removed by hand") from error
    data = {
        "campaign": campaign,
        "state": record.report.state.value,
        "message_id": record.report.message_id,
        "path": record.report.path,
        "eml": text,
    }
    output.answer(data, text, as_json=as_json)
    return 0
