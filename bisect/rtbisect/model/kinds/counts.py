# SPDX-License-Identifier: GPL-2.0-or-later
"""What counts of instructions say."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Counts(Kind):
    """A figure without noise is searched, or stands beside one with noise. Counts are plain
    numbers, and all shares are of the older one.
    """

    #: The tool that counts instructions: `perf stat` (`perf` in older campaigns) or valgrind.
    BY = "counts.by", "counter"
    #: Two runs of one revision have these counts; what follows of that.
    VARY = "counts.vary", "revision low high share"
    #: A revision has a count, and later runs of it have none; `why` is one of Untestable.
    ONCE = "counts.once", "revision why"
    #: Both ends execute as many instructions.
    ALIKE = "counts.alike", "older newer share"
    #: The newer end has fewer than the merge base, which stands for the older one.
    FEWER = "counts.fewer", "older newer share"
    #: A further part of the change lies among commits that cannot be measured.
    HIDDEN = "counts.hidden", "commits part"
    #: Of so many candidates (`commits`) so many are `left`.
    LEFT = "counts.left", "left commits"
    #: What a commit changes against a parent; `part` is that of the change between the ends.
    STEP = "counts.step", "sha parent before after share part"
    #: No commit makes more of the change between the ends than this part, which `sha` makes.
    SMALL_STEPS = "counts.small-steps", "sha part"

    #: Beside another figure: `newer` executes more or fewer, or as many, or counts vary too much to
    #: say. `change` of that figure as
    #: a share, between `low` and `high`; None where it has none. `spread` is that of two runs.
    BESIDE = "counts.beside", "older newer share spread metric change low high"
    SAME = "counts.same", "older newer share spread metric change low high"
    UNSURE = "counts.unsure", "older newer share spread metric change low high"
    #: A revision has no count.
    UNCOUNTED = "counts.uncounted", "revision why"


#: What counts say beside another figure.
BESIDE = (Counts.BESIDE, Counts.SAME, Counts.UNSURE, Counts.UNCOUNTED)
