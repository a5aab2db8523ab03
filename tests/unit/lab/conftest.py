# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab behind a LAVA server, for the tests of what it does."""

import pytest

from helpers.lava_bench import Bench


@pytest.fixture
def bench(tmp_path):
    here = Bench(tmp_path)
    yield here
    here.desk.close()
    here.server.close()
