# SPDX-License-Identifier: GPL-2.0-or-later
"""A state directory is its owner's alone, whatever the umask was and is."""

import os
import stat

import pytest

from rtbisect.report.draft import folder_of, keep
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.db import make_folder


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def open_to(path):
    """What others may do with a file."""
    return stat.S_IMODE(path.lstat().st_mode) & 0o077


def files(state):
    return [state, *state.rglob("*")]


@pytest.mark.usefixtures("umask")
def test_others_see_nothing_of_a_new_store(tmp_path):
    state = tmp_path / "above/state"
    store = CampaignStore(state)
    store.create("bisect", "{}", "now")
    folder = folder_of(state / "reports", "bisect-1")
    keep(folder / "report.eml", "a draft")
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE campaign SET note = 'x'")
        assert {path.name: open_to(path) for path in files(state) if path.name != "reports"} == {
            "state": 0,
            "rtbisect.sqlite3": 0,
            "rtbisect.sqlite3-wal": 0,
            "rtbisect.sqlite3-shm": 0,
            "bisect-1": 0,
            "report.eml": 0,
        }


def loose(state):
    """A store as programs left it that did not care."""
    folder = state / "reports/bisect-1"
    folder.mkdir(parents=True)
    (folder / "report.eml").write_text("a draft")
    (state / "trees").mkdir()
    (state / "trees/source.c").write_text("built by somebody else")
    CampaignStore(state)
    for path in files(state):
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_an_open_store_is_closed_when_it_is_opened(tmp_path):
    state = tmp_path / "state"
    loose(state)
    CampaignStore(state)
    still = {path.name for path in files(state) if open_to(path)}
    # What builds and boots read has rights of its own, within a folder that is closed.
    assert still == {"trees", "source.c"}
    assert (state / "reports/bisect-1/report.eml").read_text() == "a draft"


def test_a_folder_that_is_everybodys_stays_so(tmp_path):
    state = tmp_path / "tmp"
    loose(state)
    state.chmod(0o1777)
    CampaignStore(state)
    assert stat.S_IMODE(state.stat().st_mode) == 0o1777
    assert open_to(state / "rtbisect.sqlite3") == 0
    assert open_to(state / "reports/bisect-1/report.eml") == 0


def test_nothing_is_closed_through_a_link(tmp_path):
    state, other = tmp_path / "state", tmp_path / "other"
    loose(state)
    other.mkdir(mode=0o755)
    (other / "page.html").write_text("published")
    (other / "page.html").chmod(0o644)
    (state / "replies").symlink_to(other)
    (state / "reports/page").symlink_to(other / "page.html")
    make_folder(state)
    assert (open_to(other), open_to(other / "page.html")) == (0o055, 0o044)
