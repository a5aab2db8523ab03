# SPDX-License-Identifier: GPL-2.0-or-later
"""One figure of a real project, from the checkout in the current directory.

    cd CHECKOUT && python tools/real_figures.py validate

Prints `ms=...`, CPU time, the median over a few repetitions in one process or of a program that
whoever asks has built in the checkout. A figure of TESTS fails or passes by its exit code. Where
the checkout lacks what the figure needs, the exit code is 125 (skip). What the checkout imports
from elsewhere has to be installed, the project itself must not be. Compiled files are kept by
revision, in REAL_CACHE: those beside the source are taken for current where a checkout changes a
file within a second and keeps its size.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import random
import resource
import runpy
import shlex
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SKIP = 125


def project(name: str) -> Any:
    module = importlib.import_module(name)
    if not Path(str(module.__file__)).is_relative_to(Path.cwd()):
        raise ImportError(f"{name} comes from {module.__file__}, not from the checkout")
    return module


def keep_compiled() -> None:
    words = ["git", "rev-parse", "HEAD"]
    head = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    folder = os.environ.get("REAL_CACHE") or tempfile.gettempdir()
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(folder) / f"real-figures-{head}")
    # A checkout gives files new times, the revision says all that matters.
    SourceFileLoader.path_stats = lambda _self, path: {  # type: ignore[method-assign,assignment]
        "mtime": 0,
        "size": Path(path).stat().st_size,
    }


def import_pyparsing() -> tuple[Callable[[], object], int]:
    """pyparsing issue 362: the import, with compiled files there."""
    project("pyparsing")

    def again() -> None:
        for name in [n for n in sys.modules if n.split(".")[0] == "pyparsing"]:
            del sys.modules[name]
        project("pyparsing")

    return again, 5


def validate() -> tuple[Callable[[], object], int]:
    """jsonschema issue 853: a document against a schema with references."""
    jsonschema = project("jsonschema")
    leaf = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}}
    definitions: dict[str, Any] = {"d0": leaf}
    for number in range(1, 12):
        definitions[f"d{number}"] = {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "next": {"$ref": f"#/definitions/d{number - 1}"},
            },
        }
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": definitions,
        "type": "array",
        "items": {"$ref": "#/definitions/d11"},
    }
    node: dict[str, Any] = {"name": "leaf"}
    for _ in range(11):
        node = {"name": "node", "next": node}
    validator = jsonschema.Draft7Validator(schema)
    document = [node] * 12
    return lambda: validator.validate(document), 7


def differentiate() -> tuple[Callable[[], object], int]:
    """sympy issue 21521: an expression with floating point powers, differentiated."""
    sympy = project("sympy")
    cache = importlib.import_module("sympy.core.cache")
    m, c, x, y = sympy.symbols("m c x y", real=True)
    r2 = x**2 + y**2
    root = sympy.sqrt(m**2 - m**2 * c**2)
    base = (m + root) / (4 * sympy.sqrt(r2)) + 1
    big = m**2 * c**2 * y**2 / r2 + r2 * base**4
    expression = (x**2 * y**2 * big / (r2**3 * (1 - y**2 / r2)) + x**2 * big) / (
        r2 ** (5 / 2) * (sympy.sqrt(r2) * base**2 - m + root)
    )

    def work() -> None:
        cache.clear_cache()
        expression.diff(x)

    return work, 3


def components() -> tuple[Callable[[], object], int]:
    """networkx issue 6870: connected components of a dense graph."""
    networkx = project("networkx")
    rng = random.Random(1)
    graph = networkx.Graph()
    graph.add_edges_from((rng.randrange(1500), rng.randrange(1500)) for _ in range(48000))
    # Nodes that are alone: the search through the others never has all of the graph.
    graph.add_nodes_from(range(1500, 1510))
    return lambda: list(networkx.connected_components(graph)), 15


def markdown() -> tuple[Callable[[], object], int]:
    """mistune issue 235: a text of headings, lists, quotes, code and emphasis."""
    mistune = project("mistune")
    part = (
        "# A heading\n\nSome *emphasis*, **strong text**, `code`, a [link](https://example.org "
        '"title"). A second\nline, and <https://example.org> by itself.\n\n- one\n- two\n'
        "  - inside\n- three\n\n> A quotation with **strong** words\n> in two lines.\n\n"
        "```python\nprint(1)\n```\n\n1. first\n2. second\n\n* * *\n\n"
    )
    text = part * 25
    return lambda: mistune.markdown(text), 5


def frozen() -> tuple[Callable[[], object], int]:
    """attrs pull request 991: instances of a frozen class with slots and 20 attributes."""
    attr = project("attr")
    names = [f"a{number}" for number in range(20)]
    made = attr.make_class("C", names, slots=True, frozen=True)

    def work() -> None:
        for _ in range(4000):
            made(*names)

    return work, 7


@dataclass(frozen=True)
class Program:
    """What whoever asks has built in the checkout, and what it reads."""

    path: str
    text: Callable[[], str]

    def words(self, read: Path) -> list[str]:
        """A command of its own, for what counts instructions; `read` holds the text."""
        return ["sh", "-c", f"exec ./{self.path} <{shlex.quote(str(read))} >/dev/null"]

    def figure(self) -> tuple[Callable[[], object], int]:
        if not Path(self.path).is_file():
            raise FileNotFoundError(f"{self.path} is not built")
        words, text = [f"./{self.path}"], self.text().encode()
        return partial(subprocess.run, words, input=text, stdout=subprocess.DEVNULL, check=True), 5


def prose(words: int) -> str:
    """A text that can be compressed, always the same."""
    rng = random.Random(1)
    known = ["".join(rng.choices("etaoinshrdlu", k=rng.randrange(2, 9))) for _ in range(3000)]
    return " ".join(known[int(len(known) * rng.random() ** 3)] for _ in range(words))


PROGRAMS = {
    # cmark issue 214: links that are not closed.
    "unclosed-links": Program("build/src/cmark", lambda: "[a](b" * 5000),
    # zlib issue 820; the program is its example of a stream without a CRC.
    "deflate": Program("zpipe", lambda: prose(120_000)),
}
#: A file and a test of it. networkx issue 7236: fails now and then, in 1 of 100 runs.
TESTS = {"edge-swap": ("networkx/algorithms/tests/test_swap.py", "test_directed_edge_swap")}
#: Runs of a test; it fails if one of them does.
TEST_RUNS = 60
FIGURES = {
    "import-pyparsing": import_pyparsing,
    "validate": validate,
    "differentiate": differentiate,
    "components": components,
    "markdown": markdown,
    "frozen": frozen,
    **{name: program.figure for name, program in PROGRAMS.items()},
}


def cpu_s() -> float:
    """CPU time of this process and of those that it has run."""
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def passes(path: str, name: str) -> bool:
    """Whether a test passes for all of its parameters, each time in a file that is loaded anew."""
    project(Path(path).parts[0])
    for _ in range(TEST_RUNS):
        test = runpy.run_path(path)[name]
        marks = getattr(test, "pytestmark", ())
        calls = [partial(test, of) for mark in marks for of in mark.args[1]] or [test]
        try:
            for each in calls:
                each()
        except Exception as error:  # noqa: BLE001  (whatever a foreign test raises)
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            return False
    return True


def main() -> int:
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in FIGURES and name not in TESTS:
        sys.stderr.write(f"name a figure: {', '.join((*FIGURES, *TESTS))}\n")
        return 2
    sys.path[:0] = [str(Path.cwd()), str(Path.cwd() / "src")]
    # Old revisions ask for the version that is installed.
    importlib.metadata.version = lambda _name: "0"  # type: ignore[assignment]
    try:
        keep_compiled()
        if name in TESTS:
            return 0 if passes(*TESTS[name]) else 1
        work, repetitions = FIGURES[name]()
        work()
        times_s = []
        for _ in range(repetitions):
            begun_s = cpu_s()
            work()
            times_s.append(cpu_s() - begun_s)
    except Exception as error:  # noqa: BLE001  (whatever a foreign revision raises)
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return SKIP
    print(f"ms={1000 * statistics.median(times_s):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
