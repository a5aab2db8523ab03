# SPDX-License-Identifier: GPL-2.0-or-later
"""What do bursts of a shared machine do to the looks at the ends, and what is a run worth?

    .venv/bin/python tools/bench_bursts.py --looks 2000    how often equal ends look different
    .venv/bin/python tools/bench_bursts.py --worth 100000  bits of a run, alone and in pairs

On machines as in the cells bursts-* of tools/search_cells.json.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.model.campaign import Observation
from rtbisect.model.lab import RunStatus
from rtbisect.search.calibrate import calibration_of
from rtbisect.search.events import Booted
from rtbisect.search.ledger import Ledger
from rtbisect.search.parts import WHOLE_MODEL, Parts
from searchbench import tables
from searchbench.bursts import MADE, Bursty, BurstyWorld, stretch
from searchbench.calibration import OF_SITE, spec_of

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Floats
    from rtbisect.search.events import Event

MACHINES = ("", "a", "b", "c", *MADE)
#: The ends differ by so many standard deviations.
EFFECTS = (0.0, 1.0, 3.0)
#: Something to have two ends.
HISTORY = "linear-16"
#: Of the densities that are compared: between which values, in how many steps.
_REACH, _STEPS = (-40.0, 60.0), 400
#: What a machine adds to a run in a burst, at least.
BURST = 4.0
#: One run in so many is of a known revision; so many of these tell the level, each bounded, and
#: shrunk as if so many more had shown none.
CONTROLS, FEW, CLIP, SHRINK = 4, 8, 2.5, 2.5


def look(machine: str, effect: float, number: int, parts: Parts = WHOLE_MODEL) -> tuple[bool, int]:
    """Whether the looks see the ends differ, and how many runs a side they take."""
    rng = random.Random(f"looks/{number}")
    cell = Bursty(name="looks", history=HISTORY, effect=effect, boot=0.3, machine=machine)
    ancestry = tables.ancestry(HISTORY)
    culprits = (rng.randrange(ancestry.size),) if effect else ()
    world = BurstyWorld(
        cell, ancestry, rng.randrange(2**32), culprits, layout=False, broken=frozenset()
    )
    spec = replace(spec_of(world, OF_SITE), parts=parts)
    heard: list[Event] = []
    for turn in range(OF_SITE.looks_max):
        ends = world.graph.older, world.graph.newer
        for sha in ends if turn % 2 == 0 else reversed(ends):
            seen = Observation(value=world.values(sha, 1)[0])
            heard.append(
                Booted(revision=sha, status=RunStatus.COMPLETE, observation=seen, seconds=0.0)
            )
    ends_say = calibration_of(spec, Ledger(spec.threshold, tuple(heard)))
    return bool(ends_say.reproduced), ends_say.used


def series(machine: str, runs: int, seed: int) -> tuple[Floats, Floats]:
    """Runs of one revision, one after the other, in standard deviations of a quiet run, and what
    of them the machine adds.
    """
    rng = np.random.default_rng([seed, 9])
    added: list[float] = [] if machine else [0.0] * runs
    while len(added) < runs:
        added += stretch(machine, [seed, len(added), 8, 1])
    level = np.array(added[:runs])
    return level + rng.standard_t(3, runs) / 3**0.5, level


def bits(good: Floats, bad: Floats) -> float:
    """What one observation tells of two equally likely sides, by histograms."""
    edges = np.linspace(*_REACH, _STEPS + 1)
    counts = [np.histogram(np.clip(y, *_REACH), edges)[0] + 1e-9 for y in (good, bad)]
    one, two = (c / c.sum() for c in counts)
    both = (one + two) / 2
    return float(sum((p * np.log2(p / both)).sum() for p in (one, two)) / 2)


def worths(machine: str, effect: float, runs: int) -> dict[str, float]:
    """Bits a run, disturbed ones included: of all runs; of calm ones, as they are, less the mean of
    the last FEW controls, which are one run in CONTROLS, and less the level of the machine, which
    nobody knows; of a run less the reference run next to it, which costs a run, too.
    """
    y, level = series(machine, runs, 1)
    less = y[0::2] - y[1::2]
    calm = level <= BURST
    quiet, share = y[calm], float(calm.mean())
    last = np.convolve(np.clip(quiet[::CONTROLS], -CLIP, CLIP), np.ones(FEW) / (FEW + SHRINK))
    known = np.concatenate([[0.0], last[: quiet[::CONTROLS].size - 1]])
    found = {
        "all runs": (y, 1.0),
        "calm runs": (quiet, share),
        "less controls": (quiet - np.repeat(known, CONTROLS)[: quiet.size], share),
        "less the level": (quiet - level[calm], share),
        "adjacent pair": (less, 0.5),
    }
    return {name: share * bits(values, values + effect) for name, (values, share) in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--looks", type=int, default=0, metavar="TRIALS")
    parser.add_argument("--worth", type=int, default=0, metavar="RUNS")
    parser.add_argument("--as-calm", action="store_true", help="as if no run was disturbed")
    asked = parser.parse_args()
    parts = Parts(disturbed=not asked.as_calm)
    for machine in MACHINES:
        for effect in EFFECTS:
            cells = [f"{machine or 'quiet':10} {effect:4.1f}"]
            if asked.looks:
                seen = [look(machine, effect, number, parts) for number in range(asked.looks)]
                hits = sum(differ for differ, _ in seen)
                low, high = tables.wilson(hits, asked.looks)
                runs = sum(boots for _, boots in seen) / asked.looks
                cells.append(f"differ {hits / asked.looks:.4f} [{low:.4f}, {high:.4f}]")
                cells.append(f"{runs:5.1f} runs a side")
            if asked.worth and effect:
                found = worths(machine, effect, asked.worth)
                cells += [f"{name} {worth:.3f}" for name, worth in found.items()]
            if len(cells) > 1:
                print("  ".join(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
