# SPDX-License-Identifier: GPL-2.0-or-later
"""The chassis of a virtual host switches its own machine, whoever has the number of an old one."""

import shutil
import subprocess

import pytest

from helpers.campaigns import ROOT


@pytest.fixture
def host(tmp_path):
    folder = tmp_path / "host"
    (folder / "run").mkdir(parents=True)
    shutil.copy(ROOT / "lava-jobs/vmetal/chassis", folder)
    return folder


@pytest.fixture
def machine(tmp_path):
    """Starts a program of QEMU's name in a folder."""
    program = tmp_path / "qemu-system-x86_64"
    shutil.copy("/bin/sleep", program)
    started = []

    def start(folder):
        started.append(subprocess.Popen([str(program), "60"], cwd=folder))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def chassis(folder, *words):
    argv = [str(folder / "chassis"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def test_a_stranger_with_the_number_of_an_old_machine_is_left_alone(host, machine, tmp_path):
    other = machine(tmp_path)
    (host / "run/qemu.pid").write_text(f"{other.pid}\n")
    assert chassis(host, "get", "power") == "power:0"
    assert chassis(host, "set", "power", "0") == ""
    assert other.poll() is None
    assert not (host / "run/qemu.pid").exists()


def test_the_machine_of_the_host_is_switched_off(host, machine):
    ours = machine(host)
    (host / "run/qemu.pid").write_text(f"{ours.pid}\n")
    assert chassis(host, "get", "power") == "power:1"
    assert chassis(host, "set", "power", "0") == ""
    assert ours.wait() == -9
