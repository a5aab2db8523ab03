# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the trials that have run."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.stats import beta, binomtest

from rtbisect.model.campaign import Outcome
from rtbisect.search.ancestry import Ancestry
from searchbench import git_arms
from searchbench.bounds import bounds
from searchbench.histories import history
from searchbench.scoring import NOTHING
from searchbench.strange import Strange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from searchbench.world import Cell

#: A row of a file of trials: the fields of `arms.Row`.
Trial: TypeAlias = dict[str, Any]
NAMED = ("culprit", "culprit_set", "multiple_culprits")
#: What is wrong of a range with one step: a commit that is not it, or that there is none such.
ANSWERED = (*NAMED, Outcome.GRADUAL.value)
#: From so many named on a cell is judged by itself: with fewer no bound below 2 points is possible.
MANY = 300
#: Arms that are compared with each other, trial by trial.
PAIRS = (("ours-proved", "oracle-proved"), ("ours", "oracle"))
ROW = "{cell:<20} {arm:<18} {n:>4} {right:>5} {wilson:>13} {strict:>6} {ceiling:>7} {sets:>8} {wrong:>5} {open:>4} {none:>4} {false:>6} {runs:>5} {builds:>6} {hours:>6} {cpu:>5}"  # noqa: E501  (one row)
RELIABLE = "{cell:<20} {arm:<18} {named:>5} {sets:>4} {stated:>7} {right:>6} {wilson:>13} {over:>7}"


@lru_cache(maxsize=4)
def ancestry(name: str) -> Ancestry:
    return Ancestry(history(name))


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Interval of a share (Wilson 1927)."""
    if not count:
        return 0.0, 1.0
    interval = binomtest(hits, count).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def overstated_at_most(stated: float, hits: int, count: int) -> float:
    """One-sided 95% bound of stated minus right (Clopper and Pearson 1934)."""
    return stated - (float(beta.ppf(0.05, hits, count - hits + 1)) if hits else 0.0)


def as_few_right(stated: Sequence[float], hits: int) -> float:
    """The chance that at most so many are right, were every stated probability true."""
    chances = np.ones(1)
    for p in stated:
        chances = np.convolve(chances, (1 - p, p))
    return float(min(1.0, chances[: hits + 1].sum()))


def mean(values: Iterable[float]) -> float:
    held = list(values)
    return sum(held) / len(held) if held else math.nan


def grouped(rows: list[Trial], order: list[str], arms: Iterable[str]) -> dict[Any, list[Trial]]:
    """Rows by cell and arm, in the order in which these are listed."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["cell"], row["arm"]].append(row)
    known, places = list(arms), {name: i for i, name in enumerate(order)}

    def place(key: tuple[str, str]) -> tuple[int, str, int]:
        cell, arm = key
        return places.get(cell, len(places)), cell, known.index(arm)

    return {key: groups[key] for key in sorted(groups, key=place)}


def answers(groups: dict[Any, list[Trial]]) -> None:
    """How often each arm is right in each cell, and what it costs."""
    heads = (
        "cell arm n right wilson strict ceiling sets wrong open none false runs builds hours cpu"
    )
    print(ROW.format(**{head: head for head in heads.split()}))
    for (cell, arm), found in groups.items():
        there = [r for r in found if r["has_culprit"]]
        without = [r for r in found if not r["has_culprit"]]
        right = sum(r["right"] for r in there)
        low, high = wilson(right, len(there))
        sets = [r for r in there if r["outcome"] == "culprit_set"]
        size = f"*{mean(r['size'] for r in sets):.1f}" if sets and sets[0]["size"] else ""
        blamed = sum(r["outcome"] in NAMED for r in without)
        # Of the ranges without a culprit only those count that looked like a regression.
        print(ROW.format(
            cell=cell, arm=arm, n=len(found), right=f"{right / max(1, len(there)):.3f}",
            wilson=f"[{low:.3f},{high:.3f}]", strict=f"{mean(r['strict'] for r in there):.3f}",
            ceiling=f"{mean(r['nameable'] for r in there):.3f}", sets=f"{len(sets)}{size}",
            wrong=sum(r["outcome"] in ANSWERED and not r["right"] for r in there),
            open=sum(r["outcome"] == "inconclusive" for r in there),
            none=sum(r["outcome"] in NOTHING for r in there),
            false=f"{blamed}/{sum(r['reproduced'] for r in without)}",
            runs=f"{mean(r['boots'] for r in found):.0f}",
            builds=f"{mean(r['builds'] for r in found):.1f}",
            hours=f"{mean(r['hours'] for r in found):.1f}",
            cpu=f"{mean(r['cpu_s'] for r in found):.1f}",
        ))  # fmt: skip


def reliability(groups: dict[Any, list[Trial]]) -> None:
    """Stated against measured confidence of what is named, by cell; cells with few of it together,
    in one test of the sum of stated minus right. `git bisect` states nothing.
    """
    print(
        "\nstated against measured, of what is named; `over`: stated is too high by at most (95%)"
    )
    heads = "cell arm named sets stated right wilson over"
    print(RELIABLE.format(**{head: head for head in heads.split()}))
    small: dict[str, list[Trial]] = defaultdict(list)
    for (cell, arm), found in groups.items():
        named = [r for r in found if r["outcome"] in NAMED]
        if not named or arm in git_arms.ARMS:
            continue
        hits, stated = sum(r["right"] for r in named), mean(r["confidence"] for r in named)
        low, high = wilson(hits, len(named))
        over = "-"
        if len(named) < MANY:
            small[arm] += named
        else:
            over = f"{overstated_at_most(stated, hits, len(named)):.3f}"
        print(RELIABLE.format(
            cell=cell, arm=arm, named=len(named), stated=f"{stated:.3f}",
            sets=sum(r["outcome"] == "culprit_set" for r in named),
            right=f"{hits / len(named):.3f}", wilson=f"[{low:.3f},{high:.3f}]", over=over,
        ))  # fmt: skip
    if small:
        print(f"\ncells with fewer than {MANY} named, together; p: that as few are right by luck")
    for arm, named in small.items():
        stated_all, hits = [r["confidence"] for r in named], sum(r["right"] for r in named)
        lacking = sum(stated_all) - hits
        p = as_few_right(stated_all, hits)
        print(f"  {arm:<18} {len(named):>5} named  stated minus right {lacking:+.2f}  p {p:.3f}")


#: Kinds of ranges whose cost is told apart.
RANGES: dict[str, Callable[[Trial], bool]] = {
    "culprit": lambda r: r["has_culprit"] and r["reproduced"],
    "culprit, not seen": lambda r: r["has_culprit"] and not r["reproduced"],
    "none, passes the looks": lambda r: not r["has_culprit"] and r["reproduced"],
    "none, turned away": lambda r: not r["has_culprit"] and not r["reproduced"],
}


def against_oracle(groups: dict[Any, list[Trial]]) -> None:
    """Hours beside those of the oracle, on the trials that both have, by kind of range."""
    cells = dict.fromkeys(cell for cell, _ in groups)
    lines = [
        f"  {cell:<20} {one:<12} {kind:<23} {said}"
        for one, other in PAIRS
        for cell in cells
        for kind, is_kind in RANGES.items()
        if (said := _ratio(groups.get((cell, one), []), groups.get((cell, other), []), is_kind))
    ]
    if lines:
        print(
            "\nhours against the oracle, on the same trials; interval of the ratio",
            *lines,
            sep="\n",
        )


def _ratio(mine: list[Trial], theirs: list[Trial], is_kind: Callable[[Trial], bool]) -> str:
    """Mean hours of two arms on the trials of a kind that both have; "" where there is none."""
    other = {r["trial"]: r["hours"] for r in theirs}
    both = [(r["hours"], other[r["trial"]]) for r in mine if r["trial"] in other and is_kind(r)]
    if not both:
        return ""
    hours = np.array(both)
    one, two = hours.mean(axis=0)
    low, high = _ratio_interval(hours)
    return f"n={len(both):<4} {one:.1f} {two:.1f}  ratio {one / two:.2f} [{low:.2f},{high:.2f}]"


def _ratio_interval(pairs: Any) -> tuple[float, float]:
    """95% interval of the ratio of two means, by a bootstrap over trials."""
    picks = np.random.default_rng(1).integers(len(pairs), size=(2000, len(pairs)))
    means = pairs[picks].mean(axis=1)
    low, high = np.quantile(means[:, 0] / means[:, 1], (0.025, 0.975))
    return float(low), float(high)


def limits(rows: list[Trial], cells: list[Cell]) -> None:
    """Boots after the calibration beside what theory allows."""
    print("\nboots without the calibration, and the least that theory allows (error 0.05)")
    shown = {r["cell"] for r in rows}
    for cell in cells:
        known = cell.kind == "location" and not cell.pool and not isinstance(cell, Strange)
        if cell.name not in shown or not known:
            continue
        found = [r for r in rows if r["cell"] == cell.name and r["has_culprit"] and r["reproduced"]]
        least = bounds(cell, ancestry(cell.history).size)
        means = {
            arm: mean(r["boots"] - 2 * r["calibration"] for r in found if r["arm"] == arm)
            for arm in ("ours", "oracle")
        }
        said = "  ".join(f"{arm} {boots:.0f}" for arm, boots in means.items() if boots == boots)  # noqa: PLR0124  (not nan)
        print(
            f"  {cell.name:<20} Fano {least.fano:.0f}  Burnashev {least.burnashev:.0f}  {said}"
            f"  ({least.capacity:.3f} bits a boot)"
        )
