# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect status`: the campaigns of this store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rtbisect.cli import result
from rtbisect.cli.options import json_option
from rtbisect.errors import InternalError
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
    active = store.active()
    found = [_row(output, store, name, running=name == active) for name in store.names()]
    lines = [line for _row, line in found] or ["no campaigns yet; `rtbisect demo` makes one"]
    output.answer({"campaigns": [row for row, _line in found]}, "\n".join(lines), as_json=as_json)
    return 0


def _row(
    output: Output, store: CampaignStore, name: str, *, running: bool
) -> tuple[dict[str, Any], str]:
    """A campaign for a program and for a person. One that another version made must not hide
    the others. Unfinished ones that no process works on are paused.
    """
    try:
        record = store.get(name)
        if record.state == "running" and not running:
            record = replace(record, state="paused")
        row = result.answer_of(output, record)
        line = result.text_of(record, summary_of(store.database, name))
    except InternalError as error:
        nothing = result.unreadable(name)
        extra = {"state": "unreadable", "created": "", "note": str(error)}
        return nothing | extra, f"{name}: unreadable: {error}"
    extra = {"state": record.state, "created": record.created, "note": record.note}
    return row | extra, line
