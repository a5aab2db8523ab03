# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things lie: what came with the program, and the state directory."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import resources
from pathlib import Path

from platformdirs import user_state_path


def data(folder: str = "") -> Path:
    """What came with the program: a top folder of the checkout (lava-jobs, thresholds, reports,
    playbooks), or the one that has these. A wheel has copies, a checkout links to the top.
    """
    return Path(str(resources.files("rtbisect").joinpath("data", folder))).resolve()


def state_dir(option: Path | None = None) -> Path:
    """--state, $RTBISECT_STATE, else $XDG_STATE_HOME/rtbisect (default ~/.local/state)."""
    if chosen := option or os.environ.get("RTBISECT_STATE"):
        return Path(chosen).absolute()
    # A user without a home: the last wall of errors asks, too, and must get an answer.
    with suppress(RuntimeError):
        return user_state_path("rtbisect")
    return Path("/.local/state/rtbisect")
