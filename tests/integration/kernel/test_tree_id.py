# SPDX-License-Identifier: GPL-2.0-or-later
"""What the builder asks git about its source, in a repository that somebody else has set up."""

import pytest

from helpers.repositories import Repo
from rtbisect.errors import InternalError
from rtbisect.kernel.kbuild import tree_id


@pytest.fixture
def repo(tmp_path):
    return Repo(tmp_path / "repo")


def test_a_source_is_known_by_its_tree(repo):
    first = repo.commit("one", Makefile="a")
    second = repo.commit("two", Makefile="b")
    tree = tree_id(repo.path, second)
    assert tree == repo("rev-parse", f"{second}^{{tree}}")
    with pytest.raises(InternalError, match="not checked out"):
        tree_id(repo.path, first)


def test_a_replaced_commit_is_built_as_what_it_is(repo):
    """A replacement is what one repository shows; a build is called by what its commit has."""
    first = repo.commit("one", Makefile="a")
    real = repo("rev-parse", f"{first}^{{tree}}")
    other = repo.commit("two", Makefile="b")
    repo("checkout", "-q", "--detach", first)
    repo("replace", first, other)
    assert tree_id(repo.path, first) == real
