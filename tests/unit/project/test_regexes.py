# SPDX-License-Identifier: GPL-2.0-or-later
"""Every regular expression of the program takes its text in linear time, or stands in the table
below with what bounds the text that it is given. The patterns are taken apart; nothing is timed.
"""

import ast
import importlib
import re
import warnings
from pathlib import Path

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from re import _constants as op
    from re import _parser as parser

ROOT = Path(__file__).resolve().parents[3]
#: A repeat that may be longer than this is one without end.
BIG = 256

#: How many patterns of a file take more, and why they never get a long text.
BOUNDED = {
    "bisect/rtbisect_labkit/demo/people.py": (
        2,
        "a file of the kernel that the demo brings itself",
    ),
    "bisect/rtbisect/acceptance/inspection.py": (1, "an address that the operator gives"),
    "bisect/rtbisect/kernel/blame.py": (1, "files of /proc"),
    "bisect/rtbisect/kernel/cgroups.py": (1, "the name of a folder of ours"),
    "bisect/rtbisect/kernel/products.py": (1, "names between slashes: one way to split them"),
    "bisect/rtbisect/kernel/config_check.py": (1, "fullmatch: it begins once a line"),
    "bisect/rtbisect/kernel/first_error.py": (12, "_short: 2000 characters of a line"),
    "bisect/rtbisect/lab/classify.py": (4, "_LONGEST_LINE; 120 characters of a signature"),
    "bisect/rtbisect/lab/lava/http_server.py": (2, "_HEAD_BYTES of a request"),
    "bisect/rtbisect/lab/profile.py": (1, "the name of a profile in the operator's site file"),
    "bisect/rtbisect/program/tool_outputs.py": (3, "_LONGEST_LINE"),
    "bisect/rtbisect/program/wanted.py": (2, "an expression of who runs the program"),
    "bisect/rtbisect/report/lint/content.py": (4, "_MOST_TEXT of a mail"),
    "bisect/rtbisect/report/lint/tags.py": (4, "_MOST_TEXT of a mail"),
    "bisect/rtbisect/report/picture_style.py": (1, "a file that comes with the program"),
    "bisect/rtbisect/report/policy.py": (1, "_LONGEST_PERSON"),
    "bisect/rtbisect/config/schema.py": (1, "an address of the operator's site file"),
    "bisect/rtbisect/suites/osnoise.py": (1, "_LONGEST_LINE"),
    "bisect/rtbisect/suites/senders.py": (1, "fullmatch: it begins once a line"),
    "bisect/rtbisect/trees/patches.py": (2, "MOST_SUBJECT"),
}

ANY = frozenset(range(256))


def category(code):
    name = str(code)
    word = next((w for k, w in (("DIGIT", r"\d"), ("SPACE", r"\s"), ("WORD", r"\w")) if k in name))
    found = {c for c in ANY if re.match(word, chr(c))}
    return ANY - found if "NOT" in name else found


def members(items):
    found, negated = set(), False
    for code, value in items:
        if code is op.NEGATE:
            negated = True
        elif code is op.LITERAL:
            found.add(value)
        elif code is op.RANGE:
            found |= set(range(value[0], min(value[1], 255) + 1))
        elif code is op.CATEGORY:
            found |= category(value)
    return ANY - found if negated else found


def begins(code, value):  # noqa: PLR0911  (one for each kind of a part)
    """The characters that a part may begin with, and whether it may be empty."""
    if code is op.LITERAL:
        return {value}, False
    if code is op.NOT_LITERAL:
        return ANY - {value}, False
    if code is op.ANY:
        return ANY - {10}, False
    if code is op.IN:
        return members(value), False
    if code in (op.MAX_REPEAT, op.MIN_REPEAT):
        found, empty = all_begin(value[2])
        return found, empty or value[0] == 0
    if code is op.SUBPATTERN:
        return all_begin(value[3])
    if code is op.BRANCH:
        each = [all_begin(part) for part in value[1]]
        return set().union(*(found for found, _ in each)), any(empty for _, empty in each)
    return set(), True


def all_begin(parts):
    found = set()
    for code, value in parts:
        chars, empty = begins(code, value)
        found |= chars
        if not empty:
            return found, False
    return found, True


def flat(parts):
    for code, value in parts:
        if code is op.SUBPATTERN:
            yield from flat(value[3])
        else:
            yield code, value


def endless(code, value):
    return code in (op.MAX_REPEAT, op.MIN_REPEAT) and value[1] > BIG


def is_slow(parts, *, anchored):
    """Whether a pattern may take the square of its text, or more: by a search that begins anew
    inside what a repeat without end has read, by two of those that share characters with nothing
    else between them, or by one in another.
    """
    parts = list(flat(parts))
    at_begin = any(code is op.AT and "BEGINNING" in str(value) for code, value in parts[:1])
    if not anchored and not at_begin and begins_anew(parts):
        return True
    for place, (code, value) in enumerate(parts):
        if code is op.BRANCH and any(is_slow(each, anchored=True) for each in value[1]):
            return True
        if endless(code, value) and (nests(value) or shares(value, parts[place + 1 :])):
            return True
    return False


def begins_anew(parts):
    first = all_begin(parts)[0]
    for place, (code, value) in enumerate(parts):
        if endless(code, value) and all_begin(value[2])[0] & first:
            return not all_begin(parts[place + 1 :])[1]
    return False


def nests(value):
    mine = all_begin(value[2])[0]
    return any(begins(*each)[0] & mine for each in flat(value[2]) if endless(*each))


def shares(value, behind):
    mine = all_begin(value[2])[0]
    for other in behind:
        chars, empty = begins(*other)
        if endless(*other) and chars & mine:
            return True
        if not empty and not chars & mine:
            return False
    return False


def compiled(value):
    """The patterns in a value of a module."""
    if isinstance(value, re.Pattern):
        yield value.pattern
    elif isinstance(value, tuple):
        for each in value:
            yield from compiled(each)


def slow_patterns(path):
    found = set()
    source = ast.parse(path.read_text())
    called = [
        node for node in ast.walk(source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.args
    ]  # fmt: skip
    for node in called:
        if node.func.attr == "escape":
            continue
        try:
            pattern = ast.literal_eval(node.args[0])
        except ValueError:
            if node.func.attr != "compile" or node.col_offset > 20:
                found.add(ast.unparse(node))
            continue
        if is_slow(parser.parse(pattern), anchored=node.func.attr in ("match", "fullmatch")):
            found.add(pattern)
    if path.is_relative_to(ROOT / "bisect"):
        name = ".".join(path.relative_to(ROOT / "bisect").with_suffix("").parts)
        for value in vars(importlib.import_module(name.removesuffix(".__init__"))).values():
            for pattern in compiled(value):
                if is_slow(parser.parse(pattern), anchored=False):
                    found.add(pattern)
    return found


FILES = sorted(
    path
    for folder in ("bisect", "lava-jobs", "tools")
    for path in (ROOT / folder).rglob("*.py")
    if re.search(r"^import re$", path.read_text(), re.MULTILINE)
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_patterns_are_linear_or_their_text_is_bounded(path):
    found = slow_patterns(path)
    most, _why = BOUNDED.get(str(path.relative_to(ROOT)), (0, ""))
    assert len(found) == most, found


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*=\s*",
        r".*x",
        r"(a+)+b",
        r"x.*y.*z",
        r"\w+ stalls",
        r"(\[[^\]]*\]\s*)*",
        r"(x|a*a*b)",
        r"\[[^\]]*\]",
    ],
)
def test_slow_ones_are_known(pattern):
    assert is_slow(parser.parse(pattern), anchored=False)


@pytest.mark.parametrize(
    "pattern", [r"^a+b", r"a.*", r"<[^<>]{1,200}>", r"x\d+:\w+", r"(\.[a-z]+)*", r"[a-z]+"]
)
def test_quick_ones_are_known(pattern):
    assert not is_slow(parser.parse(pattern), anchored=False)
