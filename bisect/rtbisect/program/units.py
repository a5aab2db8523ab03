# SPDX-License-Identifier: GPL-2.0-or-later
"""Units behind figures: what is one, and how much of another one of its kind it is. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

#: By how much a unit is to be multiplied for the first one of its kind.
TIMES = {
    "ns": 1.0, "ps": 1e-3, "us": 1e3, "µs": 1e3, "μs": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6,
    "s": 1e9, "sec": 1e9, "secs": 1e9, "second": 1e9, "seconds": 1e9, "min": 60e9, "h": 3600e9,
}  # fmt: skip
SIZES = {
    "B": 1.0, "byte": 1.0, "bytes": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
}  # fmt: skip
_KINDS = (TIMES, SIZES)
#: Units that stand alone; of rates and frequencies a prefix may stand before.
_PLAIN = frozenset({"%", "rpm"})
_PREFIXED = frozenset({"Hz", "op", "ops", "iops", "IOPS", "W", "J", "bps", "FLOPS"})

_PREFIXES = {
    None: 1.0, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
    "ki": 2.0**10, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40,
}  # fmt: skip
#: A prefix, and what is counted by it: `Gbit`, `Kelem`, `Gi`. The i of `Kitems` and `Miops` is none
#: of a prefix: that stands before bits and bytes, or alone. Words that begin with such a letter are
#: cut, too, which does no harm: `Gates` stay of one kind with `Gates`.
_COUNTED = re.compile(r"([kKMGT](?:i(?=(?:[bB]|bits?|[bB]ytes?)?$))?|m(?=[WJ]?$))?(.*)", re.DOTALL)
_SAME = {"ops": "op", "IOPS": "iops", "Byte": "B", "Bytes": "B", "b": "bit", "bits": "bit"}

#: What is counted a second, where a name ends with it and `_s` or `_sec`: `read_mb_s`, `kops_s`. A
#: single `b` is as likely the second of two programs.
_RATE = re.compile(
    r"[kmgt]i?b|(?:[kmgt]i?)?(?:bytes?|bits?|ops|iops|flops|reqs?|requests|items)", re.IGNORECASE
)
#: Ends of names that say the unit.
_SUFFIXES = {
    "ns": "ns", "us": "us", "ms": "ms", "s": "s", "sec": "s", "seconds": "s", "bytes": "B",
    "percent": "%", "pct": "%",
}  # fmt: skip


def is_unit(text: str) -> bool:
    """Whether a word behind a number is a unit: "12 errors" is no measurement."""
    first, *others = text.split("/")
    if not others:
        counted = _COUNTED.fullmatch(text)
        known = text in _PLAIN or any(text in kind for kind in _KINDS)
        return known or (counted is not None and counted[2] in _PREFIXED)
    # A number a second has nothing before the stroke.
    named = others if not first and others[0] in TIMES else [first, *others]
    return all(part and not part[0].isdigit() for part in named)


def unit_of(metric: str) -> str:
    """The unit that the name of a figure ends with, as `p99_us`; "" for none, and for that of a
    rate, as `ops_per_s` and `read_mb_s`, which is no time.
    """
    before, underscore, end = metric.rpartition("_")
    word = before.split("_")[-1]
    rate = word == "per" or (end in ("s", "sec") and _RATE.fullmatch(word) is not None)
    return _SUFFIXES.get(end, "") if underscore and not rate else ""


def goes_by_time(unit: str) -> bool:
    """Whether a figure in this unit is a time or a rate; without a unit it may be one."""
    return not unit or any(part in TIMES for part in unit.split("/"))


def usual(unit: str, like: str) -> str:
    """The unit in which a figure is kept where nobody asks for one: ns of times, B of sizes, of
    other kinds that of the figure before it, `like`, where that is of its kind, else its own.
    """
    for kind in _KINDS:
        if unit in kind:
            return next(iter(kind))
    return unit if factor(unit, like) is None else like


def factor(unit: str, wanted: str) -> float | None:
    """By what a figure in `unit` is multiplied for one in `wanted`; None where they are of two
    kinds. Steps of k, M and G are 1000, those of Ki, Mi and Gi 1024.
    """
    if unit == wanted:
        return 1.0
    (kind, size), (other, divisor) = _scale(unit), _scale(wanted)
    # What has a unit of thirty hours below the stroke is no size that a number holds.
    return size / divisor if kind == other and size and divisor else None


@lru_cache(maxsize=1024)
def _scale(unit: str) -> tuple[tuple[str, ...], float]:
    """What a unit measures, and how much of the plain unit of that it is."""
    (kind, size), *others = map(_part, unit.split("/"))
    for _, divisor in others:
        size /= divisor
    return (kind, *(name for name, _ in others)), size


def _part(word: str) -> tuple[str, float]:
    for kind in _KINDS:
        if word in kind:
            return next(iter(kind)), kind[word]
    counted = _COUNTED.fullmatch(word)
    prefix, what = counted.groups() if counted else (None, word)
    return _SAME.get(what, what), _PREFIXES[prefix]
