# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a reply stands where it does is a finding; what was kept before is one that was said so."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    reply = sa.table("reply", *map(sa.column, ("key", "why")))
    connection = op.get_bind()
    query = sa.select(reply.c.key, reply.c.why).where(reply.c.why != "")
    for row in connection.execute(query).mappings().all():
        # The names stand here for good.
        finding = {"kind": "kept.as-said", "data": {"text": row["why"]}}
        change = sa.update(reply).where(reply.c.key == row["key"])
        connection.execute(change.values(why=json.dumps(finding)))
