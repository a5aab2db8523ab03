# SPDX-License-Identifier: GPL-2.0-or-later
"""What the page of a campaign tells beside what its parts have found."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Opening(Kind):
    """What a page opens with. `middle` is what of the boots is compared, `base` and `new` are
    findings on one side each; an effect is one of `Told` with its 95% interval, None where the
    scale of the figure is not known.
    """

    SIDES = "page.sides", "metric window middle base new effect low high"
    SIDE = "page.opening-side", "name value unit boots"
    #: Of a figure that a boot has or has not.
    SEEN = "page.seen", "metric window base new"
    SEEN_IN = "page.seen-in", "name seen boots"
    ONE_SIDED = "page.one-sided", "metric window"
    NOTHING = "page.nothing"


class Pictured(Kind):
    """What a picture shows, for who does not see it."""

    #: The middle and the range of the boots of each `SIDE`.
    BOOTS = "page.boots", "metric unit log sides"
    SIDE = "page.side", "name boots middle value low high unit"
    #: The figure of boots by the place of their revision in the range; by their own order.
    HISTORY = "page.history", "metric boots revisions low high unit"
    ORDER = "page.order", "metric boots low high unit"


class NotTested(Kind):
    """What a campaign leaves open."""

    #: Behind this revision, or in other series.
    NEWER = "untested.newer", "revision"
    REVERT = "untested.revert"
    LAYOUT = "untested.layout"
    PRODUCTION = "untested.production"
    HARDWARE = "untested.hardware"
    #: Another machine than this one.
    OTHER_MACHINES = "untested.other-machines", "device"
    WITHOUT_RT = "untested.without-rt"
    SAME_KERNEL = "untested.same-kernel"
    #: What a revert brings back: the commit names nothing, and no campaign has found anything.
    BRINGS_BACK = "untested.brings-back"
