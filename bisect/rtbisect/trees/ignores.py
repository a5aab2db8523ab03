# SPDX-License-Identifier: GPL-2.0-or-later
"""What the owner of a work tree has git ignore there and everywhere."""

from __future__ import annotations

import os
from pathlib import Path

from rtbisect.trees.plumbing import Git


def as_its_owner_ignores(repo: Path) -> tuple[str, ...]:
    """Options of git for a question about what is ignored in somebody's own work tree. Of what the
    repository and its user have configured only the name of this file is read: the rest may name
    programs.
    """
    home = Path(os.environ.get("HOME") or "/nonexistent")
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    asked = ("--includes", "--path", "--get", "core.excludesFile")
    files = (("--file", str(file)) for file in (home / ".gitconfig", folder / "config"))
    # As git takes it: that of the repository comes first.
    for place in (("--local",), *files):
        found = Git(cwd=repo).try_("config", *place, *asked)
        if found.ok:
            return ("-c", f"core.excludesFile={found.stdout.removesuffix(chr(10))}")
    return ("-c", f"core.excludesFile={folder / 'ignore'}")
