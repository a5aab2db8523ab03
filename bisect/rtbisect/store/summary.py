# SPDX-License-Identifier: GPL-2.0-or-later
"""The counts of a campaign, by one pure function for the demo, the status and the mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.campaign import Summary
from rtbisect.model.code import Build
from rtbisect.model.lab import Run, RunStatus

if TYPE_CHECKING:
    from collections.abc import Sequence


def summarise(steps: Sequence[tuple[Build | Run | None, float]], wall_s: float) -> Summary:
    """Builds that ran make, boots of any end, revisions skipped, seconds; of finished steps: their
    value when it is a build or a run, and their seconds.

    A revision counts as skipped when it did not build, or when none of its boots reached
    the suite.
    """
    builds = [(value, seconds) for value, seconds in steps if isinstance(value, Build)]
    runs = [(value, seconds) for value, seconds in steps if isinstance(value, Run)]
    failed = {build.revision for build, _ in builds if not build.ok}
    never = (RunStatus.BOOT_FAILED, RunStatus.SKIPPED)
    dead = {run.revision for run, _ in runs if run.status in never}
    alive = {run.revision for run, _ in runs if run.complete}
    return Summary(
        builds=sum(1 for build, _ in builds if not build.reused),
        boots=len(runs),
        skipped=len(failed | (dead - alive)),
        wall_s=round(wall_s, 1),
        build_s=round(sum(seconds for _, seconds in builds), 1),
        boot_s=round(sum(seconds for _, seconds in runs), 1),
    )
