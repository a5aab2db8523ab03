# SPDX-License-Identifier: GPL-2.0-or-later
"""What the page of a campaign tells beside what its parts have found."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Pictured(Kind):
    """What a picture shows, for who does not see it."""

    #: The middle and the range of the boots of each `SIDE`, or of how many boots.
    BOOTS = "page.boots", "metric unit log sides"
    SIDE = "page.side", "name boots middle value low high unit"
    #: The same of what a boot has or has not: how many have it.
    SIDE_OF_BOOTS = "page.side-of-boots", "name seen boots"
    #: The figure of boots by the place of their revision in the range; by their own order.
    HISTORY = "page.history", "metric boots revisions low high unit"
    ORDER = "page.order", "metric boots low high unit"
    #: The middles of what so many campaigns measured, this one with them.
    EARLIER = "page.earlier", "metric campaigns low high unit"


class Headed(Kind):
    """Heads of a page."""

    #: An `Outcome`; a `Cause`.
    ANSWER = "page.answer", "outcome"
    CAUSE = "page.cause", "cause"
