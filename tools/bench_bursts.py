# SPDX-License-Identifier: GPL-2.0-or-later
"""What do bursts of a shared machine do to the looks at the ends, and what is a pair of runs worth?

    .venv/bin/python tools/bench_bursts.py --looks 2000    how often equal ends look different
    .venv/bin/python tools/bench_bursts.py --pairs 40000   bits a run, alone and next to another

On machines as in the cells bursts-* of tools/search_cells.json.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import TYPE_CHECKING

import numpy as np

from searchbench import tables
from searchbench.bursts import Bursty, BurstyWorld, stretch
from searchbench.calibration import calibrated

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Floats

MACHINES = ("", "a", "b", "c", "simulated")
#: The ends differ by so many standard deviations.
EFFECTS = (0.0, 1.0, 3.0)
#: Something to have two ends.
HISTORY = "linear-16"
#: Of the densities that are compared: between which values, in how many steps.
_REACH, _STEPS = (-40.0, 60.0), 400


def look(machine: str, effect: float, number: int) -> tuple[bool, int]:
    """Whether the looks see the ends differ, and how many runs a side they take."""
    rng = random.Random(f"looks/{number}")
    cell = Bursty(name="looks", history=HISTORY, effect=effect, boot=0.3, machine=machine)
    ancestry = tables.ancestry(HISTORY)
    culprits = (rng.randrange(ancestry.size),) if effect else ()
    world = BurstyWorld(
        cell, ancestry, rng.randrange(2**32), culprits, layout=False, broken=frozenset()
    )
    calibrated(world)
    return world.reproduced, world.calibration


def series(machine: str, runs: int, seed: int) -> Floats:
    """Runs of one revision, one after the other, in standard deviations of a quiet run."""
    rng = np.random.default_rng([seed, 9])
    noise = rng.standard_t(3, runs) / 3**0.5
    added: list[float] = []
    while machine and len(added) < runs:
        added += stretch(machine, [seed, len(added), 8, 1])
    return noise + (np.array(added[:runs]) if machine else 0.0)


def bits(good: Floats, bad: Floats) -> float:
    """What one observation tells of two equally likely sides, by histograms."""
    edges = np.linspace(*_REACH, _STEPS + 1)
    counts = [np.histogram(np.clip(y, *_REACH), edges)[0] + 1e-9 for y in (good, bad)]
    one, two = (c / c.sum() for c in counts)
    both = (one + two) / 2
    return float(sum((p * np.log2(p / both)).sum() for p in (one, two)) / 2)


def pair_worth(machine: str, effect: float, runs: int) -> tuple[float, float]:
    """Bits a run: of a run whose side is asked, alone; and of it less the reference run next to it,
    which costs a run, too.
    """
    y = series(machine, 2 * runs, 1)
    alone = bits(y, y + effect)
    less = y[0::2] - y[1::2]
    return alone, bits(less, less + effect) / 2


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--looks", type=int, default=0, metavar="TRIALS")
    parser.add_argument("--pairs", type=int, default=0, metavar="RUNS")
    asked = parser.parse_args()
    for machine in MACHINES:
        for effect in EFFECTS:
            cells = [f"{machine or 'quiet':10} {effect:4.1f}"]
            if asked.looks:
                seen = [look(machine, effect, number) for number in range(asked.looks)]
                hits = sum(differ for differ, _ in seen)
                low, high = tables.wilson(hits, asked.looks)
                runs = sum(boots for _, boots in seen) / asked.looks
                cells.append(f"differ {hits / asked.looks:.4f} [{low:.4f}, {high:.4f}]")
                cells.append(f"{runs:5.1f} runs a side")
            if asked.pairs and effect:
                alone, pair = pair_worth(machine, effect, asked.pairs)
                cells.append(f"bits a run: alone {alone:.3f}, in pairs {pair:.3f}")
            if len(cells) > 1:
                print("  ".join(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
