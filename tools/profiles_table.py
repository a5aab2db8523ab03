# SPDX-License-Identifier: GPL-2.0-or-later
"""Noise of one kernel under several profiles of the host: averages with their range, and each CPU.

    rtbisect try REV --tree demo --suite osnoise --metric irq_per_sample@osnoise-off --limit 9
    tools/profiles_table.py CAMPAIGN ...

One campaign for each profile (`profile` of a test plan in the site file). The first table has a
row a profile: how much of the CPU's time noise took, in percent, as the mean over CPUs and boots
between the least and the most of a CPU in a boot, on a logarithmic bar. The second has a row a CPU:
in how many of its boots the noise lay in each decade. By default it is the noise that the kernel
itself makes (interrupts, softirqs and threads); `--all` counts all that the tracer saw, which on
an emulated or virtual CPU is mostly the host's.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from recorded_boots import asked_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbisect.model.lab import Run

WIDTH = 40
#: Decades of percent that the bar and the histogram reach over.
LOWEST, HIGHEST = -4, 2


def shares(runs: Sequence[Run], window: str, *, everything: bool) -> dict[int, list[float]]:
    """Percent of the time that noise took, by CPU, one value a boot."""
    found: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        for m in run.measurements:
            if (m.suite, m.window) != ("osnoise", window) or m.cpu is None:
                continue
            if everything and m.name == "avail_percent":
                found[m.cpu].append(100 - m.value)
            elif not everything and m.name == "own_noise_us_per_s":
                found[m.cpu].append(m.value / 1e4)
    return found


def place(percent: float) -> int:
    """Where a value stands on the bar."""
    log = math.log10(max(percent, 10.0**LOWEST))
    share = (log - LOWEST) / (HIGHEST - LOWEST)
    return min(WIDTH - 1, max(0, round(share * (WIDTH - 1))))


def bar(values: Sequence[float]) -> str:
    marks = [" "] * WIDTH
    low, high = place(min(values)), place(max(values))
    marks[low : high + 1] = "-" * (high + 1 - low)
    marks[low] = marks[high] = "|"
    marks[place(sum(values) / len(values))] = "*"
    return "".join(marks)


def averages(profiles: Mapping[str, Mapping[int, Sequence[float]]]) -> None:
    scale = f"1e{LOWEST}%".ljust(WIDTH - 5) + "100%"
    print(f"{'profile':<20} {'boots':>5} {'mean %':>9} {'least':>9} {'most':>9}  {scale}")
    for name, cpus in profiles.items():
        values = [value for each in cpus.values() for value in each]
        boots = max(len(each) for each in cpus.values())
        numbers = (sum(values) / len(values), min(values), max(values))
        row = " ".join(f"{n:>9.4g}" for n in numbers)
        print(f"{name:<20} {boots:>5} {row}  {bar(values)}")


def histogram(profiles: Mapping[str, Mapping[int, Sequence[float]]]) -> None:
    decades = range(LOWEST, HIGHEST)
    heads = " ".join(f"<1e{decade + 1}%".rjust(7) for decade in decades)
    print(f"\n{'profile':<20} {'CPU':>4}  {heads}")
    for name, cpus in profiles.items():
        for cpu, values in sorted(cpus.items()):
            counts = Counter(
                min(HIGHEST - 1, max(LOWEST, math.floor(math.log10(value))))
                if value > 0
                else LOWEST
                for value in values
            )
            row = " ".join(("#" * counts[decade]).rjust(7) for decade in decades)
            print(f"{name:<20} {cpu:>4}  {row}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--window", default="osnoise-off")
    parser.add_argument("--all", action="store_true", help="all noise, also the host's")
    asked, boots = asked_for(parser)
    runs: dict[str, list[Run]] = defaultdict(list)
    for run in boots:
        if run.complete:
            runs[dict(run.facts).get("profile", "?")].append(run)
    found = {name: shares(each, asked.window, everything=asked.all) for name, each in runs.items()}
    found = {name: cpus for name, cpus in found.items() if cpus}
    if not found:
        print("no complete boot of these campaigns has figures of osnoise", file=sys.stderr)
        return 1
    averages(found)
    histogram(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
