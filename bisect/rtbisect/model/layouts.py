# SPDX-License-Identifier: GPL-2.0-or-later
"""What boots of one kernel in several code layouts tell of a host."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbisect.model.campaign import Threshold


class LayoutResult(StrEnum):
    """Whether the layout of the code matters to a figure."""

    #: Layouts differ, and by as much as counts as far as anybody can tell.
    MATTERS = "matters"
    #: They set no two builds as far apart as counts.
    NEGLIGIBLE = "negligible"
    UNDECIDED = "undecided"


class LayoutAdvice(StrEnum):
    """What a site should do."""

    #: Set `build.layout` to this, or leave it at that.
    RELINK = "relink"
    FIXED = "fixed"
    MORE_BOOTS = "more_boots"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutSpread:
    """How boots and layouts differ: standard deviations in the unit of the values."""

    layouts: int
    #: Number of boots of all layouts together.
    boots: int
    #: Standard deviation of boots of one layout; the second without what rounds add.
    boots_sd: float
    error_sd: float
    #: Standard deviation of layouts, and its 95% interval.
    layouts_sd: float
    low: float
    high: float
    #: P value: the probability that boots alone set layouts so far apart.
    p: float


@dataclass(frozen=True, slots=True)
class MoreBoots:
    """How many boots would tell."""

    layouts: int
    #: Number of boots of each layout.
    boots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutFigure:
    """A figure in boots of several layouts."""

    threshold: Threshold
    #: In its unit, of each layout in the order of its boots.
    values: tuple[tuple[float, ...], ...]
    #: The spread of its badness; None where too few boots have the figure.
    spread: LayoutSpread | None
    #: The smallest effect that counts, as badness.
    effect: float
    #: P value adjusted over the primary figures; None where the figure is not primary.
    p_adjusted: float | None
    #: None where the figure is not primary, or no boot tells it.
    result: LayoutResult | None
    #: Boots that would decide an UNDECIDED figure; None for others, and where nobody can tell.
    more: MoreBoots | None
