# SPDX-License-Identifier: GPL-2.0-or-later
"""State directories that cannot be, damaged stores, and what has to be there before a campaign."""

import os
import resource
import sqlite3
from pathlib import Path

import pytest

from helpers.command_line import bisect


def test_a_state_directory_that_cannot_be(cli):
    (cli.home / "file").write_text("")
    for place in (cli.home / "file", cli.home / "file" / "below", Path("/proc/rtbisect")):
        for words in (("status",), bisect("v1", "main")):
            line = cli.refused(2, "--state", str(place), *words)
            assert str(place.parent if place.name == "below" else place) in line
            assert "--state" in line


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def test_a_full_disk_is_a_fault_of_the_lab(cli):
    line = cli.refused(3, "status", preexec_fn=limit_files)
    assert "rtbisect.sqlite3" in line
    assert "free disk space" in line


def test_a_store_of_another_schema(cli):
    assert cli.run("status").code == 0
    with sqlite3.connect(cli.state / "rtbisect.sqlite3") as database:
        database.execute("UPDATE alembic_version SET version_num = '99'")
    line = cli.refused(2, "status")
    assert "schema version 99" in line
    assert "--state" in line


def test_a_store_that_lacks_a_column(cli):
    cli.store.create("check", "{}", "now")
    with sqlite3.connect(cli.state / "rtbisect.sqlite3") as database:
        database.execute("ALTER TABLE campaign DROP COLUMN note")
    assert "no such column" in cli.refused(2, "status")


@pytest.mark.parametrize("keep", [0, 4096])
def test_a_damaged_store(cli, keep):
    assert cli.run("status").code == 0
    place = cli.state / "rtbisect.sqlite3"
    data = place.read_bytes()
    place.write_bytes(data[:keep] + b"\xa5" * (len(data) - keep))
    line = cli.refused(3, "status")
    assert str(place) in line
    assert "damaged" in line


def test_a_second_campaign_waits_its_turn(cli):
    with cli.store.writer():
        line = cli.refused(5, *bisect("v1", "main"))
        assert f"in use by process {os.getpid()}" in line
        assert "in use" in cli.refused(5, "resume")
        assert cli.run("status").code == 0
    assert not cli.store.names()


def test_without_lava_nothing_is_begun(cli):
    line = cli.refused(2, *bisect("v1", "main"))
    assert f"{cli.state}/lava/root/usr/bin/lava-run is not there" in line
    assert "run `make setup`" in line
    assert not cli.store.names()


def test_without_a_compiler_nothing_is_begun(cli, tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "git").symlink_to("/usr/bin/git")
    line = cli.refused(2, *bisect("v1", "main"), env={"PATH": str(tools)})
    assert "kernels cannot be built here" in line
    assert "apt-get install" in line
    assert not cli.store.names()
