# SPDX-License-Identifier: GPL-2.0-or-later
"""How far do boots of one kernel differ, and which gates trip without a reason?

    rtbisect try REVISION --tree demo --suite ipi --metric res_per_iwi@pf-on --limit 1 --boots 20
    tools/aa_table.py CAMPAIGN

Every complete boot of the campaigns named counts for the kernel that it booted. The first table has
a row a figure: the median, the range, and the ratio of the 90% and the 10% quantile. A figure whose
ratio stays below the smallest effect of its threshold can be trusted under these conditions; the
last column is the ratio that two medians of six boots each exceed in one of a hundred draws (both
drawn from these boots, with replacement). The second table has the boots that a gate refused, and
how often the gates of a campaign trip on two halves of the boots, taken at random a hundred times
(G10 with the second half worse by the smallest effect that counts).
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recorded_boots import asked_for
from rtbisect.config.thresholds import load_thresholds
from rtbisect.judge.boots import Boots
from rtbisect.judge.gates import aa
from rtbisect.judge.gates.campaign_gates import GateInput, examine
from rtbisect.lab.windows import ALL_WINDOWS
from rtbisect.model.campaign import Better, MetricKey, Role, Scale
from rtbisect.model.result import GateName
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.model.lab import Run

ROOT = Path(__file__).resolve().parents[1]
ROW = "{:<42} {:>8} {:>3} {:>9} {:>9} {:>9} {:>7} {:>7} {:>8}"
#: Draws of two halves, and of two samples of BOOTS boots.
HALVES, DRAWS, BOOTS = 100, 10_000, 6


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def ratio(high: float, low: float, floor: float) -> float:
    return (high + floor) / (low + floor) if low + floor > 0 else math.inf


def by_luck(values: Sequence[float], floor: float, seed: int = 1) -> float:
    """The ratio of two medians of BOOTS boots that luck alone exceeds in 1% of the draws."""
    rng = random.Random(seed)
    found = []
    for _ in range(DRAWS):
        one, two = (statistics.median(rng.choices(values, k=BOOTS)) for _ in range(2))
        found.append(ratio(max(one, two), min(one, two), floor))
    return quantile(found, 0.99)


def figures(runs: Sequence[Run]) -> dict[MetricKey, tuple[str, list[float]]]:
    found: dict[MetricKey, tuple[str, list[float]]] = {}
    for run in runs:
        for m in run.measurements:
            if m.cpu is None:
                key = MetricKey(m.suite, m.name, m.window)
                found.setdefault(key, (m.unit, []))[1].append(m.value)
    return found


def spread(runs: Sequence[Run], limits: dict[MetricKey, Threshold]) -> None:
    heads = ("figure", "unit", "n", "median", "least", "most", "q90/q10", "by luck", "role")
    print(ROW.format(*heads))
    for key, (unit, values) in sorted(figures(runs).items(), key=lambda item: str(item[0])):
        limit = limits.get(key)
        floor = limit.floor if limit else 0.0
        numbers = (statistics.median(values), min(values), max(values))
        ratios = (
            ratio(quantile(values, 0.9), quantile(values, 0.1), floor),
            by_luck(values, floor),
        )
        print(
            ROW.format(
                str(key), unit, len(values), *(f"{n:.4g}" for n in numbers),
                *(f"{r:.2f}" for r in ratios), limit.role if limit else "-",
            )
        )  # fmt: skip


def changed(
    limit: Threshold, sides: tuple[Sequence[Run], Sequence[Run]]
) -> tuple[list[float], list[float]]:
    """The figures of both halves, the second one worse by the smallest effect that counts: the gate
    A/A asks how far a culprit is from its parent.
    """
    one, two = (Boots(tuple(side)).sample(limit.key) for side in sides)
    sign = 1 if limit.better is Better.LOWER else -1
    if limit.scale is Scale.LOG:
        worse = [(v + limit.floor) * limit.min_effect**sign - limit.floor for v in two.values]
    else:
        worse = [v + sign * limit.min_effect for v in two.values]
    return one, replace(two, values=tuple(worse))


def trips(runs: Sequence[Run], limits: Sequence[Threshold]) -> None:
    """Gates of a campaign on halves of boots of one kernel, for each primary metric."""
    rng = random.Random(1)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for limit in limits:
        if limit.role is not Role.PRIMARY:
            continue
        for _ in range(HALVES):
            mixed = rng.sample(list(runs), len(runs))
            half = len(mixed) // 2
            sides = tuple(mixed[:half]), tuple(mixed[half:])
            what = GateInput(
                threshold=limit,
                windows=ALL_WINDOWS,
                emulated=False,
                parent=Boots(tuple(sides[0])),
                culprit=Boots(tuple(sides[1])),
            )
            for gate in examine(what):
                if gate.name != GateName.SAME_KERNEL:
                    found[gate.name][gate.status.value] += 1
            gate = aa.same_kernel(limit, *changed(limit, sides))
            found[gate.name][gate.status.value] += 1
    print(f"\n{'gate':<16} {'pass':>6} {'fail':>6} {'n/a':>6}")
    for name, counts in sorted(found.items()):
        print(f"{name:<16} " + " ".join(f"{counts[s]:>6}" for s in ("pass", "fail", "n/a")))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    kernels: dict[str, list[Run]] = defaultdict(list)
    for run in asked_for(parser)[1]:
        if not run.layout:
            kernels[run.revision].append(run)
    for revision, runs in kernels.items():
        complete = [run for run in runs if run.complete]
        if len(complete) < BOOTS:
            continue
        print(f"\n{revision[:12]}: {len(runs)} boots, {len(complete)} complete")
        for reason, count in Counter(r.reason for r in runs if not r.complete).items():
            print(f"  {count} refused: {speak(reason) if reason else ''}")
        suites = tuple(sorted({m.suite for run in complete for m in run.measurements}))
        limits = load_thresholds(ROOT / "thresholds", suites)
        spread(complete, {limit.key: limit for limit in limits})
        trips(complete, limits)
    return 0


if __name__ == "__main__":
    sys.exit(main())
