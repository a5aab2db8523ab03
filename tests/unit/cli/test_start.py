# SPDX-License-Identifier: GPL-2.0-or-later
"""What the program imports before it knows what it is asked."""

import subprocess
import sys

HEAVY = ("scipy.stats", "scipy.special", "matplotlib", "numpy.f2py")


def test_no_command_waits_for_packages_that_only_a_search_needs():
    names = f"print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, rtbisect.cli.app; {names}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == []
