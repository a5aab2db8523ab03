# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/mathematics.md has every constant of search/ and judge/ that decides something."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import rtbisect

ROOT = Path(rtbisect.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "mathematics.md"
ROW = re.compile(
    r"\| `(search|judge)\.(?P<module>[\w.]+)` \| (?P<names>`[^|]+`) \| `(?P<value>[^|]+)` \|"
)
#: Caches and sizes of blocks, names of levels, flags of a kernel, what follows from others, and
#: what only says how many are shown.
LEFT_OUT = {
    "search.ancestry": {"MOST_STRETCHES", "_PLAIN", "_ROWS"},
    "search.rehearsal": {"_FREE", "_NONE_DUE", "_ROOM"},
    "search.shown": {"_BUDGETS"},
    "search.two_culprits": {"GOOD", "ONE", "BOTH", "OTHER"},
    "search.likelihood.two_level": {"_T4", "_STEP", "_RESOLVED_KEPT", "_OFFSET_LOGLIKS_KEPT"},
    "judge.stats": {"_BLOCK"},
    "judge.gates.machine_health": {"_OURS", "WARNED"},
    "judge.gates.reachability": {"_NAMED"},
}


def told():
    """Values of constants by module and name, as the page has them."""
    found = {}
    for row in PAGE.read_text(encoding="utf-8").splitlines():
        if (match := ROW.match(row)) is None:
            continue
        module = f"{match[1]}.{match['module']}"
        names = re.findall(r"`([\w.]+)`", match["names"])
        value = ast.literal_eval(match["value"])
        found |= (
            {(module, name): value for name in names}
            if len(names) == 1
            else {(module, name): each for name, each in zip(names, value, strict=True)}
        )
    return found


def is_number(value):
    if isinstance(value, tuple):
        return bool(value) and all(map(is_number, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def numbers_of(path):
    """Constants of a module that are numbers, by name."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    module = importlib.import_module(f"rtbisect.{name}")
    assigned = (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Assign))
    targets = {
        target.id
        for node in assigned
        for target in ast.walk(node)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    }
    left_out = LEFT_OUT.get(name, set())
    assert left_out <= targets
    return {
        (name, each)
        for each in targets - left_out
        if each.isupper() and is_number(getattr(module, each))
    }


def test_the_page_has_the_values_of_the_code():
    for (module, name), value in told().items():
        found = importlib.import_module(f"rtbisect.{module}")
        for part in name.split("."):
            found = getattr(found, part)
        assert found == value, f"{module}.{name}"


@pytest.mark.parametrize("room", ["search", "judge"])
def test_every_constant_that_decides_stands_on_the_page(room):
    paths = sorted((ROOT / room).rglob("*.py"))
    there = set().union(*(numbers_of(path) for path in paths if path.stem != "__init__"))
    assert len(there) > 10
    missing = [".".join(each) for each in sorted(there - told().keys())]
    assert not missing, f"no row of docs/mathematics.md: {', '.join(missing)}"
