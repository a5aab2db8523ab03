# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the state directory is."""

import os
import pwd
from pathlib import Path

import pytest

from rtbisect.config.paths import state_dir

HOMES = [
    ({"RTBISECT_STATE": "/x", "XDG_STATE_HOME": "/y", "HOME": "/h"}, "/x"),
    ({"RTBISECT_STATE": "", "XDG_STATE_HOME": "/y", "HOME": "/h"}, "/y/rtbisect"),
    ({"XDG_STATE_HOME": "/y/", "HOME": "/h"}, "/y/rtbisect"),
    ({"XDG_STATE_HOME": "/y"}, "/y/rtbisect"),
    ({"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/rtbisect"),
    ({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/h/.local/state/rtbisect"),
    # A relative one is to be ignored (XDG Base Directory Specification).
    ({"XDG_STATE_HOME": "y", "HOME": "/h"}, "/h/.local/state/rtbisect"),
    # A service of the system has no HOME.
    ({}, "/passwd/.local/state/rtbisect"),
    ({"HOME": ""}, "/passwd/.local/state/rtbisect"),
]


@pytest.mark.parametrize(("environ", "expected"), HOMES)
@pytest.mark.parametrize("uid", [0, 1000])
def test_the_state_directory_follows_option_environment_and_xdg(
    monkeypatch, tmp_path, environ, expected, uid
):
    for name in ("RTBISECT_STATE", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "getuid", lambda: uid)
    user = pwd.struct_passwd(("u", "x", uid, uid, "", "/passwd", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: user)
    assert state_dir() == Path(expected)
    assert state_dir(tmp_path) == tmp_path
    monkeypatch.chdir(tmp_path)
    assert state_dir(Path("s")) == tmp_path / "s"


def test_a_user_without_a_home_has_a_state_directory(monkeypatch):
    def nobody(_uid):
        raise KeyError

    for name in ("RTBISECT_STATE", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert state_dir() == Path("/.local/state/rtbisect")
