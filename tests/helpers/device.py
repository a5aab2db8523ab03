# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts of the device, run on this machine."""

import subprocess
from pathlib import Path

from rtbisect.lab import initramfs

LAVA_JOBS = Path(__file__).resolve().parents[2] / "lava-jobs"


def scripts(folder, **more):
    """The scripts as the ramdisk has them, below `folder`, and `more` by their names; they write
    below `folder` what they would write below /tmp.
    """
    (folder / initramfs.VALUES_FILE).write_text(initramfs.device_values())
    suites = folder / "suites"
    suites.mkdir()
    for name, path in initramfs.scripts(LAVA_JOBS).items():
        text = path.read_text().replace("/tmp/", f"{folder}/")
        # What others do on this machine at that moment is no finding.
        (suites / name).write_text(text.replace("STATE_PROC=/proc\n", f"STATE_PROC={folder}\n"))
    for name, text in more.items():
        (suites / f"{name}.sh").write_text(text)
    return suites


def console(suites, argv):
    """What a boot prints that runs `run-windows.sh` with these options; it lacks no function."""
    command = ["/bin/busybox", "ash", str(suites / "run-windows.sh"), *argv]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert "not found" not in done.stderr
    return done.stdout
