# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot by QEMU alone: its ramdisk, its script, and what is read from its console."""

import gzip
import io
import re
import shlex
import subprocess
import tarfile
from dataclasses import replace

import pytest

from helpers.campaigns import ROOT, FakeLab, World, boots, line_of
from rtbisect.errors import ConfigError, InternalError
from rtbisect.evidence.kernels import (
    BUILD,
    MEASURE,
    SCRIPT,
    figures_of,
    request_of,
    write_kernels,
)
from rtbisect.lab import qemu_script as alone
from rtbisect.lab.profile import host_profile
from rtbisect.model.code import Build, BuildStatus
from rtbisect.model.lab import DeviceType, Window
from rtbisect.store.artefacts import ArtefactStore

JOBS = ROOT / "lava-jobs"


@pytest.fixture
def setup(tmp_path):
    return World(tmp_path / "state", line_of(4), FakeLab(boots(2), None)).open()[0]


def modules(*names):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 3
            tar.addfile(member, io.BytesIO(b"elf"))
    return plain.getvalue()


def test_the_ramdisk_has_the_modules_and_the_command_behind_the_base(setup):
    base = gzip.compress(b"base")
    image = alone.ramdisk(base, modules("opt/rtbisect/modules/a.ko"), request_of(setup))
    assert image.startswith(base)
    added = gzip.decompress(image[len(base) :])
    assert added.startswith(b"070701")
    assert b"opt/rtbisect/modules/a.ko\0" in added
    assert b"elf" in added
    words = shlex.split(re.search(rb"\n(/opt/\S+ .*)\n", added)[1].decode())
    assert words[0] == "/opt/rtbisect/suites/run-windows.sh"
    assert words[words.index("--order") + 1].split() == [w.name for w in setup.kernel.windows]


def test_modules_go_nowhere_else(setup):
    with pytest.raises(InternalError, match="init"):
        alone.ramdisk(b"", modules("init"), request_of(setup))


def test_init_runs_the_command_by_the_name_that_the_ramdisk_gives_it():
    assert f"[ -x /{alone.ONCE} ]" in (JOBS / "initramfs/init").read_text()


def test_the_script_has_one_line_of_qemu_with_the_topology_and_the_boot_line(setup):
    text = alone.script(JOBS, request_of(setup))
    (line,) = (line for line in text.splitlines() if line.strip().startswith("timeout "))
    words = shlex.split(line)
    device = setup.kernel.device
    cores = f"cores={device.cores},threads={device.threads}"
    assert words[words.index("-smp") + 1] == f"{device.cpus},sockets={device.sockets},{cores}"
    assert words[words.index("-append") + 1] == f"{setup.kernel.profile.boot_line} panic=-1"
    assert words[2] == "qemu-system-x86_64"
    assert words[words.index("-cpu") + 1] == alone.CPU


def test_the_guest_is_the_one_of_the_device_template():
    assert f"'{alone.CPU}'" in (JOBS / "devices/qemu-smt.jinja2").read_text()


def test_a_real_machine_is_booted_as_a_guest_with_a_console(setup):
    metal = DeviceType(
        name="server",
        template="smt-server.jinja2",
        sockets=2,
        cores=8,
        threads=2,
        memory_mib=262144,
        emulated=False,
        boot="ipxe",
        cpu_model="Example Xeon 6338",
    )
    profile = host_profile(metal)
    text = alone.script(JOBS, replace(request_of(setup), device_type=metal, profile=profile))
    assert "-smp 32,sockets=2,cores=8,threads=2 -m 4096 " in text
    assert f"-cpu {alone.CPU} " in text
    assert "console=ttyS0" in text


def test_a_hostile_cpu_model_is_one_word(setup):
    device = replace(setup.kernel.device, cpu_model="x; touch /tmp/no")
    text = alone.script(JOBS, replace(request_of(setup), device_type=device))
    assert "-cpu 'x; touch /tmp/no' -smp" in text


def test_cases_of_a_console_are_results():
    log = alone.log_of("x\r\nCASE a pass\r\nCASE b fail\nCASE c pass 1.5 us\nCASE d maybe\n")
    assert [(r.case, r.result, r.measurement) for r in log.results] == [
        ("a", "pass", ""),
        ("b", "fail", ""),
        ("c", "pass", "1.5"),
    ]
    assert log.console[0] == "x"


@pytest.mark.parametrize("console", ["", "RTBISECT-DONE", "CASE preflight-rt fail"])
def test_a_console_without_a_boot_has_no_figures(setup, console):
    with pytest.raises(ConfigError, match=r"no valid boot: .*preflight-rt"):
        figures_of(setup, console)


def test_kernels_that_are_gone_leave_no_script(setup, tmp_path):
    write_kernels(tmp_path, ArtefactStore(tmp_path / "a"), tmp_path, setup, ())
    assert not (tmp_path / "boot.sh").exists()


@pytest.mark.parametrize("emulated", [True, False])
def test_boots_of_a_guest_are_told_from_those_of_a_machine(setup, emulated):
    device = replace(setup.kernel.device, emulated=emulated, name="rack; reboot")
    text = alone.script(JOBS, replace(request_of(setup), device_type=device))
    assert ("'rack; reboot'" in text) is not emulated


def test_the_scripts_come_with_the_kernels(setup, tmp_path):
    store = ArtefactStore(tmp_path / "artefacts")
    build = Build(
        revision="a" * 40, config_name="c", status=BuildStatus.OK,
        kernel=store.put_bytes(b"kernel"),
        config=store.put_bytes(b"CONFIG_X=y"),
    )  # fmt: skip
    sources = replace(setup.kernel.build, modules=(("probe.c", "int x;"),))
    place = tmp_path / "bundle"
    place.mkdir()
    write_kernels(
        place, store, tmp_path, replace(setup, kernel=replace(setup.kernel, build=sources)), [build]
    )
    for name in (SCRIPT, BUILD, MEASURE):
        subprocess.run(["sh", "-n", place / name], check=True)
    assert (place / "kernels" / ("a" * 12) / "config").read_text() == "CONFIG_X=y"
    assert (place / "modules/Kbuild").read_text() == "obj-m := probe.o\n"
    assert "isolcpus" in (place / "cmdline").read_text()


def test_a_boot_that_hung_in_its_window_has_the_figure_of_that(setup):
    window = Window(name="stall", suites=("stall",), workload="epoll-cfs-bandwidth", synthetic=True)
    asked = replace(setup, kernel=replace(setup.kernel, windows=(window,)))
    console = (
        "rtbisect: window stall begins\r\nKernel panic - not syncing: frozen nr_periods\r\nrest\r\n"
    )
    (found,) = figures_of(asked, console)
    assert (found.name, found.value) == ("frozen_periods", 1.0)
    with pytest.raises(ConfigError, match="no valid boot"):
        figures_of(asked, console.replace("begins", "ends"))
