# SPDX-License-Identifier: GPL-2.0-or-later
"""Consecutive demos as a table, none dropped: how often is the answer the truth?

    .venv/bin/python tools/seed_table.py            ten seeds, the first from sha256 of HEAD
    .venv/bin/python tools/seed_table.py --first 7 --count 3
    .venv/bin/python tools/seed_table.py --cases stall-fix epoll-spinlock:3    named cases

Nobody chooses the seeds: they follow from the commit under test. About ten minutes a seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path

from rtbisect.config.paths import state_dir

ROOT = Path(__file__).resolve().parents[1]
ROW = "{seed:<12} {kind:<15} {outcome:<15} {cause:<18} {right:<6} {builds:>6} {boots:>5} {skipped:>7} {minutes:>7} {confidence:>10} {draft:<6} {commit}"  # noqa: E501  (one row)


def first_seed(checkout: Path) -> int:
    """The first 8 hexadecimal digits of sha256 over the full name of HEAD."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return int(hashlib.sha256(done.stdout.strip().encode()).hexdigest()[:8], 16)


def row(seed: int, code: int, answer: dict[str, object]) -> str:
    if "error" in answer:
        return f"{seed:<12} error, exit {code}: {answer['error']}"
    wall_s, sure = answer["wall_s"], answer["confidence"]
    assert isinstance(wall_s, float)
    return ROW.format(
        **{key: answer[key] for key in ("kind", "outcome", "cause", "builds", "boots", "skipped")},
        seed=seed,
        right="right" if answer["correct"] and code == 0 else "WRONG",
        minutes=f"{wall_s / 60:.1f}",
        confidence="-" if sure is None else f"{sure:.3f}",
        draft="draft" if answer["report"] else "none",
        commit=str(answer["culprit"] or "-")[:12],
    )


def runs(cases: list[str], first: int, count: int) -> list[tuple[int, list[str]]]:
    """Seeds and what is asked with each: demos, or the cases in their order (NAME:3: three seeds).
    Every case begins with the first seed, so that cases of one commit share a history.
    """
    if not cases:
        return [(first + n, ["demo"]) for n in range(count)]
    found = []
    for each in cases:
        name, _, number = each.partition(":")
        found += [(first + n, ["case", name]) for n in range(int(number or 1))]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--first", type=int, help="the first seed")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--cases", nargs="+", default=[], metavar="NAME[:COUNT]")
    parser.add_argument("--state", type=Path)
    asked = parser.parse_args()
    first = first_seed(ROOT) if asked.first is None else asked.first
    heads = ("seed", "kind", "outcome", "cause", "right", "builds", "boots", "skipped")
    print(ROW.format(**{key: key for key in heads}, minutes="minutes",
        confidence="confidence", draft="mail", commit="commit"))  # fmt: skip
    wrong = 0
    wanted = runs(asked.cases, first, asked.count)
    for seed, words in wanted:
        argv = [
            str(Path(sys.executable).with_name("rtbisect")), "--state", str(state_dir(asked.state)),
            *words, "--seed", str(seed), "--json",
        ]  # fmt: skip
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
        print(row(seed, done.returncode, json.loads(done.stdout)), flush=True)
        wrong += done.returncode != 0
    print(f"{len(wanted) - wrong} of {len(wanted)} right")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
