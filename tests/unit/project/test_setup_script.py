# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/setup.sh and the role of virtual environments: with programs that only write down
how they were called, on a checkout in miniature.
"""

import shutil
from pathlib import Path

import pytest

from rtbisect.process import command

ROOT = Path(__file__).parents[3]

#: What each program does after it wrote its name and arguments to $CALLS.
PROGRAMS = {
    "apt-get": 'case "$*" in *update*) exit 100 ;; esac',
    "apt-cache": "",
    "dpkg-query": "exit 1",
    "id": "echo 0",
    "python": (
        'case "$1" in -c) echo 3.11; exit ;; esac\n'
        'mkdir -p .ansible-venv/bin && ln -sf "$(command -v tool)" .ansible-venv/bin/pip\n'
        'ln -sf "$(command -v tool)" .ansible-venv/bin/ansible-playbook'
    ),
    "tool": "",
}


class Machine:
    """A machine on which the packages are missing and one package source is broken."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        for name, does in PROGRAMS.items():
            path = self.bin / name
            path.write_text(f'#!/bin/sh\necho "{name} $*" >>"$CALLS"\n{does}\n')
            path.chmod(0o755)

    def checkout(self, name: str) -> Path:
        path = self.root / name
        for folder in ("tools", "requirements", "playbooks/roles/debian_packages/defaults"):
            (path / folder).mkdir(parents=True)
        shutil.copy(ROOT / "tools" / "setup.sh", path / "tools")
        (path / ".venv").mkdir()
        for lock in ("build", "ansible", "lava", "python3.11"):
            (path / "requirements" / f"{lock}.lock").write_text("")
        return path

    def setup(self, checkout: Path) -> list[str]:
        """Calls of the programs that change something."""
        calls = self.root / "calls"
        calls.write_text("")
        env = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "PYTHON": str(self.bin / "python"),
            "RTBISECT_STATE": str(self.root / "state"),
            "CALLS": str(calls),
        }
        done = command.run(
            [str(checkout / "tools" / "setup.sh")], cwd=checkout, timeout_s=60, env=env, check=True
        )
        assert "setup: ready" in done.stdout
        return [
            line
            for line in calls.read_text().splitlines()
            if line.startswith(("apt-get ", "python -m ", "tool "))
        ]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_broken_source_does_not_stop_it_and_locks_of_apt_are_waited_for(machine):
    calls = [call for call in machine.setup(machine.checkout("one")) if "apt-get" in call]
    assert [("update" in call, "install" in call) for call in calls] == [
        (True, False),
        (False, True),
    ]
    assert all("-o DPkg::Lock::Timeout=600" in call for call in calls)


def test_a_copied_checkout_gets_an_ansible_of_its_own(machine):
    one = machine.checkout("one")
    made = "python -m venv --clear .ansible-venv"
    assert made in machine.setup(one)
    assert made not in machine.setup(one)
    shutil.copytree(one, machine.root / "two", symlinks=True)
    assert made in machine.setup(machine.root / "two")


def test_the_marker_of_a_virtual_environment_names_its_place():
    text = (ROOT / "playbooks/roles/python_venv/tasks/main.yml").read_text()
    wanted = text.partition("__python_venv_wanted: >-")[2].partition("hash('sha256')")[0]
    for part in ("python_venv_path", "__python_venv_interpreter.stdout", "python_venv_lock"):
        assert part in wanted
