# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files a kernel was made from, by kbuild's own records.

kbuild keeps a `.target.cmd` beside every target: its command line, its source and every file
that the compiler opened (scripts/basic/fixdep.c).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from rtbisect.kernel.sandbox import SRC
from rtbisect.kernel.workspace import NotPlainError

#: Bytes of one record; that of vmlinux.o lists every object.
RECORD_LIMIT = 4 << 20

#: Bytes of all records, and files that they name: some times what a kernel with all options has.
_MOST_BYTES = 4 << 30
_MOST_NAMES = 500_000

_WORD = re.compile(r"[^\s\\'\"();|&<>]+")


def closure(objects: Path) -> frozenset[str]:
    """Files of the source tree, relative to it, that the objects of an O= folder name.

    Every word of a record that lies in the source tree counts, so that scripts and the input of
    generators are in it too. NotPlainError when the records are too many or name too much.
    """
    files: set[str] = set()
    prefix = f"{SRC}/"
    for record in _records(objects):
        for word in _WORD.findall(record):
            at = word.find(prefix)
            if at >= 0:
                path = os.path.normpath(word[at + len(prefix) :])
                # The tree itself, and what lies beside it, are no files of the tree.
                if path != "." and not path.startswith(".."):
                    files.add(path)
        if len(files) > _MOST_NAMES:
            raise NotPlainError(f"the build's records name more than {_MOST_NAMES} files")
    return frozenset(files)


def _records(objects: Path) -> Iterable[str]:
    """Texts of all records; foreign code may have left anything under such a name."""
    left = _MOST_BYTES
    for folder, _folders, names in os.walk(objects, followlinks=False):
        for name in names:
            if not (name.startswith(".") and name.endswith(".cmd")):
                continue
            try:
                handle = os.open(Path(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            with os.fdopen(handle, "rb") as stream:
                data = stream.read(RECORD_LIMIT)
            left -= len(data)
            if left < 0:
                raise NotPlainError(f"the build's records have more than {_MOST_BYTES} bytes")
            yield data.decode("utf-8", "surrogateescape")
