# SPDX-License-Identifier: GPL-2.0-or-later
"""The posterior over commits as text: a table for the mail, bars for the campaign log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.report.text import TABLE, bar, cut, foreign, many
from rtbisect.words.numbers import probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.code import CommitGraph


def top(
    candidates: Sequence[tuple[str, float]], count: int
) -> tuple[tuple[tuple[str, float], ...], int, float]:
    """The `count` likeliest commits, how many are left out, and their joint probability."""
    order = sorted(candidates, key=lambda pair: -pair[1])
    return tuple(order[:count]), len(order[count:]), sum(p for _, p in order[count:])


def rows(
    candidates: Sequence[tuple[str, float]], graph: CommitGraph, count: int = 5, width: int = 0
) -> tuple[str, ...]:
    """One line a commit: id, probability, a bar of `width` columns at most, subject; what is left
    beside `count` of them as one line.
    """
    subjects = {commit.sha: commit.subject for commit in graph.commits}
    shown, left, mass = top(candidates, count)
    lines = []
    for sha, value in shown:
        drawn = f"  {bar(value, width):<{width}}" if width else ""
        subject = foreign(subjects.get(sha, ""), 90)
        line = f"  {foreign(sha, 40)[:12]:<12}  {probability(value):>6}{drawn}  {subject}"
        lines.append(cut(line.rstrip(), TABLE))
    if left:
        lines.append(f"  {many(left, 'more commit')} with {probability(mass)} together")
    return tuple(lines)
