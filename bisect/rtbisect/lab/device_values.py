# SPDX-License-Identifier: GPL-2.0-or-later
"""What the program and the scripts on the device both know, written for the scripts.

They find it as a file of shell variables beside their folder (lava-jobs/suites/run-windows.sh).
"""

from __future__ import annotations

import re
import shlex

from rtbisect.errors import InternalError
from rtbisect.lab import windows
from rtbisect.lab.job_definition import ISOLATION_CASES, PREFLIGHT_CASES
from rtbisect.suites import base

#: Below the folder of our files on the device.
FILE = "values.sh"


def text() -> str:
    """Lines `NAME=value` for a shell; InternalError when two suites use one name."""
    cases = (
        ("PREFLIGHT_CASES", " ".join(PREFLIGHT_CASES)),
        ("ISOLATION_CASES", " ".join(ISOLATION_CASES)),
    )
    lines: dict[str, str] = {}
    own = (pair for suite in base.every() for pair in suite.on_device.items())
    for name, value in (*cases, *windows.ON_DEVICE.items(), *own):
        if name in lines or not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            raise InternalError(f"{name!r} cannot be a value for the device, or is one twice")
        lines[name] = f"{name}={shlex.quote(str(value))}\n"
    head = "# SPDX-License-Identifier: GPL-2.0-or-later\n# Written by rtbisect.\n"
    return head + "".join(lines.values())
