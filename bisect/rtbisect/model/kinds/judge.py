# SPDX-License-Identifier: GPL-2.0-or-later
"""What judgements, causes and gates find."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Told(Kind):
    """Effects of a judgement, and what a comparison of two samples says."""

    #: new/base.
    RATIO = "effect.ratio", "ratio"
    #: new - base.
    DIFFERENCE = "effect.difference", "difference unit"


class Figures(Kind):
    """What of a boot the ends differ in, where it is not the figure itself."""

    SPREAD = "figure.spread"
    #: Medians are equal, and means are not.
    MEAN = "figure.mean"
    #: One of the watched CPUs beside the others, by its number from 1.
    ONE_CPU = "figure.one-cpu", "number"
