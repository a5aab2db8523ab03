# SPDX-License-Identifier: GPL-2.0-or-later
"""Unified diffs of one file as exact texts to find and to put: context included, no fuzz."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rtbisect.errors import InternalError

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Change:
    """`find` is replaced by `put`; an empty `find` appends at the end of the file."""

    find: str
    put: str


def read_patch(text: str, name: str) -> tuple[str, tuple[Change, ...]]:
    """File and changes, one a hunk. InternalError when the patch is not of that form."""
    lines = text.split("\n")
    files = [line.removeprefix("+++ b/").split("\t")[0] for line in lines if line[:4] == "+++ "]
    if len(files) != 1:
        raise InternalError(f"{name} must change exactly one file, it has {len(files)}")
    changes = []
    at = 0
    while at < len(lines):
        head = _HUNK.match(lines[at])
        at += 1
        if head:
            old, new = (int(count or 1) for count in head.groups())
            change, at = _hunk(lines, at, old, new, name)
            changes.append(change)
    return files[0], tuple(changes)


def _hunk(lines: list[str], at: int, old: int, new: int, name: str) -> tuple[Change, int]:
    find: list[str] = []
    put: list[str] = []
    while len(find) < old or len(put) < new:
        if at >= len(lines) or lines[at][:1] not in {" ", "+", "-", ""}:
            raise InternalError(f"{name} ends inside a hunk at line {at + 1}")
        sign, rest = lines[at][:1] or " ", lines[at][1:]
        if sign != "+":
            find.append(rest + "\n")
        if sign != "-":
            put.append(rest + "\n")
        at += 1
    if len(find) != old or len(put) != new:
        raise InternalError(f"{name} has a hunk of a wrong length before line {at + 1}")
    return Change("".join(find), "".join(put)), at
