# SPDX-License-Identifier: GPL-2.0-or-later
"""A private LAVA server never takes the place of another one."""

import pytest

from rtbisect.errors import ConfigError
from rtbisect_labkit import private_lava
from rtbisect_labkit.private_lava import PrivateServer


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with LAVA's package and its secret key; its folder of settings."""
    settings = tmp_path / "settings.d"
    settings.mkdir()
    (settings / "00-secret-key.yaml").write_text("SECRET_KEY: x\n")
    monkeypatch.setattr(private_lava, "SETTINGS", settings / "90-rtbisect-private.yaml")
    monkeypatch.setattr(private_lava, "PACKAGES", {})
    monkeypatch.setattr(private_lava.os, "geteuid", lambda: 0)
    return settings


@pytest.mark.parametrize("act", ["up", "forget"])
def test_a_server_of_somebody_else_is_left_alone(machine, tmp_path, act):
    other = machine / "50-rtbisect.yaml"
    other.write_bytes(b"# \xff\nDATABASES:\n  default: {}\n")
    before = sorted(tmp_path.rglob("*"))
    server = PrivateServer(tmp_path / "types", tmp_path / "server")
    with pytest.raises(ConfigError, match=r"another LAVA server already, by .*50-rtbisect"):
        getattr(server, act)()
    assert sorted(tmp_path.rglob("*")) == before


def test_our_own_settings_are_no_other_server(machine):
    (machine / "90-rtbisect-private.yaml").write_text("DATABASES: {}\n")
    private_lava._only_ours()
