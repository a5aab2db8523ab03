# SPDX-License-Identifier: GPL-2.0-or-later
"""What every arm is asked, and the look at the ends that every arm pays for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Better, MetricKey, Role, Scale, Statistic, Threshold
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
#: Boots a side that the last look has.
CALIBRATION = 64
MAX_BOOTS = 500


def spec_of(world: World, **changes: object) -> SearchSpec:
    cell = world.cell
    spec = SearchSpec(
        graph=world.graph,
        threshold=COUNTS if cell.kind == "count" else THRESHOLD,
        seed=world.seed,
        build_cost_s=cell.build_s,
        boot_cost_s=cell.boot_s + cell.run_s,
        layout_cost_s=cell.build_s,
        calibrate_max=CALIBRATION,
        max_boots=MAX_BOOTS,
        max_builds=200,
    )
    return replace(spec, **changes)  # type: ignore[arg-type]


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
