# SPDX-License-Identifier: GPL-2.0-or-later
"""The console of what stands still, as a mail has room for it: whole stacks, the kernel's first."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from rtbisect.model.lab import STACK_MARK, SYMPTOM_MARK
from rtbisect.report.policy import stands_still
from rtbisect.report.text import TABLE, foreign, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rtbisect.model.report import ReportInput

    #: Lines that stand together or not at all.
    Block = tuple[str, ...]

#: A line of a stack as the kernel prints it.
_FRAME = re.compile(
    r"(?P<name>(?:\? )?[\w.]{1,128})\+0x[0-9a-f]{1,16}/0x[0-9a-f]{1,16}(?: \[\w+\])?"
)
#: Characters of a line, and of a stack on one; lines that go with the first stack.
_LINE, _STACK, _BEFORE = 300, 600, 3


def console_of(report: ReportInput, most: int) -> tuple[Block, Block]:
    """Lines of what the kernel said, and of the stacks that a device script printed: `most` of both
    together, but the first stack is always there, and whole. What the script waited for stands in
    the first sentence of a mail.
    """
    if not stands_still(report):
        return (), ()
    marks = (STACK_MARK, SYMPTOM_MARK)
    kernel = [line for line in report.excerpt if not line.startswith(marks)]
    stacks = [line for line in report.excerpt if line.startswith(STACK_MARK)]
    said = tuple(filter(None, _kernels_blocks(kernel)))
    told = tuple(_wrapped(line.removeprefix(STACK_MARK), _LINE) for line in stacks)
    shown = _fitting((*said, *told), most)
    return _joined(shown[: len(said)]), _joined(shown[len(said) :])


def _kernels_blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Each line, and the names of each stack on as few as they take; what is said before the first
    stack belongs to it.
    """
    before: list[Block] = []
    waits = any(map(_FRAME.fullmatch, lines))
    for is_stack, group in groupby(lines, lambda line: bool(_FRAME.fullmatch(line))):
        if is_stack:
            names = (match["name"] for match in map(_FRAME.fullmatch, group) if match)
            yield _joined((*before[:_BEFORE], _wrapped(" < ".join(names), _STACK)))
            waits, before = False, []
        elif waits:
            before += [_wrapped(line, _LINE) for line in group]
        else:
            yield from (_wrapped(line, _LINE) for line in group)


def _wrapped(text: str, limit: int) -> Block:
    # At the begin of a line "#" belongs to who commands bots.
    return tuple(wrap(foreign(text, limit).lstrip("# "), TABLE, "  ", "      ").splitlines())


def _fitting(blocks: Iterable[Block], most: int) -> list[Block]:
    """As many as fit. Half a stack says less than none."""
    shown: list[Block] = []
    for block in blocks:
        if shown and sum(map(len, shown)) + len(block) > most:
            break
        shown.append(block)
    return shown


def _joined(blocks: Iterable[Block]) -> Block:
    return tuple(line for block in blocks for line in block)
