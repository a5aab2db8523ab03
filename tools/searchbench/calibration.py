# SPDX-License-Identifier: GPL-2.0-or-later
"""What every arm is asked, and the look at the ends that every arm pays for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.campaign.plan import LOOKS_SHARE, limits_of
from rtbisect.config.schema import Campaign
from rtbisect.model.campaign import Better, Limits, MetricKey, Role, Scale, Statistic, Threshold
from rtbisect.search import engine
from rtbisect.search.spec import Finish, SearchSpec
from searchbench.simulate import events

if TYPE_CHECKING:
    from searchbench.world import World

THRESHOLD = Threshold(
    key=MetricKey("bench", "value", "run"),
    unit="sd",
    better=Better.LOWER,
    scale=Scale.LINEAR,
    statistic=Statistic.MEDIAN,
    min_effect=0.25,
    limit=None,
    floor=0.0,
    role=Role.PRIMARY,
    control=None,
    reason="",
)
COUNTS = replace(THRESHOLD, statistic=Statistic.COUNT, unit="1")
#: A budget that seldom ends a search.
AMPLE = Limits(max_boots=500, max_builds=200, looks_max=500 // LOOKS_SHARE)
#: What a site has that says nothing.
OF_SITE = limits_of(Campaign(), 0)
#: Boots a side that the last look has.
CALIBRATION = AMPLE.looks_max


def spec_of(world: World, limits: Limits = AMPLE) -> SearchSpec:
    cell = world.cell
    return SearchSpec(
        graph=world.graph,
        threshold=COUNTS if cell.kind == "count" else THRESHOLD,
        seed=world.seed,
        build_cost_s=cell.build_s,
        boot_cost_s=cell.boot_s + cell.run_s,
        layout_cost_s=cell.build_s,
        looks_max=limits.looks_max,
        max_boots=limits.max_boots,
        max_builds=limits.max_builds,
    )


def calibrated(world: World) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Boots of both ends by the looks of ours, for arms without looks of their own; None where the
    ends do not differ enough.
    """
    state = engine.start(spec_of(world))
    for _ in range(4 * CALIBRATION):
        first = engine.propose(state)[0]
        if state.ends.reproduced is not None or isinstance(first, Finish):
            break
        for event in events(state, world, first):
            state = engine.apply(state, event)
    world.calibration, world.reproduced = state.ends.used, bool(state.ends.reproduced)
    if not world.reproduced:
        return None
    graph, values = world.graph, state.ledger.values
    return values[graph.older], values[graph.newer]
