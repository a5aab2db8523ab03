# SPDX-License-Identifier: GPL-2.0-or-later
"""All kinds that can be found, and where the program finds them."""

import ast
import importlib
import pkgutil
from pathlib import Path

from rtbisect.model import kinds
from rtbisect.model.finding import Kind

ROOT = Path(__file__).parents[2]


def every_kind():
    """Members of all enums below Kind, by enum and name."""
    for module in pkgutil.iter_modules(kinds.__path__, f"{kinds.__name__}."):
        importlib.import_module(module.name)
    return {(enum.__name__, member.name): member for enum in _below(Kind) for member in enum}


def _below(enum):
    for each in enum.__subclasses__():
        yield each
        yield from _below(each)


def calls():
    """Calls that give data to a kind: place, enum and name as they are written there, and the
    names of the data; None where these are not all written out.
    """
    known = {enum for enum, _ in every_kind()}
    for path in sorted((ROOT / "bisect").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        aliases = {
            alias.asname: alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.asname
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            kind = node.args[0]
            if not (isinstance(kind, ast.Attribute) and isinstance(kind.value, ast.Name)):
                continue
            enum = aliases.get(kind.value.id, kind.value.id)
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if enum in known and called in ("of", "tell"):
                names = [keyword.arg for keyword in node.keywords]
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                yield place, (enum, kind.attr), None if None in names else set(names)
