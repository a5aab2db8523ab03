# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of somebody's mail: which figures cannot be what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

#: A row with more numbers is no table for a reader.
_MOST_COLUMNS = 40

#: Lines above a table that are looked at, and characters of one that names its columns.
_MOST_ABOVE = 120
_MOST_HEAD = 300

#: Boots of a row beyond which any figure is near a share of them.
_MOST_BOOTS = 100

_KERNEL = re.compile(
    r"(?i)\bv?[3-9]\.[0-9]+|\b(kernel|parent|commit|good|bad|reverted|culprit|new|old)\b"
)
_COLUMNS = re.compile(r"\S {2,}\S")

_TOKEN = re.compile(r"[0-9][0-9.,]*%?")


class _Figure(NamedTuple):
    """A number of a row."""

    #: The number as printed, with its percent sign.
    text: str
    value: float
    #: Digits behind the point.
    digits: int
    #: The column behind its last character, from 0.
    at: int


def sums_as_maxima(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Rows of osnoise whose "maximum" is the sum of the noise: with R the runtime, X the maximum
    and A the share available in percent, A = 100 (R - X) / R to the last digit. Gives line and
    name of the column.
    """
    for place, row in _rows(lines):
        head = _column_titles(lines, place)
        if head is None:
            continue
        named = ((part, _title_of_column(head, part.at)) for part in row)
        maxima = [(part, name) for part, name in named if "max" in name.lower()]
        if name := next((name for part, name in maxima if _is_sum(part, row)), ""):
            yield place, name


def _is_sum(part: _Figure, row: Sequence[_Figure]) -> bool:
    for share in row:
        if not 0 < share.value < 100 or not (share.text.endswith("%") or share.digits >= 2):
            continue
        for total in row:
            if share.digits and 0 < part.value < total.value:
                available = 100 * (total.value - part.value) / total.value
                if abs(available - share.value) < 10.0**-share.digits:
                    return True
    return False


def same_counters(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Counts of five digits or more that two kernels share: in one row of a table with a kernel a
    column, or in two rows with one label that are of two kernels. Round numbers are set, not
    counted; what one kernel counted before and after may well be the same.
    """
    kernel_of: dict[tuple[str, str], str] = {}
    for place, row in _rows(lines):
        label, kernel = _label(lines[place]), _kernel(lines, place)
        columns = bool(_COLUMNS.search(_column_titles(lines, place) or ""))
        counts: set[str] = set()
        for figure in row:
            plain = figure.text.replace(",", "").rstrip("%")
            if figure.digits or len(plain) < 5 or plain.endswith("000"):
                continue
            earlier_kernel = kernel_of.get((label, plain)) if label else None
            if (columns and plain in counts) or (
                earlier_kernel is not None and earlier_kernel != kernel
            ):
                yield place, plain
            counts.add(plain)
        if label:
            kernel_of |= {(label, plain): kernel for plain in counts}


#: A number of a row, also in `[3.30..13.1]`, `8.55/s` and `7.8e-05`.
_PRINTED = re.compile(r"(?<![\w.])-?([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)(?=[\s\])/+|%]|\.\.|$)")
_ALIKE = 3


def same_figures(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Rows of one table that agree in every measured figure to the last digit, of which they have
    three or more that differ among themselves. Whole numbers and shares of so many boots are
    counted and may well be the same. Gives the later line and a figure.
    """
    rows_above: set[tuple[str, ...]] = set()
    for place, line in enumerate(lines):
        if not line.strip():
            rows_above = set()
        words = line.replace("..", " .. ")
        printed = tuple(match[1] for match in _PRINTED.finditer(words))
        measured = [text for text in printed if _continuous(text)]
        if len(set(measured)) < _ALIKE or _are_shares_of_boots(measured, printed):
            continue
        key = tuple(measured)
        if key in rows_above:
            yield place, key[0]
        rows_above.add(key)


def _continuous(text: str) -> bool:
    """A p of few boots is the smallest that there is, and often the same."""
    return "." in text and "e" not in text and float(text) >= 0.01


def _are_shares_of_boots(measured: Sequence[str], printed: Sequence[str]) -> bool:
    """Every figure is so many of the boots that the row names."""
    boots = [int(text) for text in printed if text.isdigit() and 1 < int(text) <= _MOST_BOOTS]
    return any(
        all(
            abs(float(text) * n - round(float(text) * n)) <= n * _half_of_last_digit(text)
            for text in measured
        )
        for n in boots
    )


def _half_of_last_digit(text: str) -> float:
    """Half of what the last digit of a number stands for."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def _kernel(lines: Sequence[str], place: int) -> str:
    """The nearest line above that says which kernel follows, "" for none."""
    for line in reversed(lines[max(0, place - _MOST_ABOVE) : place]):
        if _KERNEL.search(line) and not _label(line):
            return line.strip()
    return ""


def _rows(lines: Sequence[str]) -> Iterator[tuple[int, list[_Figure]]]:
    for place, line in enumerate(lines):
        figures = []
        for token in _TOKEN.finditer(line):
            before = line[token.start() - 1 : token.start()]
            after = line[token.end() : token.end() + 1]
            # Parts of names, versions, ids and dates are no figures.
            if (before and not before.isspace()) or (after and after not in " |)"):
                continue
            text = token[0].rstrip(".,")
            plain = text.replace(",", "").rstrip("%")
            if re.fullmatch(r"[0-9]+(\.[0-9]+)?", plain):
                digits = len(plain.partition(".")[2])
                figures.append(_Figure(text, float(plain), digits, token.end()))
        if 2 <= len(figures) <= _MOST_COLUMNS:
            yield place, figures


def _column_titles(lines: Sequence[str], place: int) -> str | None:
    """The line above a row that names its columns."""
    for line in reversed(lines[max(0, place - 12) : place]):
        short = len(line) <= _MOST_HEAD
        if short and len(re.findall(r"[A-Za-z_%]{3,}", line)) >= 3 and not _TOKEN.search(line):
            return line
        if not line.strip():
            continue
    return None


def _title_of_column(head: str, at: int) -> str:
    """The word of the head whose end, or middle, is the closest to the end of a figure."""
    words = [(abs(word.end() - at), word[0]) for word in re.finditer(r"\S+", head)]
    return min(words)[1] if words else ""


def _label(line: str) -> str:
    """What a row is about, as in /proc/interrupts: LOC, IWI, RES; kernels differ in the rest."""
    match = re.search(r"\b([A-Z]{3}):", line)
    return match[1] if match else ""
