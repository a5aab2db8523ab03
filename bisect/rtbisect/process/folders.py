# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders that a foreign command has filled: it may have taken our own rights from them."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path


def remove(place: Path) -> None:
    """Remove what is there, and nothing that a link leads to. OSError where it stays."""
    if not _is_folder(place):
        place.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(place)
    except OSError:
        open_up(place)
        for folder, inner, _files in os.walk(place):
            # Before the walk goes on into them.
            for name in inner:
                open_up(Path(folder) / name)
        shutil.rmtree(place)


def open_up(folder: Path) -> None:
    """Let its owner read, enter and change a folder; what is none stays as it is."""
    with suppress(OSError):
        if _is_folder(folder) and folder.stat().st_mode & stat.S_IRWXU != stat.S_IRWXU:
            folder.chmod(stat.S_IRWXU)


def place_of(top: Path, name: str) -> Path:
    """Where a path from `top` lies; folders above it are made, and no link is followed."""
    *above, last = Path(name).parts
    folder = top
    for part in above:
        folder /= part
        if not _is_folder(folder):
            remove(folder)
            folder.mkdir()
    return folder / last


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()
