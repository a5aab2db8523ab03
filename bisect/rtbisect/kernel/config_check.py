# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the configuration that was asked for with the one that came out. Pure.

Kconfig silently drops what it cannot set (unknown here, unmet dependency), and a kernel
without the option would be measured as if it had it. Hence every asked line is compared.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from rtbisect.process.command import encode

_SET = re.compile(r"(CONFIG_\w+)=(.*)")
_UNSET = re.compile(r"#\s*(CONFIG_\w+) is not set")

#: Files that can change what Kconfig makes of the same question.
_INPUT = re.compile(
    r"(?:.*/)?Kconfig[^/]*|Makefile|arch/[^/]+/Makefile|scripts/.*"
    r"|arch/[^/]+/configs/.*|kernel/configs/.*"
)


def parse(text: str) -> dict[str, str]:
    """Options of a fragment or of a .config; the last line of an option wins.

    "is not set" reads as n. Other lines are comments.
    """
    options: dict[str, str] = {}
    for raw in text.splitlines():
        line = raw.strip()
        if match := _SET.fullmatch(line):
            options[match[1]] = match[2]
        elif match := _UNSET.fullmatch(line):
            options[match[1]] = "n"
    return options


def wanted_options(fragments: Iterable[str]) -> dict[str, str]:
    """Options of all fragments, later fragments win."""
    merged: dict[str, str] = {}
    for fragment in fragments:
        merged |= parse(fragment)
    return merged


def dropped(fragments: Iterable[str], config: str) -> tuple[str, ...]:
    """Every option of the fragments that `config` does not have as asked, with both values as in
    .config; "n" also for an absent option.
    """
    options = parse(config)
    return tuple(
        f"{option}: asked {value}, found {options.get(option, 'n')}"
        for option, value in wanted_options(fragments).items()
        if _same(value) != _same(options.get(option, "n"))
    )


def _same(value: str) -> str:
    # A string option that depends on something absent reads as n: empty is the same.
    return "n" if value == '""' else value


#: NR_CPUS of x86_64 with SMP where nothing else is asked (arch/x86/Kconfig).
DEFAULT_CPUS = 64
#: Configurations of the tree that say nothing else of CPUs, and whether they have SMP.
_BASES = {"defconfig": "y", "x86_64_defconfig": "y", "tinyconfig": "n", "allnoconfig": "n"}


def most_cpus(base: str, fragments: Iterable[str]) -> int | None:
    """How many CPUs a kernel of this configuration can have; None where only its tree can tell."""
    options = wanted_options(fragments)
    smp = options.get("CONFIG_SMP", _BASES.get(base))
    if smp == "n":
        return 1
    if options.get("CONFIG_MAXSMP") == "y":
        return None
    if (number := options.get("CONFIG_NR_CPUS", "")).isdecimal():
        return int(number)
    return DEFAULT_CPUS if base in _BASES else None


def inputs(listing: str) -> list[str]:
    """Lines of `git ls-tree -r -z` that can change a configuration."""
    return [line for line in listing.split("\0") if _INPUT.fullmatch(line.partition("\t")[2])]


def config_key(base: str, fragments: Sequence[str], tools: str, listing: str) -> str:
    """Equal keys: the configuration step would give the same .config once more."""
    parts = [base, tools, *fragments, *inputs(listing)]
    digest = hashlib.sha256()
    for part in parts:
        data = encode(part)
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()
