# SPDX-License-Identifier: GPL-2.0-or-later
"""What preflight.sh does on the device before the windows, with plain files in place of sysfs."""

import subprocess
from pathlib import Path

import pytest

SUITES = Path(__file__).resolve().parents[2] / "lava-jobs/suites"


@pytest.mark.parametrize(
    ("first", "sleeps", "last"),
    [("tsc", 0, "tsc"), ("hpet", 0, "hpet"), ("tsc-early", 3, "tsc"), ("tsc-early", 100, None)],
)
def test_windows_wait_for_the_clock_that_stays(tmp_path, first, sleeps, last):
    """The clock becomes `last` with the third pause; None: it never changes."""
    clock = tmp_path / "clock"
    clock.write_text(f"{first}\n")
    lines = [
        f". {SUITES}/lib.sh",
        f". {SUITES}/preflight.sh",
        f"_CLOCKSOURCE={clock} n=0",
        f"usleep() {{ n=$((n + 1)); [ $n != 3 ] || echo {last or first} >{clock}; }}",
        "_await_clock",
        "echo $n",
    ]
    argv = ["/bin/busybox", "ash", "-euc", "\n".join(lines)]
    done = subprocess.run(argv, timeout=60, check=True, capture_output=True, text=True)
    assert int(done.stdout) == sleeps
    assert clock.read_text().strip() == (last or first)
