# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the repository of a test of `run` lies."""

import pytest


@pytest.fixture
def repo(tmp_path):
    return tmp_path / "repo"
