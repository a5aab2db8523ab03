# SPDX-License-Identifier: GPL-2.0-or-later
"""The right answer of a demo history. One file; only the comparison at the end opens it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from rtbisect.errors import ConfigError
from rtbisect.model.campaign import Cause, Outcome
from rtbisect_labkit.demo.cases import CASES


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The right answer; all commits are full shas."""

    kind: str
    seed: int
    #: Number of commits of the history, merges included.
    commits: int
    hard: bool
    good: str
    bad: str
    #: The planted culprit; None where nothing was planted.
    culprit: str | None
    #: Commits that cannot be told apart, the culprit among them.
    culprit_set: tuple[str, ...]
    build_failures: tuple[str, ...]
    boot_failures: tuple[str, ...]


def save(path: Path, truth: Truth) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(truth), indent=2) + "\n", "utf-8")


def load(path: Path) -> Truth:
    """ConfigError when the file is missing or is none of ours."""
    try:
        row = json.loads(path.read_text("utf-8"))
        lists = ("culprit_set", "build_failures", "boot_failures")
        return Truth(**row | {name: tuple(row[name]) for name in lists})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(
            f"{path} is no truth file of a demo history: {error}", "make the history again"
        ) from error


def matches(
    truth: Truth,
    outcome: Outcome | str,
    culprit: str | None,
    cause: Cause | str,
    candidates: Collection[str] = (),
) -> bool:
    """True when the answer of a campaign is the right one: outcome, culprit and cause.

    A hard history has a set as its answer: one that holds the culprit and nothing from
    outside the stretch that does not build.
    """
    if truth.culprit is None:
        return outcome in {Outcome.NO_REGRESSION, Outcome.NOT_REPRODUCED, Outcome.NOOP}
    if truth.hard:
        answered = set(candidates)
        inside = truth.culprit in answered and answered <= set(truth.culprit_set)
        return outcome == Outcome.CULPRIT_SET and inside
    named = outcome == Outcome.CULPRIT and culprit == truth.culprit
    return named and truth.kind in CASES and cause == CASES[truth.kind].cause
