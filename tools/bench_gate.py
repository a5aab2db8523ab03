# SPDX-License-Identifier: GPL-2.0-or-later
"""How often does a decision about boots say "different" of two samples of one kernel?

    make bench-gate                                  10,000 A/A resamples for each decision
    .venv/bin/python tools/bench_gate.py --trials 500

Each trial draws two samples with replacement from the recorded boots of one kernel and lets the
program decide as it does in a campaign, with its whole schedule of looks. The smallest effect
that counts is left out, so that luck alone is measured; with it the rates are smaller still.
The nominal rate is printed beside the measured one with its interval.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rtbisect.judge.scale import badness
from rtbisect.judge.stats import median
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import (
    Better,
    Level,
    MetricKey,
    Observation,
    Role,
    Sample,
    Scale,
    Statistic,
    Threshold,
)
from rtbisect.model.lab import RunStatus
from rtbisect.pipeline import compare
from rtbisect.pipeline.proof import most_boots
from rtbisect.search import verification
from rtbisect.search.calibrate import EndBoots, LookRule, decide, looks
from rtbisect.search.events import Booted
from rtbisect.search.likelihood.features import views
from rtbisect.search.verify_spec import VerifySpec
from searchbench.tables import wilson
from searchbench.world import POOL

if TYPE_CHECKING:
    from collections.abc import Callable


class Figure(NamedTuple):
    """A column of the pool for one kernel, and the scale that its threshold has."""

    name: str
    kernel: str
    scale: Scale


FIGURES = (
    Figure("res_per_s_on", "rwlock", Scale.LOG),
    Figure("res_per_s_on", "spinlock", Scale.LOG),
    Figure("res_per_s_off", "rwlock", Scale.LOG),
    Figure("rcu_p50_us", "rwlock", Scale.LINEAR),
    Figure("osnoise_noise_us_off", "spinlock", Scale.LOG),
)
FIRST, LAST, LONG = 6, 10, 40
CPUS = 3
ALPHA = 0.01
BATCH = 250


def threshold(scale: Scale) -> Threshold:
    """A threshold without a smallest effect."""
    return Threshold(
        key=MetricKey("pool", "figure", "w"),
        unit="",
        better=Better.LOWER,
        scale=scale,
        statistic=Statistic.MEDIAN,
        min_effect=1.0 if scale is Scale.LOG else 0.0,
        limit=None,
        floor=0.5,
        role=Role.PRIMARY,
        control=None,
        reason="",
    )


def look_rule(schedule: tuple[int, ...]) -> LookRule:
    """All looks, also those that promise little: no rule that ends them makes luck likelier."""
    return LookRule(
        looks=schedule,
        always=schedule[-1],
        floor=0.0,
        alpha=ALPHA / len(schedule),
        seed=0,
        mean=False,
    )


def gate(rule: Threshold, one: list[float], two: list[float], last: int) -> bool:
    """The search takes a difference of the ends for reproduced."""
    schedule = looks(FIRST, last)
    found = look_rule(schedule)
    return bool(decide(_end(rule, one), _end(rule, two), found).reproduced)


def gate_of_cpus(rule: Threshold, one: list[float], two: list[float]) -> bool:
    """The same with a look at each of three CPUs, whose figures are boots of their own here."""
    schedule = looks(FIRST, LAST)
    found = look_rule(schedule)

    def seen(values: list[float]) -> EndBoots:
        cpus = [tuple(values[CPUS * k : CPUS * (k + 1)]) for k in range(LAST)]
        boots = [Observation(value=median(each), per_cpu=each) for each in cpus]
        return EndBoots(tuple(views(rule, boot) for boot in boots))

    return bool(decide(seen(one), seen(two), found).reproduced)


def gate_of_hosts(
    rule: Threshold, one: list[float], two: list[float], hosts: int, last: int
) -> bool:
    """The search on several hosts, each of which adds more than boots differ by."""
    schedule = looks(FIRST, last)
    found = look_rule(schedule)
    ends = [[badness(rule, value) for value in values[:last]] for values in (one, two)]
    apart = max(map(max, ends)) - min(map(min, ends))

    def seen(values: list[float], first: int) -> EndBoots:
        names = [(first + number) % hosts for number, _ in enumerate(values)]
        added = zip(values, names, strict=True)
        return EndBoots(
            tuple((value + apart * name,) for value, name in added), tuple(map(str, names))
        )

    # The ends do not meet all hosts equally often.
    return bool(decide(seen(ends[0], 0), seen(ends[1], 1), found).reproduced)


def compared(rule: Threshold, one: list[float], two: list[float]) -> bool:
    """`check` calls the tip regressed."""
    for boots in (FIRST, LAST):
        base, new = Sample(tuple(one[:boots])), Sample(tuple(two[:boots]))
        found = judge(rule, base, new, alpha=compare.ALPHA / compare.LOOKS)
        if found.level is Level.REGRESSED:
            return True
    return False


def verified(rule: Threshold, one: list[float], two: list[float]) -> bool:
    """A commit passes as worse than its parent on fresh boots."""
    most = most_boots(LAST)
    state = verification.start(
        VerifySpec(
            culprit="c",
            parents=("p",),
            threshold=rule,
            seed=0,
            revert=None,
            tip="t",
            boots_max=most,
        )
    )
    left = {"p": list(one), "c": list(two)}
    while isinstance(step := verification.propose(state), verification.Boot):
        seen = Observation(value=left[step.revision].pop(0))
        event = Booted(
            revision=step.revision,
            status=RunStatus.COMPLETE,
            observation=seen,
            seconds=1.0,
        )
        state = verification.apply(state, event)
    return verification.confirmed(state)


def _end(rule: Threshold, values: list[float]) -> EndBoots:
    return EndBoots(tuple((badness(rule, value),) for value in values))


DECISIONS: dict[str, Callable[[Threshold, list[float], list[float]], bool]] = {
    f"search gate, {FIRST} to {LAST} boots": partial(gate, last=LAST),
    f"search gate, {FIRST} to {LONG} boots": partial(gate, last=LONG),
    f"search gate, {CPUS} CPUs": gate_of_cpus,
    "search gate, 3 hosts": partial(gate_of_hosts, hosts=3, last=LAST),
    "search gate, 5 hosts": partial(gate_of_hosts, hosts=5, last=LAST),
    "check: regressed": compared,
    "culprit vs parent": verified,
}


def pool(figure: Figure) -> list[float]:
    with POOL.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["lock"] == figure.kernel]
    return [float(row[figure.name]) for row in rows]


def batch(decision: str, figure: Figure, seed: int, count: int) -> int:
    """How many of `count` A/A trials are called different."""
    draw = random.Random(f"{decision}/{figure.name}/{figure.kernel}/{seed}")
    boots, rule = pool(figure), threshold(figure.scale)
    return sum(
        DECISIONS[decision](rule, draw.choices(boots, k=LONG), draw.choices(boots, k=LONG))
        for _ in range(count)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    print(f"{'decision':<30} {'figure':<22} {'kernel':<9} {'false':>6} {'rate':>8}  interval")
    each, worst = asked.trials // len(FIGURES), 0
    with ProcessPoolExecutor(asked.jobs) as workers:
        for decision in DECISIONS:
            total = 0
            for figure in FIGURES:
                sizes = [min(BATCH, each - at) for at in range(0, each, BATCH)]
                hits = sum(workers.map(partial(batch, decision, figure), range(len(sizes)), sizes))
                total += hits
                say(decision, figure.name, figure.kernel, hits, each)
            say(decision, "all", "", total, each * len(FIGURES))
            worst += wilson(total, each * len(FIGURES))[0] > ALPHA
    print(f"nominal {ALPHA}; surely above it: {worst} of {len(DECISIONS)}")
    return int(worst > 0)


def say(decision: str, figure: str, kernel: str, hits: int, count: int) -> None:
    low, high = wilson(hits, count)
    print(
        f"{decision:<30} {figure:<22} {kernel:<9} {hits:>6} {hits / count:>8.4f}"
        f"  [{low:.4f}, {high:.4f}]",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
