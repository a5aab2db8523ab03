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
    for row in database.fetch(query.order_by(sa.text("rowid"))):
        try:
            request = codec.from_json(CampaignRequest, row["request"])
            judgement = codec.from_json(Result, row["result"]).judgement
        except ValueError:
            # Made by another version: nothing is known of it.
            continue
        if request.sought is Sought.REPAIR and judgement is not None:
            repaired.append(
                Repaired(
                    campaign=row["id"],
                    metric=judgement.key,
                    without=judgement.base,
                    with_it=judgement.new,
                    figure=judgement.figure,
                    unit=judgement.unit,
                )
            )
    return tuple(repaired)
