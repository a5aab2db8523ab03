# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that must never reach git."""

import pytest

from rtbisect.errors import ConfigError
from rtbisect.trees.plumbing import checked_name, full_sha


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
