# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files a kernel was made from, by kbuild's own records.

kbuild keeps a `.target.cmd` beside every target: its command line, its source and every file
that the compiler opened (scripts/basic/fixdep.c).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.kernel.sandbox import SRC

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Bytes of one record; that of vmlinux.o lists every object.
RECORD_LIMIT = 4 << 20

_WORD = re.compile(r"[^\s\\'\"();|&<>]+")


def closure(objects: Path) -> frozenset[str]:
    """Files of the source tree, relative to it, that the objects of an O= folder name.

    Every word of a record that lies in the source tree counts, so that scripts and the input of
    generators are in it too.
    """
    found: set[str] = set()
    prefix = f"{SRC}/"
    for record in _records(objects):
        for word in _WORD.findall(record):
            at = word.find(prefix)
            if at >= 0:
                path = os.path.normpath(word[at + len(prefix) :])
                # The tree itself, and what lies beside it, are no files of the tree.
                if path != "." and not path.startswith(".."):
                    found.add(path)
    return frozenset(found)


def _records(objects: Path) -> Iterable[str]:
    """Texts of all records; foreign code may have left anything under such a name."""
    for folder, _folders, names in os.walk(objects, followlinks=False):
        for name in names:
            if not (name.startswith(".") and name.endswith(".cmd")):
                continue
            try:
                handle = os.open(Path(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            with os.fdopen(handle, "rb") as stream:
                yield stream.read(RECORD_LIMIT).decode("utf-8", "surrogateescape")
