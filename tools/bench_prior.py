# SPDX-License-Identifier: GPL-2.0-or-later
"""What is luck among ranges that pass a comparison of several figures, stated and measured.

    .venv/bin/python tools/bench_prior.py --none 30000 --worse 600

A range has m figures with normal noise; in one with a regression one of them is worse, by 0.75 to 3
standard deviations. The comparison looks as `check` does, and the worst figure goes to the search:
its posterior by these boots is what is stated.
"""

from __future__ import annotations

import argparse
import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.judge import stats
from rtbisect.model.campaign import Observation
from rtbisect.model.lab import RunStatus
from rtbisect.pipeline.compare import ALPHA, LOOKS
from rtbisect.search import engine
from rtbisect.search.calibrate import Calibration
from rtbisect.search.events import Booted
from rtbisect.search.posterior import posterior
from rtbisect.search.prior import BASE_NONE, CHECKED_NONE, POWER, of_worst
from rtbisect.search.spec import SearchSpec
from searchbench.calibration import THRESHOLD
from searchbench.histories import history

if TYPE_CHECKING:
    import numpy.typing as npt

FIGURES = (1, 4, 16)
#: Of a comparison.
MOST = 10
EFFECTS = (0.75, 3.0)
GRAPH = history("linear-100")


@dataclass(frozen=True)
class Passed:
    """A range that passed: p after Holm, and the odds of "no regression" that the boots leave of
    even ones.
    """

    p: float
    odds: float


@cache
def p_of(boots: int, rank_sum: int) -> float:
    """Exact and one-sided, of values without ties."""
    ways = np.zeros((boots + 1, boots * boots + 1))
    ways[0, 0] = 1
    for rank in range(1, 2 * boots + 1):
        for chosen in range(min(rank, boots), 0, -1):
            if (step := rank - chosen) <= boots * boots:
                ways[chosen, step:] += ways[chosen - 1, : boots * boots + 1 - step]
    tail = ways[boots, rank_sum - boots * (boots + 1) // 2 :].sum()
    return float(tail / ways[boots].sum())


def looks(figures: int) -> tuple[int, int]:
    """Boots a side at both, as `first_looks` has them."""
    asked = ALPHA / LOOKS
    fewest = next(n for n in itertools.count(6) if figures * stats.smallest_p(n, n) <= asked)
    return fewest, MOST


def compared(good: npt.NDArray[np.float64], bad: npt.NDArray[np.float64]) -> Passed | None:
    """What passes a look at figures (m, boots) of both ends."""
    for boots in looks(len(good)):
        ranks = np.concatenate([good[:, :boots], bad[:, :boots]], axis=1).argsort(1).argsort(1) + 1
        p = np.array([p_of(boots, int(each)) for each in ranks[:, boots:].sum(axis=1)])
        shift = np.median(bad[:, :boots], axis=1) - np.median(good[:, :boots], axis=1)
        p[shift < THRESHOLD.min_effect] = 1.0
        if len(p) * p.min() <= ALPHA / LOOKS:
            # Of several with one p that of the largest shift: here all scatter alike.
            worst = int(np.lexsort((-shift, p))[0])
            return Passed(float(len(p) * p.min()), odds(good[worst, :boots], bad[worst, :boots]))
    return None


def odds(good: npt.NDArray[np.float64], bad: npt.NDArray[np.float64]) -> float:
    """Those of "no regression" in a search that begins with these boots and even odds."""
    spec = SearchSpec(graph=GRAPH, threshold=THRESHOLD, seed=0, prior_none=0.5)
    state = engine.start(spec)
    for end, values in ((GRAPH.older, good), (GRAPH.newer, bad)):
        for value in values.tolist():
            seen = Observation(value=value)
            boot = Booted(revision=end, status=RunStatus.COMPLETE, observation=seen, seconds=1.0)
            state = engine.apply(state, boot)
    sides = (tuple(good.tolist()), tuple(bad.tolist()))
    ends = Calibration(reproduced=True, p=0.0, shift=1.0, values=sides)
    none = posterior(spec, state.ledger, ends, state.ancestry).none
    return none / (1 - none)


def ranges(figures: int, count: int, seed: int, *, worse: bool) -> list[Passed]:
    """Those of so many ranges that pass."""
    rng = np.random.default_rng([seed, figures, worse])
    passed = []
    for _ in range(count):
        good, bad = rng.standard_normal((2, figures, MOST))
        if worse:
            low, high = map(math.log, EFFECTS)
            bad[rng.integers(figures)] += math.exp(rng.uniform(low, high))
        if found := compared(good, bad):
            passed.append(found)
    return passed


def stated(found: list[Passed], prior: float) -> float:
    """The mean probability of "no regression" that searches of these begin with."""
    each = [prior / (1 - prior) * one.odds for one in found]
    return float(np.mean([ratio / (1 + ratio) for ratio in each])) if each else 0.0


def by_check(found: list[Passed]) -> float:
    """The same by the p of a check alone, for luck; see `prior.after_check`."""
    each = [CHECKED_NONE / (1 - CHECKED_NONE) * LOOKS * one.p / POWER for one in found]
    return float(np.mean([ratio / (1 + ratio) for ratio in each])) if each else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--none", type=int, default=3000, help="ranges without a regression")
    parser.add_argument("--worse", type=int, default=200, help="ranges with one")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("figures  pass: none worse   measured  stated at 0.2  stated   check: measured  stated")
    for figures in FIGURES:
        none = ranges(figures, asked.none, asked.seed, worse=False)
        worse = ranges(figures, asked.worse, asked.seed, worse=True)
        luck, power = len(none) / asked.none, len(worse) / asked.worse

        def share(base: float, luck: float = luck, power: float = power) -> float:
            return base * luck / max(1e-9, base * luck + (1 - base) * power)

        of_luck, of_check = share(BASE_NONE), share(CHECKED_NONE)
        said = [
            of_luck * stated(none, prior) + (1 - of_luck) * stated(worse, prior)
            for prior in (BASE_NONE, of_worst(BASE_NONE, figures))
        ]
        checked = of_check * by_check(none) + (1 - of_check) * by_check(worse)
        print(
            f"{figures:>7} {luck:>11.4f} {power:>5.2f} {of_luck:>10.4f} {said[0]:>14.4f}"
            f" {said[1]:>7.4f} {of_check:>17.3f} {checked:>7.3f}"
        )


if __name__ == "__main__":
    main()
