# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of a console that tell how a kernel stood still or died: from what it said first, as
much as a reader of a mail looks at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbisect.lab.classify import sick_line
from rtbisect.process.command import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LINES = 16
MOST_CHARS = 300

#: Time, and CPU or task where the kernel prints them (CONFIG_PRINTK_CALLER).
_STAMP = re.compile(r"^(?:<\d>)?\[\s*\d+\.\d+\]\s?(?:\[\s*[CT]\d+\]\s?)?")

#: What says nothing without the kernel's image (registers, bytes of code), what stands elsewhere in
#: a mail (modules, taint), and advice to who sits at the machine.
_BARE = re.compile(
    r"(?:R[A-D]X|RIP: 0033|R[SDB][IP]|R\d\d|[CDFGE]S|CR\d|DR\d|PKRU|Code)\b"
    r"|(?:Modules linked in|Hardware name|Call Trace):|</?(?:TASK|IRQ|NMI)>"
    r"|(?:Not t|T)ainted\b|\"echo 0 > /proc/sys/"
)

#: Here a suite ends a boot that stands still: what follows is its own doing (lava-jobs/suites).
_OURS = "sysrq: Trigger a crash"


def excerpt(console: Sequence[str]) -> tuple[str, ...]:
    """MOST_LINES lines at most, printable and without time stamps; none where the kernel says
    nothing of a panic, an oops or a stall.
    """
    begin = sick_line(console)
    lines: list[str] = []
    for line in console[begin:] if begin is not None else ():
        text = printable(_STAMP.sub("", line.strip()), MOST_CHARS)
        if _OURS in text or len(lines) == MOST_LINES:
            break
        if text and not _BARE.match(text):
            lines.append(text)
    return tuple(lines)
