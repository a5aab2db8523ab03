# SPDX-License-Identifier: GPL-2.0-or-later
"""What the screen of a campaign shows while it runs."""

from __future__ import annotations

from enum import StrEnum

from rtbisect.model.finding import Kind


class Line(StrEnum):
    """The lines, from the top."""

    FIGURE = "figure"
    RANGE = "range"
    PROBABILITY = "probability"
    TESTED = "tested"
    LIKELIEST = "likeliest"
    LAST = "last"
    NOW = "now"
    WHY = "why"
    PROOF = "proof"
    GATES = "gates"
    TIME = "time"


class Shown(Kind):
    """A line of it each."""

    #: Medians of both ends so far, or shares of the boots that have it; `sure`: the ends are known
    #: to differ, and these say so, too.
    CHANGE = "shown.change", "metric before after unit share sure"
    #: So many of the candidates hold 95% of their probability; the likeliest of them, whose
    #: `subject` is foreign text.
    RANGE = "shown.range", "candidates holding"
    LIKELIEST = "shown.likeliest", "revision probability subject"
    #: What the last boot said, and what its revision is like by all boots: "older", "newer",
    #: "open", or "" where nobody knows yet.
    LAST = "shown.last", "purpose revision variant metric value unit like"
    #: The run, or the build, that is under way, and why.
    NEXT = "shown.next", "number total revision purpose"
    WHY = "shown.why", "purpose"
    BUILD = "shown.build", "revision variant"
    #: Nothing is under way: what the runs say is computed, and what comes next.
    PLANS = "shown.plans"
    #: Seconds since the session began.
    SPENT = "shown.spent", "wall_s"
    #: Seconds that are left: in the middle, and of four of five cases.
    LEFT = "shown.left", "wall_s low_s high_s"
    #: The same of a comparison of ends that are searched if they differ.
    LEFT_OF_ENDS = "shown.left_of_ends", "wall_s low_s high_s"
    #: Told in the place of LEFT when the expected time is over.
    OVERDUE = "shown.overdue"
    #: A check of the proof.
    PROOF = "shown.proof", "check status"
    #: Numbers of trust gates that passed, and of those with nothing to look at.
    GATES = "shown.gates", "passed absent"
