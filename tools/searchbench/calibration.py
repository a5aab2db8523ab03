# SPDX-License-Identifier: GPL-2.0-or-later
"""What every arm is asked, and the look at the ends that every arm pays for."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.campaign.assemble import command_limits
from rtbisect.campaign.plan import LOOKS_SHARE, limits_of
from rtbisect.config.schema import Campaign
from rtbisect.model.campaign import Better, Limits, MetricKey, Role, Scale, Statistic, Threshold
from rtbisect.model.command import GROWN_RUNS, SMALLEST_SHARE, CommandRequest
from rtbisect.search import engine
from rtbisect.search.spec import Finish, SearchSpec
from searchbench.simulate import events

if TYPE_CHECKING:
    from searchbench.world import Cell, World

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
FAILS = replace(THRESHOLD, statistic=Statistic.FRACTION, unit="share", min_effect=SMALLEST_SHARE)
#: A budget that seldom ends a search.
AMPLE = Limits(max_boots=500, max_builds=200, looks_max=500 // LOOKS_SHARE)
#: What a site has that says nothing.
OF_SITE = limits_of(Campaign(), 0)
#: What `rtbisect run` has.
OF_RUN = command_limits(CommandRequest(argv=("./bench",), grows_to=GROWN_RUNS))
#: What `rtbisect run --pass-fail` has.
PASS_FAIL = command_limits(CommandRequest(argv=("./test",), pass_fail=True, grows_to=GROWN_RUNS))
#: Boots a side that the last look has.
CALIBRATION = AMPLE.looks_max


def ample(cell: Cell) -> Limits:
    """A budget that seldom ends a search; of a flaky test, what a user has who says nothing."""
    return PASS_FAIL if cell.kind == "fails" else AMPLE


def spec_of(world: World, limits: Limits | None = None) -> SearchSpec:
    cell = world.cell
    limits = limits or ample(cell)
    return SearchSpec(
        graph=world.graph,
        threshold={"count": COUNTS, "fails": FAILS}.get(cell.kind, THRESHOLD),
        seed=world.seed,
        build_cost_s=cell.build_s,
        boot_cost_s=cell.boot_s + cell.run_s,
        layout_cost_s=None if cell.kind == "fails" else cell.build_s,
        # A share of the good level, which is 0 in these worlds: always, or never.
        layout_below=math.inf if limits.layout_below else 0.0,
        calibrate_max=limits.calibrate_max,
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
