# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of a mail that somebody else runs to see the same."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rtbisect.report.text import TABLE, ascii_line, cut, foreign, short

if TYPE_CHECKING:
    from rtbisect.model.report import ReportInput


def reproduce(report: ReportInput) -> tuple[str, ...]:
    """Shell lines; a long one is continued with a backslash, never wrapped."""
    commit = report.culprit.sha if report.culprit else report.newer
    return (
        cut(f"  # in a clone of {_source(report)}", TABLE),
        f"  git checkout {ascii_line(shlex.quote(commit), 60)}",
        "  # or all of it, in a lab with a site file of its own",
        *_continued(foreign(report.command, 500)),
    )


def boots_alone(report: ReportInput) -> tuple[str, ...]:
    """How somebody without our lab boots the commit and its parent, from the published data."""
    if report.culprit is None:
        return ()
    sha = report.culprit.sha
    kernels = [short(each) for each in (*report.graph.parents_of(sha)[:1], sha)]
    return (
        cut(f"  # or one boot of each kernel in QEMU, in the data of {report.campaign}", TABLE),
        *(f"  sh boot.sh {each} > {each}.log" for each in kernels),
        *(f"  rtbisect figures . {each}.log" for each in kernels),
    )


def _source(report: ReportInput) -> str:
    """Where a reader clones the tree. A path is of no use to others, and tells of this machine."""
    if report.repo.startswith(("/", "file:")):
        return f"{foreign(report.tree, 40)} (here from a local copy)"
    return foreign(report.repo, 200)


def _continued(command: str) -> tuple[str, ...]:
    """A command over several lines, broken between words only, before options if it can."""
    lines, current = [], ""
    for group in _groups(command):
        joined = " ".join(group)
        for part in [joined] if len(joined) <= 66 else group:
            if current and len(current) + len(part) > 66:
                lines.append(current)
                current = part
            else:
                current = f"{current} {part}".strip()
    lines.append(current)
    ends = [f"{cut(line, 67)} \\" for line in lines[:-1]] + [cut(lines[-1], 70)]
    return tuple(f"  {line}" if i == 0 else f"      {line}" for i, line in enumerate(ends))


def _groups(command: str) -> list[list[str]]:
    """Words of a command line, an option together with its values."""
    try:
        words = [shlex.quote(word) for word in shlex.split(command)]
    except ValueError:
        words = command.split()
    groups: list[list[str]] = []
    for word in words:
        if word.startswith("--") or not groups:
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups
