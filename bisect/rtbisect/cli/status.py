# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect status`: the campaigns of this store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rtbisect.cli import runner
from rtbisect.cli.options import json_option
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import summary_of

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@click.command(epilog="Example: rtbisect status --json")
@json_option
@click.pass_obj
def status(output: Output, as_json: bool) -> int:
    """List campaigns with their state and costs."""
    store = CampaignStore(output.state)
    records = store.all()
    rows = [
        runner.answer_of(output, record)
        | {"state": record.state, "created": record.created, "note": record.note}
        for record in records
    ]
    lines = [
        runner.text_of(record, summary_of(store.database, record.id)) for record in records
    ] or ["no campaigns yet; `rtbisect demo` makes one"]
    output.answer({"campaigns": rows}, "\n".join(lines), as_json=as_json)
    return 0
