# SPDX-License-Identifier: GPL-2.0-or-later
"""Public functions, methods and parameters with a default that only tests call or set.

    .venv/bin/python tools/unused.py

By names alone: a name counts as used where code of the program or of tools/ reads it anywhere but
in its own definition, a parameter where a call of its function's name gives it. So this finds less
than there is, and what it finds is unused. `tools/unused.txt` lists what stays, with the reason.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("bisect", "tools", "lava-jobs")
ALLOWED = ROOT / "tools/unused.txt"
#: Whoever inherits from these is called by a library, or stands for something in a test.
FOREIGN = {"BaseModel", "Protocol", "HTMLParser", "BaseHTTPRequestHandler", "ThreadingHTTPServer"}


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


class Uses(ast.NodeVisitor):
    """Names that code reads, and what calls of a name give: keywords and how many by place."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.keywords: dict[str, set[str]] = defaultdict(set)
        self.places: dict[str, float] = defaultdict(float)
        #: Functions that are handed on: who calls them gives what nobody sees here.
        self.handed: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        self.names.add(node.id)
        self.handed.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.names.add(node.attr)
        self.handed.add(node.attr)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = name_of(node.func)
        self.names.add(name)
        starred = any(isinstance(arg, ast.Starred) for arg in node.args)
        given = float("inf") if starred else len(node.args)
        self.places[name] = max(self.places[name], given)
        for word in node.keywords:
            self.keywords[name].add(word.arg or "**")
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)
        for child in [*node.args, *(word.value for word in node.keywords)]:
            self.visit(child)


def public(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """(class or "", function) of a module; nothing that a library calls."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            yield "", node
        if isinstance(node, ast.ClassDef) and not FOREIGN & {name_of(b) for b in node.bases}:
            if node.name.startswith(("_", "Fake")):
                continue
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    plain = {"property", "cached_property", "staticmethod", "classmethod"}
                    if {name_of(d) for d in each.decorator_list} <= plain:
                        yield node.name, each


def unused(place: str, cls: str, node: ast.FunctionDef, uses: Uses) -> Iterator[str]:
    """What of one function nobody uses."""
    name = f"{place}:{cls}.{node.name}" if cls else f"{place}:{node.name}"
    special = node.name.startswith("__")
    if node.name.startswith("_") and not special:
        return
    if not special and node.name not in uses.names:
        yield name
        return
    called = cls if node.name == "__init__" else node.name
    if (special and node.name != "__init__") or called in uses.handed:
        return
    keywords, most = uses.keywords[called], uses.places[called]
    if "**" in keywords:
        return
    method = bool(cls) and "staticmethod" not in {name_of(d) for d in node.decorator_list}
    args = [*node.args.posonlyargs, *node.args.args][int(method) :]
    first = len(args) - len(node.args.defaults)
    for number, arg in enumerate(args):
        if number >= max(0, first) and arg.arg not in keywords and most <= number:
            yield f"{name}({arg.arg})"
    for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if default is not None and arg.arg not in keywords:
            yield f"{name}({arg.arg})"


def found(root: Path, sources: tuple[str, ...] = SOURCES) -> list[str]:
    """All that is unused below `root`; the first of the sources is the program."""
    uses, program = Uses(), {}
    for folder in sources:
        for path in sorted((root / folder).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            uses.visit(tree)
            if folder == sources[0]:
                program[path.relative_to(root / folder).as_posix()] = tree
    uses.names |= set(
        re.findall(r':(\w+)"$', (root / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    )
    # Templates call functions and read properties, too.
    for path in [*(root / "reports").rglob("*.j2"), *(root / "lava-jobs").rglob("*.j2")]:
        uses.names |= set(re.findall(r"[A-Za-z_]\w*", path.read_text("utf-8")))
    return [
        said
        for place, tree in program.items()
        for cls, node in public(tree)
        for said in unused(place, cls, node, uses)
    ]


def main() -> int:
    lines = ALLOWED.read_text("utf-8").splitlines()
    kept = dict(line.split("  # ", 1) for line in lines if line and not line.startswith("#"))
    said = found(ROOT)
    wrong = [
        f"{name}: only tests use it: wire it in, or drop it" for name in said if name not in kept
    ]
    wrong += [
        f"{name}: used now: take it out of {ALLOWED.name}" for name in kept if name not in said
    ]
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
