# SPDX-License-Identifier: GPL-2.0-or-later
"""What the program imports before it knows what it is asked."""

import subprocess
import sys

import pytest

#: What only a search needs.
SEARCH = ("scipy.stats", "scipy.special", "matplotlib", "numpy.f2py")
#: What whoever asks for a version, or for a command that is none, does not need either.
CAMPAIGN = ("numpy", "sqlalchemy", "pydantic", "requests", "rtbisect.campaign", "rtbisect_labkit")
APP = "import sys; from rtbisect.cli.app import COMMANDS, run"


@pytest.mark.parametrize(
    ("script", "heavy"),
    [
        ("list(COMMANDS.values())", SEARCH),
        ("list(COMMANDS)", CAMPAIGN),
        ("run(['--version'])", CAMPAIGN),
        ("run(['nosuch'])", CAMPAIGN),
    ],
)
def test_no_command_waits_for_packages_that_it_does_not_need(script, heavy):
    names = f"print('imported', *[name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"{APP}; {script}; {names}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1].split() == ["imported"]
