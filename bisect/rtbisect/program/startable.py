# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a revision has the program that is to be started in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import cut

if TYPE_CHECKING:
    from pathlib import Path


def unstartable(program: str, tree: Path) -> Finding | None:
    """Why a program that is named by a path cannot be started at the top of `tree`; None where it
    can, or where it is no matter of the revision.
    """
    if "/" not in program:
        return None
    place = tree / program
    if not place.is_file():
        return Finding.of(Commands.NOT_THERE, program=cut(program, 160))
    if place.is_relative_to(tree) and not os.access(place, os.X_OK):
        return Finding.of(Commands.NOT_EXECUTABLE, program=cut(program, 160))
    return None
