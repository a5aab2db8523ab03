# SPDX-License-Identifier: GPL-2.0-or-later
"""How the program is laid out, in figures, at any commit.

    .venv/bin/python tools/measure_house.py            the working tree
    .venv/bin/python tools/measure_house.py v1 HEAD    two commits beside each other

A room is a folder or a loose module at the top of a package. Imports count wherever they stand,
those for the type checker alone too. Tokens are those of Python's tokenizer without comments, ends
of lines and indents, so a docstring is one.
"""

from __future__ import annotations

import ast
import importlib
import statistics
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from collections import Counter
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import grimp
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[1]
PROGRAM, KIT = "rtbisect", "rtbisect_labkit"

#: A module with less is rarely a thought of its own.
SMALL_LINES = 50
LARGEST = 5
#: What the tokenizer tells of layout and of comments.
LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}

Edges = set[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Source:
    """A file of code, read once."""

    module: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def nodes(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        return [node for node in ast.walk(self.tree) if isinstance(node, kinds)]

    @property
    def tokens(self) -> int:
        lines = iter(self.text.splitlines(keepends=True))
        found = tokenize.generate_tokens(lambda: next(lines, ""))
        return sum(token.type not in LAYOUT for token in found)


def packages_of(root: Path) -> list[str]:
    return [name for name in (PROGRAM, KIT) if (root / "bisect" / name).is_dir()]


def sources_of(root: Path) -> list[Source]:
    """All code of a checkout, in a fixed order."""
    found = []
    for package in packages_of(root):
        for path in sorted((root / "bisect" / package).rglob("*.py")):
            name = path.relative_to(root / "bisect").with_suffix("").as_posix().replace("/", ".")
            text = path.read_text("utf-8")
            found.append(Source(name.removesuffix(".__init__"), text, ast.parse(text)))
    return found


def imports_of(root: Path, *, type_checking: bool = True) -> Edges:
    """Which module of a checkout imports which."""
    place = str(root / "bisect")
    sys.path.insert(0, place)
    importlib.invalidate_caches()
    try:
        graph = grimp.build_graph(
            *packages_of(root), cache_dir=None, exclude_type_checking_imports=not type_checking
        )
    finally:
        sys.path.remove(place)
    return {
        (one, other)
        for one in graph.modules
        for other in graph.find_modules_directly_imported_by(one)
    }


def of_kit(module: str) -> bool:
    return module.partition(".")[0] == KIT


def room_of(module: str) -> str:
    """The room of a module: what stands behind the program's name; the kit is one room."""
    package, _, below = module.partition(".")
    return below.partition(".")[0] if below and package == PROGRAM else package


def between(edges: Edges) -> Edges:
    """Imports from room to room. What the program says of itself, as its version, is no room."""
    rooms = {(room_of(one), room_of(other)) for one, other in edges}
    return {(one, other) for one, other in rooms if one != other and PROGRAM not in (one, other)}


def layers_of(root: Path) -> list[list[str]]:
    """The layers of the contract of rooms, highest first: names of rooms that share one."""
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    contracts = [each for each in settings["contracts"] if each["type"] == "layers"]
    of_rooms = next(each for each in contracts if each.get("containers", [PROGRAM]) == [PROGRAM])
    split = [layer.replace(":", "|").split("|") for layer in of_rooms["layers"]]
    return [[name.strip().removeprefix(f"{PROGRAM}.") for name in names] for names in split]


def circles(edges: Edges) -> list[list[str]]:
    """Groups of two and more that reach each other in a circle."""
    names = sorted({name for edge in edges for name in edge})
    groups: dict[int, list[str]] = {}
    for name, number in zip(names, _components(names, edges), strict=True):
        groups.setdefault(number, []).append(name)
    return sorted(group for group in groups.values() if len(group) > 1)


def _components(names: list[str], edges: Edges) -> list[int]:
    place = {name: number for number, name in enumerate(names)}
    rows, columns = zip(*((place[a], place[b]) for a, b in sorted(edges)), strict=True)
    matrix = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(names)))
    return connected_components(matrix, connection="strong")[1].tolist()


def longest_chain(edges: Edges) -> list[str]:
    """The longest road down the imports; of a circle it sees one member."""
    names = sorted({name for edge in edges for name in edge})
    number = dict(zip(names, _components(names, edges), strict=True))
    head = {group: name for name, group in reversed(number.items())}
    below: dict[int, set[int]] = {group: set() for group in head}
    for one, other in edges:
        if number[one] != number[other]:
            below[number[one]].add(number[other])
    chain: dict[int, list[str]] = {}
    for group in TopologicalSorter(below).static_order():
        longest = max((chain[other] for other in sorted(below[group])), key=len, default=[])
        chain[group] = [head[group], *longest]
    return max(chain.values(), key=lambda road: (len(road), road))


def in_no_layer(sources: Iterable[Source], layers: list[list[str]]) -> list[str]:
    """Rooms of the program that the contract of rooms does not know."""
    known = {name for names in layers for name in names}
    rooms = {room_of(each.module) for each in sources if each.module.startswith(f"{PROGRAM}.")}
    return sorted(rooms - known)


def figures(root: Path) -> dict[str, str]:
    """What there is to say of a checkout, by what it is."""
    sources, edges, layers = sources_of(root), imports_of(root), layers_of(root)
    program = root / "bisect" / PROGRAM
    folders = {path.parent.relative_to(program) for path in program.rglob("*.py")} - {Path()}
    top = [folder for folder in folders if len(folder.parts) == 1]
    loose = [path for path in program.glob("*.py") if path.name != "__init__.py"]
    rooms = between({edge for edge in edges if not any(map(of_kit, edge))})
    lengths = [
        node.end_lineno - node.lineno + 1
        for each in sources
        for node in each.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
    ]
    classes = Counter(node.name for each in sources for node in each.nodes(ast.ClassDef))
    small = [each for each in sources if each.lines < SMALL_LINES and len(each.tree.body) > 1]
    largest = sorted(sources, key=lambda each: (-each.lines, each.module))[:LARGEST]
    missing = in_no_layer(sources, layers)
    return {
        "folders at the top of the program": str(len(top)),
        "folders inside them": str(len(folders) - len(top)),
        "loose modules at the top": str(len(loose)),
        "layers of the contract of rooms": str(len(layers)),
        "rooms in no layer": _listed(missing),
        "imports from room to room (kit left out)": str(len(rooms)),
        "longest import chain of rooms": str(len(longest_chain(rooms))),
        "modules": str(len(sources)),
        "imports from module to module": str(len(edges)),
        "longest import chain of modules": str(len(longest_chain(edges))),
        "circles of modules": _sizes(circles(edges)),
        "circles of modules, without imports for types": _sizes(
            circles(imports_of(root, type_checking=False))
        ),
        "circles of rooms": _sizes(circles(between(edges))),
        "lines": f"{sum(each.lines for each in sources):,}",
        "tokens": f"{sum(each.tokens for each in sources):,}",
        "tokens of the kit": f"{sum(each.tokens for each in sources if of_kit(each.module)):,}",
        "functions": f"{len(lengths):,}",
        "lines of a function, median": f"{statistics.median(lengths):g}",
        f"modules under {SMALL_LINES} lines": str(len(small)),
        "class names used more than once": _listed(sorted(n for n, k in classes.items() if k > 1)),
        "largest files": ", ".join(f"{_short(each.module)} {each.lines}" for each in largest),
    }


def _short(module: str) -> str:
    return module.removeprefix(f"{PROGRAM}.")


def _listed(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "0"


def _sizes(groups: list[list[str]]) -> str:
    sizes = sorted((len(group) for group in groups), reverse=True)
    return f"{len(groups)}, of {', '.join(map(str, sizes))}" if groups else "0"


def lines_by_room(root: Path) -> dict[str, int]:
    """Lines of each room, most first."""
    found: Counter[str] = Counter()
    for each in sources_of(root):
        found[room_of(each.module)] += each.lines
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def unpacked(commit: str, folder: Path) -> Path:
    """The checkout of a commit as far as this tool looks at it."""
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit, "bisect", "pyproject.toml"],
        check=True,
        stdout=subprocess.PIPE,
    )
    subprocess.run(["tar", "-x", "-C", str(folder)], check=True, input=packed.stdout)
    return folder


def table(columns: dict[str, dict[str, str]]) -> str:
    """Markdown: a column for each checkout."""
    rows = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    rows += [
        f"| {what} | {' | '.join(each[what] for each in columns.values())} |"
        for what in next(iter(columns.values()))
    ]
    return "\n".join(rows)


def main(commits: list[str]) -> int:
    said: dict[str, dict[str, str]] = {}
    rooms: dict[str, dict[str, int]] = {}
    for commit in commits or ["working tree"]:
        with tempfile.TemporaryDirectory() as folder:
            root = unpacked(commit, Path(folder)) if commits else ROOT
            said[commit], rooms[commit] = figures(root), lines_by_room(root)
    print(table(said))
    for commit, lines in rooms.items():
        listed = ", ".join(f"{room} {count:,}" for room, count in lines.items())
        print(f"\nLines by room, {commit}: {listed}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
