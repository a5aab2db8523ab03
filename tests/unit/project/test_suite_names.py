# SPDX-License-Identifier: GPL-2.0-or-later
"""A suite is described by its own files: no other module of the program names one."""

import ast
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from helpers.source_texts import texts
from rtbisect.suites import base

PACKAGE = Path(__file__).resolve().parents[3] / "bisect" / "rtbisect"

SUITES = {suite.name for suite in base.every()}

#: Words that mean something else, too: only where they stand as the name of a suite does.
WORDS = {"epoll", "reach", "sampled", "senders", "stall"}

#: RCU is also a part of the kernel, which has these names for it.
KERNEL = re.compile(r"rcu[_-]nocb\w*|rcu_read_lock")

#: A name alone, or with a window, a figure or an option behind it.
AS_NAME = re.compile(rf"({'|'.join(sorted(SUITES, key=len, reverse=True))})([-_.@/:]\S*)?")

#: Modules that name suites, which ones, and why.
NAMED = {
    "campaign/first_fingerprint.py": ({"rcu"}, "frozen"),
    "campaign/plan.py": (
        {"ipi", "osnoise", "rcu"},
        "a hint says what to begin with; a key of the site file becomes a field of Setup",
    ),
    "campaign/resolve.py": ({"ipi"}, "the suite of `try` where none is named"),
    "cli/bisect.py": ({"ipi"}, "an example for who types"),
    "cli/options.py": ({"ipi"}, "an example for who types"),
    "cli/check.py": ({"rcu"}, "an example for who types"),
    "config/schema.py": ({"rcu"}, "a key of the site file"),
    "lab/windows.py": ({"ipi", "osnoise", "rcu"}, "windows that suites share belong to none"),
    "model/command.py": ({"rcu"}, "frozen"),
    "model/setup.py": ({"rcu"}, "a field that is kept"),
    "program/tool_outputs.py": (
        {"osnoise", "rtla", "timerlat"},
        "a tool whose output `run` reads has the name of a suite",
    ),
    "words/metrics.py": (
        {
            "epoll",
            "hwnoise",
            "ipi",
            "osnoise",
            "rcu",
            "rcuscale",
            "rcutorture",
            "rtla",
            "sampled",
            "siteload",
            "stall",
            "timerlat",
        },
        "plain words for figures; a suite without any is told by its name and title",
    ),
    "words/workloads.py": (
        {"epoll", "osnoise", "rcu"},
        "plain words for workloads, and for the windows that suites share",
    ),
    "report/lint/content.py": ({"osnoise"}, "foreign text tells of the tracer of that name"),
}

MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE / "suites"]


def relative(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def named(tree: ast.AST) -> Iterator[str]:
    """Suites that code imports, or names in a text or an identifier. Docstrings may."""
    for text in map(partial(KERNEL.sub, ""), texts(tree)):
        if whole := AS_NAME.fullmatch(text):
            yield whole[1]
        yield from set(re.findall(r"[A-Za-z0-9]+", text)) - WORDS
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rtbisect.suites"):
            yield from {node.module.rpartition(".")[2], *(each.name for each in node.names)}
        else:
            for field in ("id", "attr", "arg", "name"):
                yield from set(str(getattr(node, field, "")).lower().split("_")) - WORDS


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_nobody_names_a_suite(path: Path) -> None:
    allowed, _why = NAMED.get(relative(path), (set(), ""))
    assert set(named(ast.parse(path.read_text()))) & SUITES == allowed


def test_the_exceptions_are_modules() -> None:
    assert set(NAMED) <= {relative(path) for path in MODULES}


@pytest.mark.parametrize(
    ("code", "suites"),
    [
        ("from rtbisect.suites import ipi, base", {"ipi"}),
        ("from rtbisect.suites.stall import FROZEN", {"stall"}),
        ("if suite == 'reach': pass", {"reach"}),
        ("window = 'senders-pf'", {"senders"}),
        ("f'{x}: rcutorture did not run'", {"rcutorture"}),
        ("request.rcu_calls", {"rcu"}),
        ("run(osnoise_runtime_s=1)", {"osnoise"}),
        ("reach = stall_of('a stall within reach')", set()),
        ("'''Of the suite ipi.'''", set()),
        ("facts['rcu_nocbs']", set()),
    ],
)
def test_what_counts_as_a_name(code: str, suites: set[str]) -> None:
    assert set(named(ast.parse(code))) & SUITES == suites
