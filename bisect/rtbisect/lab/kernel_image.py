# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a kernel image is whole. One that was cut off ends a boot without a word, as a broken
kernel does. The header tells its length (Documentation/arch/x86/boot.rst).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Bytes up to the end of what is read; "HdrS" stands at 0x202.
_HEADER = 0x206
_MAGIC = b"HdrS"
#: Units: of the part in real mode, and of `syssize`, which is rounded up.
_SECTOR, _PARAGRAPH = 512, 16


def missing(image: Path) -> int:
    """Bytes that an x86 image lacks; 0 for a whole one and for what is no such image."""
    with image.open("rb") as stream:
        head = stream.read(_HEADER)
        size = image.stat().st_size
    if len(head) < _HEADER or head[0x202:0x206] != _MAGIC:
        return 0
    sectors = head[0x1F1] or 4
    paragraphs = int.from_bytes(head[0x1F4:0x1F8], "little")
    whole_size = (sectors + 1) * _SECTOR + paragraphs * _PARAGRAPH
    return max(0, whole_size - size - (_PARAGRAPH - 1))
