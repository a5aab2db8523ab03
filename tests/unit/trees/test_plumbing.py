# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that must never reach git."""

import pytest

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.trees.plumbing import Git, checked_name, full_sha


@pytest.mark.parametrize("name", ["", "-x", "--output=/tmp/x", "a b", "a\nb", "a\x00b", "a\udc80"])
def test_hostile_names_are_refused(name):
    with pytest.raises(ConfigError):
        checked_name(name, "revision")


@pytest.mark.parametrize("name", ["v6.12", "HEAD~3", "refs/demo/1-64/good", "a" * 40])
def test_usual_names_pass(name):
    assert checked_name(name, "revision") == name


@pytest.mark.parametrize("sha", ["abc", "A" * 40, "g" * 40, "a" * 41, "a" * 40 + "\n", "--all"])
def test_only_full_shas_reach_the_graph(sha):
    with pytest.raises(ConfigError):
        full_sha(sha)
    assert full_sha("a" * 64) == "a" * 64


@pytest.mark.parametrize(
    ("last", "hint"), [("No space left on device", "make room"), ("bad object", "git fsck")]
)
def test_a_full_disk_is_not_taken_for_a_broken_repository(tmp_path, monkeypatch, last, hint):
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho 'fatal: {last}' >&2; exit 128\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfrastructureError) as error:
        Git(cwd=tmp_path)("status")
    assert hint in error.value.hint
