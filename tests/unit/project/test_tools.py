# SPDX-License-Identifier: GPL-2.0-or-later
"""Tools that no test runs: what they import is there."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = sorted((Path(__file__).parents[3] / "tools").glob("*.py"))


@pytest.mark.parametrize("place", TOOLS, ids=lambda place: place.stem)
def test_a_tool_can_be_imported(place, monkeypatch):
    spec = importlib.util.spec_from_file_location(f"tool_{place.stem}", place)
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, tool)
    spec.loader.exec_module(tool)
    assert tool.__doc__
