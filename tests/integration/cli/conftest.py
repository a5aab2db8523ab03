# SPDX-License-Identifier: GPL-2.0-or-later
"""A repository and a site for the command line."""

import pytest

from helpers.command_line import Cli, commit, git, site_text


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    """main: a b c d; start: a; side: b s; alone: an orphan."""
    where = tmp_path_factory.mktemp("tree") / "linux"
    where.mkdir()
    git(where, "init", "--quiet", "--initial-branch=main")
    shas = {"a": commit(where, "a")}
    git(where, "branch", "start")
    shas["b"] = commit(where, "b")
    git(where, "tag", "-a", "-m", "v1", "v1")
    git(where, "checkout", "--quiet", "-b", "side")
    shas["s"] = commit(where, "s")
    git(where, "checkout", "--quiet", "main")
    shas |= {name: commit(where, name) for name in "cd"}
    git(where, "checkout", "--quiet", "--orphan", "alone")
    shas["u"] = commit(where, "u")
    git(where, "checkout", "--quiet", "main")
    return where, shas


@pytest.fixture
def cli(tmp_path, repo):
    place = tmp_path / "site.yaml"
    place.write_text(site_text(f"file://{repo[0]}"))
    return Cli(tmp_path, place)
