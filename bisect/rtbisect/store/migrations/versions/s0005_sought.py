# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests have another version, in which they say what is sought: equal ones are found by that.

The documents stay as they are, and are lifted when they are read. Their names stand here for good.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    campaign = sa.table("campaign", *map(sa.column, ("id", "request", "request_digest")))
    connection = op.get_bind()
    query = sa.select(campaign.c.id, campaign.c.request)
    for row in connection.execute(query).mappings().all():
        try:
            digest = _digest(json.loads(row["request"]))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            # No program can read it, and none asks the same.
            continue
        change = sa.update(campaign).where(campaign.c.id == row["id"])
        connection.execute(change.values(request_digest=digest))


def _digest(request: dict[str, Any]) -> str:
    sought, extra = "regression", []
    for name, value in request["extra"]:
        if name == "find_fix":
            sought = "repair"
            continue
        plain_value = value
        if name == "command":
            command = json.loads(value)
            if command.pop("find_fix", False):
                sought = "repair"
            plain_value = json.dumps(command)
        extra.append([name, plain_value])
    fields = {
        **{name: part for name, part in request.items() if name not in ("good", "bad", "repo")},
        "format": 2,
        "older": request["good"],
        "newer": request["bad"],
        "extra": extra,
        "sought": sought,
    }
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
