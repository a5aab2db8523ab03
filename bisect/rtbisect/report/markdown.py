# SPDX-License-Identifier: GPL-2.0-or-later
"""Markdown with foreign text in it, as the pages of a CI show it.

A backslash keeps no `@name` from being a mention, and no address from being a link: both are found
in what was rendered. Only code is left alone, so all that is not ours is code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbisect.words.speak import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence


def code(text: str) -> str:
    """One line of any text as a span of code; nothing in it ends the span."""
    line = harmless(text)
    fence = "`" * (_longest(line) + 1)
    # A space at either end is taken off again, and a span may not be empty.
    return (
        f"{fence} {line} {fence}"
        if line.startswith("`") or line.endswith("`")
        else (f"{fence}{line or ' '}{fence}")
    )


def block(lines: Sequence[str]) -> str:
    """Lines of any text as a block of code; nothing in it ends the block."""
    kept = [harmless(line) for line in lines]
    fence = "`" * max(3, max(map(_longest, kept), default=0) + 1)
    return "\n".join((f"{fence}text", *kept, fence))


def _longest(line: str) -> int:
    """The longest row of backticks."""
    return max(map(len, re.findall("`+", line)), default=0)
