# SPDX-License-Identifier: GPL-2.0-or-later
"""Consecutive demos as a table, none dropped: how often is the answer the truth?

    .venv/bin/python tools/seed_table.py            ten seeds, the first from sha256 of HEAD
    .venv/bin/python tools/seed_table.py --first 7 --count 3

Nobody chooses the seeds: they follow from the commit under test. About ten minutes a seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path

from rtbisect.config import data_root, state_dir

ROW = "{seed:<12} {kind:<15} {outcome:<15} {cause:<18} {right:<6} {builds:>6} {boots:>5} {skipped:>7} {minutes:>7} {confidence:>10}"  # noqa: E501  (one row)


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
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--first", type=int, help="the first seed")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--state", type=Path)
    asked = parser.parse_args()
    first = first_seed(data_root()) if asked.first is None else asked.first
    heads = ("seed", "kind", "outcome", "cause", "right", "builds", "boots", "skipped")
    print(ROW.format(**{key: key for key in heads}, minutes="minutes", confidence="confidence"))
    wrong = 0
    for seed in range(first, first + asked.count):
        argv = [
            str(Path(sys.executable).with_name("rtbisect")), "--state", str(state_dir(asked.state)),
            "demo", "--seed", str(seed), "--json",
        ]  # fmt: skip
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
        print(row(seed, done.returncode, json.loads(done.stdout)), flush=True)
        wrong += done.returncode != 0
    print(f"{asked.count - wrong} of {asked.count} right")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
