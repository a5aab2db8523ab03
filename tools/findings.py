# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings that are not whole, kinds that nothing finds, and sentences that code reads or changes:
the program has none.

    .venv/bin/python tools/findings.py

By the syntax tree: a call that gives data to a kind gives all of them and no other, and nothing is
asked of what `speak` or `said` gave: no method, no part, no comparison. The type checker refuses
the same of a `Sentence`, which is no `str`; this also sees it behind `str()`. A kind is found by
whatever names it, but for its sentence.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.model import kinds
from rtbisect.model.finding import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

ROOT = Path(__file__).resolve().parents[1]
#: What gives a kind its data, and what gives words.
_GIVERS = ("of", "tell")
_SPEAKERS = ("speak", "said")
#: Kinds by enum and name that nothing of the program finds, and why they stay: others find them, or
#: something that older programs kept has them.
UNFOUND = {
    ("Raw", "UNREADABLE"): "the suite of docs/adding-a-suite.md finds it",
    ("Searches", "FORECAST"): "so it was told before forecasts had ranges",
    ("Checks", "NO_LAYOUT"): "campaigns of before compared one pair of other layouts",
}


def every_kind() -> dict[tuple[str, str], Kind]:
    """Members of all enums below Kind, by enum and name."""
    for module in pkgutil.iter_modules(kinds.__path__, f"{kinds.__name__}."):
        importlib.import_module(module.name)
    return {(enum.__name__, member.name): member for enum in _below(Kind) for member in enum}


def _below(enum: type[Kind]) -> Iterator[type[Kind]]:
    for each in enum.__subclasses__():
        yield each
        yield from _below(each)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def givers(tree: ast.AST) -> Iterator[tuple[int, tuple[str, str], set[str] | None]]:
    """Calls that give data to a kind that is written there: line, enum and name, names of the
    data; None where these are not all written out.
    """
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and node.args and _called(node) in _GIVERS):
            continue
        kind = node.args[0]
        if isinstance(kind, ast.Attribute) and isinstance(kind.value, ast.Name):
            names = {keyword.arg for keyword in node.keywords if keyword.arg}
            whole = all(keyword.arg for keyword in node.keywords)
            yield node.lineno, (kind.value.id, kind.attr), names if whole else None


def _speaks(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if _called(node) == "str" and node.args:
        return _speaks(node.args[0])
    return _called(node) in _SPEAKERS


def readers(tree: ast.AST) -> Iterator[int]:
    """Lines that ask something of a sentence, where it is made."""
    for node in ast.walk(tree):
        asked: list[ast.AST] = []
        if isinstance(node, ast.Attribute | ast.Subscript):
            asked = [node.value]
        elif isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        if any(map(_speaks, asked)):
            yield node.lineno


def members(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What is named as `Enum.NAME` or `module.Enum.NAME`: enum and name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute | ast.Name):
            whose = node.value
            yield whose.attr if isinstance(whose, ast.Attribute) else whose.id, node.attr


def faults(
    root: Path, known: dict[tuple[str, str], Kind], unfound: Collection[tuple[str, str]] = ()
) -> list[str]:
    """A line for each fault of the program below `root`, which finds none of those `unfound`."""
    enums = {enum for enum, _ in known}
    lines, named = [], set()
    for path in sorted(root.rglob("*.py")):
        tree, place = ast.parse(path.read_text("utf-8")), path.relative_to(root)
        for line, (enum, name), data in givers(tree):
            if enum not in enums:
                continue
            kind = known.get((enum, name))
            if kind is None:
                lines.append(f"{place}:{line}: {enum} has no {name}")
            elif data is not None and data != set(kind.parameters):
                wanted = " ".join(kind.parameters)
                lines.append(f"{place}:{line}: {enum}.{name} has {wanted}, not {sorted(data)}")
        lines += [f"{place}:{line}: a sentence is read" for line in sorted(set(readers(tree)))]
        if "words" not in place.parts:
            named.update(members(tree))
    lost = known.keys() - named
    lines += [f"{enum}.{name}: nothing finds it" for enum, name in sorted(lost - {*unfound})]
    lines += [f"{enum}.{name}: is not unfound" for enum, name in sorted({*unfound} - lost)]
    return lines


def main() -> int:
    found = faults(ROOT / "bisect", every_kind(), UNFOUND)
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
