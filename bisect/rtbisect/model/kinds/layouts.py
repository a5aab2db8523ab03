# SPDX-License-Identifier: GPL-2.0-or-later
"""What `rtbisect host layouts` finds."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Layouts(Kind):
    """Whether the layout of the code matters on a host. Of a figure, `spread` is `SPREAD` and `p`
    is adjusted.
    """

    #: Standard deviations, of layouts with its 95% interval, and what two builds differ by in 95 of
    #: 100 cases, with its largest value; in `unit`, or as shares of the figure.
    SPREAD = (
        "layouts.spread",
        "metric unit share layouts boots boots_sd layouts_sd low high differ differ_most effect",
    )
    MATTERS = "layouts.matters", "metric p spread"
    NEGLIGIBLE = "layouts.negligible", "metric p spread"
    #: So many layouts with so many boots each would tell; both None where nobody knows.
    UNDECIDED = "layouts.undecided", "metric p spread layouts boots"
    #: A figure that is not primary: its `p` is not adjusted for other figures.
    SHOWN = "layouts.shown", "metric p spread"
    #: Too few boots have the figure.
    TOO_FEW = "layouts.too-few", "metric"

    #: Under way: boot `number` of layout `layout`.
    BOOT = "layouts.boot", "layout layouts number boots"
    #: That boot does not count; `why` is a finding, or what the lab said.
    LEFT_OUT = "layouts.left-out", "layout number why"
    #: Of `of` boots in all `kept` are there from a call that was interrupted.
    GOES_ON = "layouts.goes-on", "kept of"
    #: This call was interrupted after `kept` of `of` boots.
    INTERRUPTED = "layouts.interrupted", "kept of"

    #: Advice for the site: build.layout relink, build.layout fixed, or more boots.
    RELINK = "layouts.relink"
    FIXED = "layouts.fixed"
    MORE_BOOTS = "layouts.more-boots", "layouts boots"
    #: Told beside the advice: what an emulator has none of makes no difference there.
    EMULATED = "layouts.emulated", "device"

    #: What its picture shows, for who does not see it.
    PICTURE = "layouts.picture", "metric layouts boots low high unit"
