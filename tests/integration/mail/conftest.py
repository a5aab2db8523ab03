# SPDX-License-Identifier: GPL-2.0-or-later
"""A store with finished campaigns, a tree and a site."""

import pytest

from helpers.mail_world import World


@pytest.fixture
def world(tmp_path, capsys):
    return World(tmp_path, capsys)
