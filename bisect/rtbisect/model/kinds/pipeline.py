# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign tells and what its answer rests on."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Reasons(Kind):
    """Reasons of a result that repeat something of it: mails tell that elsewhere."""

    JUDGED = "reason.judged", "metric level why"
    OBJECTION = "reason.objection", "gate why"
