# SPDX-License-Identifier: GPL-2.0-or-later
"""What is asked of all campaigns, their mails and replies stands in columns with an index.

The documents are those of the versions up to this one: their names stand here for good.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_COLUMNS = ("request_digest", "culprit", "report_state", "message_id", "subject", "upstream")
_INDEXES = {
    "campaign": ("state", "ended_s", *_COLUMNS),
    "outbox": ("campaign", "state"),
    "reply": ("message_id", "sender", "at"),
    "session": ("campaign",),
}


def upgrade() -> None:
    for name in _COLUMNS:
        op.add_column("campaign", sa.Column(name, sa.Text, nullable=False, server_default=""))
    op.add_column("campaign", sa.Column("ended_s", sa.Float))
    # Of older campaigns it is counted from their steps when somebody asks for it.
    op.add_column("campaign", sa.Column("summary", sa.Text))
    op.execute(
        "UPDATE campaign SET ended_s = coalesce((SELECT max(finished_s) FROM step"
        " WHERE step.campaign = campaign.id), strftime('%s', created)) WHERE state = 'done'"
    )
    _fill()
    for table, names in _INDEXES.items():
        for name in names:
            op.create_index(f"ix_{table}_{name}", table, [name])


def _fill() -> None:
    documents = ("request", "result", "report")
    campaign = sa.table("campaign", *map(sa.column, ("id", *documents, *_COLUMNS)))
    connection = op.get_bind()
    # A report that was queued is told, even where a kill has left it a draft.
    queued = set(connection.execute(sa.text("SELECT campaign FROM outbox")).scalars())
    # One after the other: together they may be more than there is memory.
    for name in connection.execute(sa.select(campaign.c.id)).scalars().all():
        this = campaign.c.id == name
        row = connection.execute(sa.select(campaign).where(this)).mappings().one()
        columns = _columns(*(_document(row[part]) for part in documents), queued=name in queued)
        if columns:
            connection.execute(sa.update(campaign).where(this).values(**columns))


def _columns(
    request: dict[str, Any], result: dict[str, Any], report: dict[str, Any], *, queued: bool
) -> dict[str, str]:
    columns = {"request_digest": _digest(request)} if request else {}
    if result.get("culprit"):
        columns["culprit"] = str(result["culprit"])
    if report:
        columns["report_state"] = str(report.get("state", ""))
        columns["message_id"] = str(report.get("message_id", "")).strip("<>")
        if queued or columns["report_state"] != "draft":
            accused = _accused(report)
            columns["subject"] = str(accused.get("subject", ""))
            columns["upstream"] = str(accused.get("upstream", ""))
    return columns


def _digest(request: dict[str, Any]) -> str:
    fields = {name: value for name, value in request.items() if name != "repo"}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _accused(report: dict[str, Any]) -> dict[str, Any]:
    """The commit that a report is on, which the file beside it names."""
    try:
        text = (Path(str(report["path"])).parent / "input.json").read_text(encoding="utf-8")
    except (OSError, ValueError, KeyError):
        return {}
    culprit = _document(text).get("culprit")
    return culprit if isinstance(culprit, dict) else {}


def _document(text: str | None) -> dict[str, Any]:
    try:
        document = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
