# SPDX-License-Identifier: GPL-2.0-or-later
"""How a try to deliver a mail ended, and why recipients were refused, are findings; what was kept
before is one that was said so.
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    outbox = sa.table("outbox", *map(sa.column, ("message_id", "answer", "refused")))
    connection = op.get_bind()
    told = sa.or_(outbox.c.answer != "", outbox.c.refused != "[]")
    for row in connection.execute(sa.select(outbox).where(told)).mappings().all():
        answer = json.dumps(_as_said(row["answer"])) if row["answer"] else ""
        refused = json.dumps([_as_said(each) for each in json.loads(row["refused"])])
        change = sa.update(outbox).where(outbox.c.message_id == row["message_id"])
        connection.execute(change.values(answer=answer, refused=refused))


def _as_said(text: str) -> dict[str, object]:
    # The names stand here for good.
    return {"kind": "kept.as-said", "data": {"text": text}}
