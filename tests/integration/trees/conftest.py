# SPDX-License-Identifier: GPL-2.0-or-later
"""A repository, and a tree over it."""

import pytest

from helpers.repositories import Repo
from rtbisect.trees.git import GitTree, GitTreeSettings


@pytest.fixture
def repo(tmp_path):
    return Repo(tmp_path / "repo")


@pytest.fixture
def make(tmp_path):
    def made(source, name="t"):
        state = tmp_path / "state" / name
        return GitTree(
            GitTreeSettings(name=name, repo=source, worktree=state / "src", lock=state / "lock")
        )

    return made
