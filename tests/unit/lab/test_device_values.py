# SPDX-License-Identifier: GPL-2.0-or-later
"""What the program and the device's scripts both know: written once, or seen to agree."""

import dataclasses
import re
import shlex
import subprocess

import pytest

from helpers import device
from helpers.lab_logs import request
from rtbisect.errors import InternalError
from rtbisect.judge.gates import machine_health
from rtbisect.lab import console_block, initramfs, qemu_script, windows
from rtbisect.lab.job_definition import PREFLIGHT_CASES, SCRIPT, command_of, expected_cases
from rtbisect.lab.measurements import facts_of
from rtbisect.lab.profile import host_profile
from rtbisect.model.facts import Facts
from rtbisect.model.lab import Window
from rtbisect.suites import base, osnoise, rcutorture, sampled

QUIET = Window(name="quiet", suites=("quiet",))
WINDOW = 'window_quiet() { echo "$CLOCK_READER" >"$RESULTS/quiet/dose.txt"; }\n'

#: What a reader of a report asks for first.
ASKED_FOR = (
    "uname_v",
    "uname_r",
    "smt_active",
    "online",
    "nohz_full",
    "rcu_nocbs",
    "clocksource",
    "microcode",
    "governor",
    "no_turbo",
    "hz",
    "tainted",
)


def shell(name):
    steps = f'{initramfs.device_values()}echo "${name}"'
    return subprocess.check_output(["/bin/busybox", "ash", "-euc", steps], text=True).strip()


def test_the_shell_reads_the_values():
    assert shell("PREFLIGHT_CASES").split() == list(PREFLIGHT_CASES)
    assert shell("CLOCK_READER") == "-m clock -p 20000 -x 8"
    assert shell("SAMPLED_TOOL") == sampled.TOOL.options
    assert shell("OSNOISE_RUNTIME_US") == str(osnoise.RUNTIME_US)
    assert shell("RCUTORTURE_SECONDS") == str(rcutorture.TEST_S)


@pytest.mark.parametrize(
    ("whole", "part"),
    [("CLOCK_READER", "CLOCK_QUARTER_READER"), ("PF_READER", "PF_QUARTER_READER")],
)
def test_the_smaller_dose_is_the_part_that_its_level_says(whole, part):
    """Events of a CPU: so many timers (one child) each period."""

    def asked(name):
        options = dict(zip(*[iter(shell(name).split())] * 2, strict=True))
        return int(options.get("-x", 1)) / int(options["-p"])

    assert asked(part) * windows.PART == asked(whole)
    assert {w.workload[-2:] for w in windows.LEVELS if "quarter" in w.name} == {f"/{windows.PART}"}


@pytest.mark.parametrize("name", ["CLOCK_READER", "lower"])
def test_a_name_is_one_of_a_shell_and_of_one_suite(monkeypatch, name):
    monkeypatch.setattr(initramfs, "every", lambda: (base.Suite(name="s", on_device={name: 1}),))
    with pytest.raises(InternalError, match=name):
        initramfs.device_values()


def test_no_value_has_a_name_that_the_scripts_set_themselves():
    own = {
        name
        for script in (device.LAVA_JOBS / "suites").rglob("*.sh")
        for name in re.findall(r"\b([A-Z][A-Z0-9_]*)=", script.read_text())
    }
    values = set(re.findall(r"^([A-Z0-9_]+)=", initramfs.device_values(), re.MULTILINE))
    assert {"WATCH", "RESULTS"} <= own
    assert values
    assert not values & (own | {"PATH", "IFS", "HOME"})


@pytest.mark.parametrize("profile", ["tuned", "as-is"])
def test_what_the_device_prints_is_what_is_read(tmp_path, profile):
    """All of a boot's script on this machine, with one window: cases, markers, files and facts."""
    asked = request((QUIET,))
    asked = dataclasses.replace(asked, profile=host_profile(asked.device_type, profile))
    suites = device.scripts(tmp_path, quiet=WINDOW)
    log = qemu_script.log_of(device.console(suites, shlex.split(command_of(asked))[1:]))
    assert tuple(log.of_device()) == expected_cases(asked)
    assert log.of_device()[QUIET.name] == "pass"
    assert console_block.DONE in log.console
    files = console_block.files_of(log.console)
    assert files["order.txt"] == b"quiet\n"
    assert files["quiet/dose.txt"].decode().strip() == windows.CLOCK.options
    facts = facts_of(files)
    assert console_block.build_id(log.console) == facts["build_id"]
    counted = {
        f"{name}_{when}"
        for name in machine_health.unseen(Facts({}))[:-1]
        for when in ("before", "after")
    }
    explain = {name for name in PREFLIGHT_CASES.values() if name}
    others = {"cmdline", "clocksource_after", "hypervisor", "dmi_vendor", "cpu_model"}
    assert {
        *ASKED_FOR,
        *(name for suite in base.every() for name in suite.facts),
    } | counted | explain | others <= facts.keys()


def test_the_device_has_its_files_where_the_ramdisk_puts_them():
    suites = device.LAVA_JOBS / "suites"
    assert f"RTBISECT=/{initramfs.PREFIX}\n" in (suites / "lib.sh").read_text()
    assert f"/{initramfs.PREFIX}/suites/run-windows.sh" == SCRIPT
    site = (suites / "siteload/siteload.sh").read_text()
    assert f'"$RTBISECT/bin/{initramfs.SITE_WORKLOAD}"' in site
