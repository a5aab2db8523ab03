# SPDX-License-Identifier: GPL-2.0-or-later
"""What several hosts that differ in level and scale cost a search, and whether it states the truth.

    .venv/bin/python tools/bench_hosts.py --trials 30 --out hosts.jsonl
    .venv/bin/python tools/bench_hosts.py --report --out hosts.jsonl

The search alone, without a proof, on a line of 200 commits. Trials are kept one a line and never
run twice. `told` are hosts whose levels somebody has taken out: with as many boots at a time.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from unittest import mock

from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from searchbench.calibration import spec_of
from searchbench.histories import history
from searchbench.hosts import HostWorld
from searchbench.simulate import rehearse
from searchbench.world import Cell, World, world

HOSTS = ((1, "ours"), (3, "ours"), (5, "ours"), (3, "told"), (5, "told"))
EFFECTS = (2.0, 1.0)


def trial(ancestry: Ancestry, effect: float, hosts: int, arm: str, number: int) -> dict[str, Any]:
    """One search."""
    cell = Cell(name=f"hosts-{effect:g}", history="linear-200", effect=effect)
    one_host = world(cell, ancestry, number)
    here = HostWorld(
        **{each.name: getattr(one_host, each.name) for each in fields(World)},
        hosts=hosts,
        levelled=arm == "told",
    )
    begin = time.process_time()
    # What the answer says of kernels that it does not explain is not a part of what is measured.
    with mock.patch("rtbisect.search.engine.contradictions", return_value=()):
        state, finish = rehearse(replace(spec_of(here), layout_cost_s=None), here, hosts=hosts)
        answer = engine.answer(state)
    return {
        "effect": effect, "hosts": hosts, "arm": arm, "trial": number,
        "outcome": finish.outcome.value, "right": answer.culprit in here.truth,
        "confidence": answer.confidence, "boots": here.boots, "ends": 2 * state.ends.used,
        "cpu_s": time.process_time() - begin,
    }  # fmt: skip


def report(rows: list[dict[str, Any]]) -> None:
    """A line for each cell."""
    print("effect hosts arm     n right wrong open stated named boots ends  cpu")
    for effect in EFFECTS:
        for hosts, arm in HOSTS:
            cell = (effect, hosts, arm)
            found = [r for r in rows if (r["effect"], r["hosts"], r["arm"]) == cell]
            if not found:
                continue
            named = [r for r in found if r["outcome"] == "culprit"]
            right, n = sum(r["right"] for r in named), max(1, len(named))
            wrong, open_ = len(named) - right, len(found) - len(named)
            stated = sum(r["confidence"] for r in named) / n
            boots, ends, cpu_s = (
                sum(r[name] for r in found) / len(found) for name in ("boots", "ends", "cpu_s")
            )
            print(
                f"{effect:>6g} {hosts:>5} {arm:<5} {len(found):>3} {right:>5} {wrong:>5}"
                f" {open_:>4} {stated:>6.3f} {right / n:>5.3f}"
                f" {boots:>5.0f} {ends:>4.0f} {cpu_s:>4.1f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("bench-hosts.jsonl"))
    parser.add_argument("--report", action="store_true")
    asked = parser.parse_args()
    lines = asked.out.read_text(encoding="utf-8").splitlines() if asked.out.exists() else []
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    done = {(r["effect"], r["hosts"], r["arm"], r["trial"]) for r in rows}
    ancestry = Ancestry(history("linear-200"))
    with asked.out.open("a", encoding="utf-8") as out:
        for number in range(asked.first, asked.first + asked.trials * (not asked.report)):
            for cell in ((effect, *hosts, number) for effect in EFFECTS for hosts in HOSTS):
                if cell not in done:
                    rows.append(trial(ancestry, *cell))
                    out.write(json.dumps(rows[-1]) + "\n")
                    out.flush()
    report(rows)


if __name__ == "__main__":
    main()
