# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel tree in miniature and a builder for it."""

from pathlib import Path

import pytest

from helpers.toy_kernel import Lab, Toy


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab")
