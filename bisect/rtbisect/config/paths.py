# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things lie: what came with the program, and the state directory."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def data(folder: str = "") -> Path:
    """What came with the program: a top folder of the checkout (lava-jobs, thresholds, reports,
    playbooks), or the one that has these. A wheel has copies, a checkout links to the top.
    """
    return Path(str(resources.files("rtbisect").joinpath("data", folder))).resolve()


def state_dir(option: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """--state, $RTBISECT_STATE, else $XDG_STATE_HOME/rtbisect (default ~/.local/state)."""
    if option is not None:
        return option.absolute()
    if environ.get("RTBISECT_STATE"):
        return Path(environ["RTBISECT_STATE"]).absolute()
    base = environ.get("XDG_STATE_HOME") or str(Path(environ.get("HOME", "/")) / ".local/state")
    return Path(base).absolute() / "rtbisect"
