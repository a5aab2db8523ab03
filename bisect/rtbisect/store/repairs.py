# SPDX-License-Identifier: GPL-2.0-or-later
"""What earlier campaigns of the same store have found out about a commit."""

from __future__ import annotations

import sqlalchemy as sa

from rtbisect.model.campaign import CampaignRequest, Result, Sought
from rtbisect.model.report import Repaired
from rtbisect.store import codec, db


def repaired_by(database: db.Database, commit: str) -> tuple[Repaired, ...]:
    """What campaigns that searched for a repair have proved this commit to repair, oldest first."""
    query = sa.select(db.campaign.c.id, db.campaign.c.request, db.campaign.c.result).where(
        db.campaign.c.state == "done", db.campaign.c.culprit == commit
    )
    repaired = []
    for row in database.found(query.order_by(sa.text("rowid"))):
        try:
            asked = codec.from_json(CampaignRequest, row["request"])
            judged = codec.from_json(Result, row["result"]).judgement
        except ValueError:
            # Made by another version: nothing is known of it.
            continue
        if asked.sought is Sought.REPAIR and judged is not None:
            repaired.append(
                Repaired(
                    campaign=row["id"],
                    metric=judged.key,
                    without=judged.base,
                    with_it=judged.new,
                    figure=judged.figure,
                    unit=judged.unit,
                )
            )
    return tuple(repaired)
