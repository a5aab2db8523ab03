# SPDX-License-Identifier: GPL-2.0-or-later
"""What two runs tell of a change: each on its own, one after the other, or at once on two CPUs.

    .venv/bin/python tools/bench_pairs.py --pairs 180 --longer 0.05
    .venv/bin/python tools/bench_pairs.py --pairs 180 --longer 0.05 --beside 6

A run is a loop in a process of its own, pinned to a CPU; that of the newer side has so much more to
do. A round has two runs one after the other on the first CPU, and two that begin at once, on two
CPUs (duet benchmarking: Bulej et al., 2020); sides change places at random. With --beside a process
without a CPU of its own spins and rests for so many seconds in the mean, as neighbours do.

How well a comparison tells the sides apart is how often the newer one takes longer, told as the
standard deviations of a normal difference that would have that chance: 0 for half of the pairs. Two
runs on their own are all runs of the one side against all of the other. A search compares them with
levels that it knows, which is worth twice as much: each of the two has the noise of one run then,
where their difference has that of both, and they are two.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Loops of the older side: some 30 ms.
LOOPS = 1_200_000
#: A run says that it is ready, waits for a line, and tells what its loop has taken.
_RUN = """
import sys, time
loops = range(int(sys.argv[1]))
print(flush=True)
sys.stdin.readline()
begin = time.perf_counter_ns()
for _ in loops:
    pass
print((time.perf_counter_ns() - begin) / 1e6)
"""
_BURSTS = """
import random, sys, time
draw = random.Random(int(sys.argv[2]))
while True:
    end = time.monotonic() + draw.expovariate(1 / float(sys.argv[1]))
    while time.monotonic() < end:
        pass
    time.sleep(draw.expovariate(1 / float(sys.argv[1])))
"""
#: Resamples of the interval.
_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Pairs:
    """Milliseconds of older and newer runs; those at one place are a pair."""

    older_ms: list[float] = field(default_factory=list)
    newer_ms: list[float] = field(default_factory=list)

    def add(self, older_ms: float, newer_ms: float) -> None:
        self.older_ms.append(older_ms)
        self.newer_ms.append(newer_ms)

    def of(self, places: Sequence[int]) -> Pairs:
        """The pairs at these places."""
        return Pairs(*([side[at] for at in places] for side in (self.older_ms, self.newer_ms)))


def worth_sd(pairs: Pairs, *, paired: bool) -> float:
    """What a comparison is worth, in standard deviations; of two runs on their own if not `paired`.

    Equal times count half; where all comparisons agree, one more is taken to disagree by half.
    """
    if paired:
        compared = list(zip(pairs.older_ms, pairs.newer_ms, strict=True))
    else:
        compared = [(older, newer) for older in pairs.older_ms for newer in pairs.newer_ms]
    longer = sum((newer > older) + (newer == older) / 2 for older, newer in compared)
    share = (longer + 0.5) / (len(compared) + 1)
    return statistics.NormalDist().inv_cdf(share)


def interval_sd(pairs: Pairs, *, paired: bool) -> tuple[float, float]:
    """The middle 95% of what pairs drawn with replacement are worth."""
    rng = random.Random(0)
    places = range(len(pairs.older_ms))
    worths = sorted(
        worth_sd(pairs.of(rng.choices(places, k=len(places))), paired=paired)
        for _ in range(_RESAMPLES if paired else _RESAMPLES // 10)
    )
    return worths[len(worths) // 40], worths[-1 - len(worths) // 40]


@contextmanager
def ready(loops: int, cpu: int) -> Iterator[subprocess.Popen[str]]:
    """A run that waits for its start on this CPU."""
    words = [sys.executable, "-I", "-c", _RUN, str(loops)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as run:
        os.sched_setaffinity(run.pid, {cpu})
        assert run.stdout is not None
        run.stdout.readline()
        yield run


def told_ms(*runs: subprocess.Popen[str]) -> list[float]:
    """Start all of them, and what each of them took."""
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("\n")
        run.stdin.flush()
    return [float(run.stdout.readline()) for run in runs if run.stdout is not None]


def measure(count: int, longer: float, cpus: tuple[int, int], seed: int) -> tuple[Pairs, Pairs]:
    """So many pairs one after the other, and as many at once."""
    rng = random.Random(seed)
    adjacent, duets = Pairs(), Pairs()
    loops = LOOPS, round(LOOPS * (1 + longer))
    for _ in range(count):
        sides, took = rng.sample((0, 1), 2), [0.0, 0.0]
        for side in sides:
            with ready(loops[side], cpus[0]) as run:
                (took[side],) = told_ms(run)
        adjacent.add(*took)
        with ExitStack() as stack:
            places = rng.sample(cpus, 2)
            runs = [stack.enter_context(ready(loops[side], places[side])) for side in (0, 1)]
            sides = rng.sample((0, 1), 2)
            times_ms = dict(zip(sides, told_ms(*(runs[side] for side in sides)), strict=True))
        duets.add(times_ms[0], times_ms[1])
    return adjacent, duets


def main(words: Sequence[str]) -> int:
    """Measure, and print a row."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=180, help="of each kind")
    parser.add_argument("--longer", type=float, default=0.05, help="share that the newer side adds")
    parser.add_argument("--beside", type=float, metavar="SECONDS", help="bursts of this length")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(words)
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        parser.error("a pair at once takes two CPUs, and this process may use one")
    begin = time.monotonic()
    with ExitStack() as stack:
        if asked.beside:
            argv = [sys.executable, "-I", "-c", _BURSTS, str(asked.beside), str(asked.seed)]
            beside = stack.enter_context(subprocess.Popen(argv))
            stack.callback(beside.kill)
        adjacent, duets = measure(asked.pairs, asked.longer, (cpus[0], cpus[1]), asked.seed)
    print(f"{asked.pairs} pairs of each kind, {time.monotonic() - begin:.0f} s")
    for name, pairs, paired in (
        ("on their own", adjacent, False),
        ("one after the other", adjacent, True),
        ("at once", duets, True),
    ):
        low, high = interval_sd(pairs, paired=paired)
        middle_ms = statistics.median(pairs.older_ms)
        worth = worth_sd(pairs, paired=paired)
        print(f"{name:20} {worth:.2f} ({low:.2f} to {high:.2f}), older side {middle_ms:.1f} ms")
        if not paired:
            print(f"{'in a search':20} {2 * worth:.2f} ({2 * low:.2f} to {2 * high:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
