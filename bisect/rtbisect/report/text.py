# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain ASCII text: foreign words made harmless, numbers with units, tables, histograms.

Nothing here knows a campaign. Prose is wrapped at PROSE columns; tables may use up to
TABLE columns and are never wrapped.
"""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtbisect.words import numbers

PROSE = 72
TABLE = 76
#: Characters of a sentence with an address in it: cut, it would lead nowhere.
LONGEST_LINK = 900

#: Characters that have an ASCII form which NFKD does not know; U+03BC is mu.
_SPELLED = {
    "\u03bc": "u",
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u2010": "-",
    "\u2011": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u00df": "ss",
    "\u00f8": "o",
    "\u00d8": "O",
    "\u0142": "l",
    "\u0141": "L",
    "\u00e6": "ae",
}

#: What tools act upon when they find it in a mail: trailers and bot commands.
_TRAILER = re.compile(r"(?i)(-by|\bfixes|\bcloses|\bcc):(?=\s|$)")
_COMMAND = re.compile(r"(?i)#(?=\s*(regzbot|syz|kernelci)\b)")


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; a cut is seen by its dots."""
    return text if len(text) <= limit else text[: max(0, limit - 3)].rstrip() + "..."


def ascii_line(text: str, limit: int = 200) -> str:
    """One line of printable ASCII; accents go, white space collapses, the rest becomes `?`.

    Control and bidi characters become `?` too, so that a reader sees that there was
    something.
    """
    plain: list[str] = []
    for char in unicodedata.normalize("NFKD", text[: 4 * limit]):
        if char.isspace():
            plain.append(" ")
        elif " " < char < "\x7f":
            plain.append(char)
        elif not unicodedata.combining(char):
            plain.append(_SPELLED.get(char, "?"))
    return cut(" ".join("".join(plain).split()), limit)


def foreign(text: str, limit: int = 100) -> str:
    """Text of a tree for a mail's body: ASCII, and no trailer or bot command in it."""
    clean = _COMMAND.sub("# ", _TRAILER.sub(r"\1 :", ascii_line(text, limit)))
    return cut(clean, limit)


def public_address(repo: str) -> str:
    """The address of a repository as others may read it: "" for a path, which is of no use to them,
    and tells of this machine.
    """
    return "" if repo.startswith(("/", "file:")) else repo


def header_text(text: str, limit: int = 120) -> str:
    """Text for a header: ASCII, no encoded word in it, and no word too long to fold."""
    words = (cut(word, 48) for word in ascii_line(text, limit).replace("=?", "= ?").split())
    return cut(" ".join(words), limit)


def wrap(text: str, width: int = PROSE, first: str = "", rest: str = "") -> str:
    """A paragraph; `first` and `rest` are the indents of its first and other lines."""
    lines = textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def linked(text: str) -> str:
    """A paragraph that ends with an address, which is never broken: it stands in a line of its own
    where it does not fit behind its words.
    """
    return "\n".join(textwrap.wrap(text, PROSE, break_long_words=False, break_on_hyphens=False))


def unit_text(unit: str) -> str:
    """A unit as it is printed: `us` for microseconds, `/s` for rates, nothing for ratios."""
    return numbers.unit(foreign(unit, 12), "")


def suffix(unit: str) -> str:
    """A unit behind a number."""
    return numbers.unit(foreign(unit, 12))


def many(count: int, noun: str) -> str:
    """`1 boot`, `2 boots`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def number(value: float, unit: str = "", *, sign: bool = False, whole: bool = True) -> str:
    """Three significant digits with the unit; whole numbers below a million are exact.

    `whole` false gives whole numbers their decimals too, for a row of mixed ones.
    """
    return numbers.figure(value, "+" if sign else "", whole=whole) + suffix(unit)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    #: Its cells stand right, as numbers do, and are never cut.
    right: bool = False
    #: Heading over the title.
    over: str = ""


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int = TABLE
) -> tuple[str, ...]:
    """Lines of a fixed-width table: titles, what stands over them, rule, rows, indented by two.

    Where it would be wider than `width` the widest left column is cut; numbers, which stand in
    right columns, are not.
    """
    cells = [[foreign(cell, width) for cell in row] for row in rows]
    widths = [
        max(len(column.title), len(column.over), *(len(row[i]) for row in cells), 0)
        for i, column in enumerate(columns)
    ]
    spare = width - 2 * len(columns)
    left = [i for i, column in enumerate(columns) if not column.right]
    while sum(widths) > spare and left:
        widest = max(left, key=lambda i: widths[i])
        if widths[widest] <= 6:
            break
        widths[widest] -= 1
    lines = [[column.title for column in columns], ["-" * size for size in widths], *cells]
    if any(column.over for column in columns):
        lines.insert(0, [column.over for column in columns])
    return tuple(_row(columns, widths, line, width) for line in lines)


def grouped(
    columns: Sequence[Column], groups: Mapping[str, Sequence[Sequence[str]]]
) -> tuple[str, ...]:
    """A table whose rows stand under headings, indented below them."""
    rows = [row for group in groups.values() for row in group]
    head, rule, *rest = table(columns, rows, TABLE - 2)
    body, lines = iter(rest), [f"  {head}", f"  {rule}"]
    for heading, group in groups.items():
        lines += [f"  {foreign(heading, TABLE - 2)}", *(f"  {next(body)}" for _ in group)]
    return tuple(lines)


def _row(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[str], width: int) -> str:
    parts = [
        cell.rjust(size) if column.right else cut(cell, size).ljust(size)
        for column, size, cell in zip(columns, widths, cells, strict=True)
    ]
    return cut(("  " + "  ".join(parts)).rstrip(), width)


def bar(share: float, width: int = 24) -> str:
    """`share` of `width` hashes; anything above zero shows at least one."""
    if not share > 0:
        return ""
    return "#" * max(1, round(min(share, 1.0) * width))


def histogram(
    base: Sequence[float], new: Sequence[float], unit: str, names: Sequence[str]
) -> tuple[str, ...]:
    """Two columns of counts over log2 buckets, at most 12 rows, lines up to TABLE columns.

    A bucket b holds values of [2^b, 2^(b+1)); values of zero and below share the lowest
    row. With a wider range neighbouring buckets are joined.
    """
    sides = [[value for value in side if math.isfinite(value)] for side in (base, new)]
    values = [*sides[0], *sides[1]]
    if not values:
        return ()
    rows: list[tuple[str, int, int]] = []
    if any(value <= 0 for value in values):
        below = [sum(value <= 0 for value in side) for side in sides]
        rows.append(("<= 0", below[0], below[1]))
    powers = [[math.floor(math.log2(value)) for value in side if value > 0] for side in sides]
    every = [*powers[0], *powers[1]]
    if every:
        low, high = min(every), max(every)
        step = math.ceil((high - low + 1) / (12 - len(rows)))
        for edge in range(low, high + 1, step):
            counts = [sum(edge <= power < edge + step for power in side) for side in powers]
            label = f"{_power(edge)} .. {_power(edge + step)}"
            rows.append((label, counts[0], counts[1]))
    return counted(unit_text(unit) or "value", rows, names)


def counted(
    title: str, rows: Sequence[tuple[str, int, int]], names: Sequence[str]
) -> tuple[str, ...]:
    """Two columns of counts with bars, behind what is counted."""
    most = max(max(one, other) for _, one, other in rows)
    columns = (
        Column(title, right=True),
        Column(cut(names[0], 16), right=True),
        Column(""),
        Column(cut(names[1], 16), right=True),
        Column(""),
    )
    return table(
        columns,
        [(label, str(a), bar(a / most, 16), str(b), bar(b / most, 16)) for label, a, b in rows],
    )


def _power(exponent: int) -> str:
    return number(math.ldexp(1.0, min(exponent, 1023)))


def short(revision: str) -> str:
    """A revision as a reader takes it: 12 digits of an id, names as they are."""
    clean = foreign(revision, 40)
    hexadecimal = len(clean) == 40 and all(c in "0123456789abcdef" for c in clean)
    return clean[:12] if hexadecimal else clean
