# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels linked anew with their functions in another order: by LLD, and nothing is compiled again.

Each function gets a section of its own, and LLD links vmlinux with these sections in an order that
a seed draws. Only `.text.*` moves: the order of initcalls, data and tables, and code that has a
section anyway (`.init.text`, `.entry.text`, `.noinstr.text`), stay as they are. Modules stay, too.

LLD has --shuffle-sections for this. That orders all sections by their input, and so undoes each
SORT() of the linker script: exported symbols are searched by halves, and no module finds its own.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.kernel.elf import ALLOC, FUNCTION, opened
from rtbisect.kernel.sandbox import FRAGMENTS
from rtbisect.model.code import RELINKED
from rtbisect.process import command

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LINKER = "ld.lld"
#: File that is linked anew, from the top of the O= directory.
KERNEL = "vmlinux"
#: Our files beside the fragments: what make calls as its linker, and functions in the order that is
#: wanted, a name a line; without it they stay in the order of the objects.
WRAPPER, ORDER = "link", "order"

#: The linker script takes sections of single functions where it is made for Clang's LTO; the plain
#: one would put them behind _etext. `CFLAGS_KERNEL` is kbuild's for what is built in. The macro of
#: the architecture's name has to go as it does in arch/x86/kernel/Makefile.
FLAGS = (
    f"LD={FRAGMENTS}/{WRAPPER}",
    "CFLAGS_KERNEL=-ffunction-sections",
    "CPPFLAGS_vmlinux.lds=-Ux86 -DCONFIG_LTO_CLANG",
)

#: Sections that move: those which the linker script takes for functions, see TEXT_MAIN. Two dots
#: begin sections of other kinds.
_MOVED = re.compile(rb"\.text\.[0-9a-zA-Z_]")
#: A line of the order of functions.
_NAME = re.compile(rb"[A-Za-z_.$][\w.$]{0,500}")

#: The linker script of vmlinux; the one that unpacks it lies elsewhere.
SCRIPT = f"""\
#!/bin/sh
case " $* " in
*/kernel/vmlinux.lds\\ *)
	if [ -e "${{0%/*}}/{ORDER}" ]; then
		exec {LINKER} "$@" --no-warn-symbol-ordering "--symbol-ordering-file=${{0%/*}}/{ORDER}"
	fi
	;;
esac
exec {LINKER} "$@"
"""

#: How a linker that can do it tells so.
_OFFERS = "--symbol-ordering-file"
_TIMEOUT_S = 60.0


def is_relinked(variant: str) -> bool:
    """Whether kernels of this variant are linked anew."""
    return variant.partition("+")[0] == RELINKED


def order(objects: Path, seed: int) -> str:
    """Names of the functions that move, a line each, as a seed orders them; `objects` is vmlinux.o.
    NotElfError for a file that cannot be read as an object.
    """
    with opened(objects) as elf:
        moved = {n for n, part in enumerate(elf.sections) if _MOVED.match(part.name)}
        symbols = elf.symbols()
        names = {s.name for s in symbols if s.kind == FUNCTION and s.section in moved}
        # LLD knows them by name: what has one of these anywhere else would move, too.
        names -= {s.name for s in symbols if s.is_here and s.section not in moved}
    lines = sorted(name.decode("ascii") for name in names if _NAME.fullmatch(name))
    random.Random(seed).shuffle(lines)  # noqa: S311  (nothing is secret here)
    return "".join(f"{line}\n" for line in lines)


def check_linker(folder: Path) -> None:
    """ConfigError where the linker of this machine cannot put functions in an order."""
    hint = "install lld (`apt-get install lld`), or set build.layout: fixed"
    program = folder / LINKER
    if not program.is_file():
        raise ConfigError(f"build.layout: relink needs the linker {program}", hint)
    said = command.run([str(program), "--help"], cwd=folder, timeout_s=_TIMEOUT_S)
    if _OFFERS not in said.stdout:
        raise ConfigError(f"{program} cannot order functions", hint)


def check_linked(name: str, vmlinux: Path) -> None:
    """ConfigError for a kernel whose linker script left functions outside of .text (before Linux
    5.12 it knew no sections of single functions): such a kernel does not boot. NotElfError for a
    file that cannot be read.
    """
    with opened(vmlinux) as elf:
        left = [part for part in elf.sections if part.flags & ALLOC and _MOVED.match(part.name)]
    if left:
        raise ConfigError(
            f"{name}: this tree's linker script does not take functions that have a section each"
            f" ({command.printable(command.decode(left[0].name), 80)} is left)",
            "set build.layout: fixed",
        )


def check_config(name: str, config: Mapping[str, str]) -> None:
    """ConfigError where a configuration links in a way that leaves no functions to move."""
    lto = sorted(option for option in config if option.startswith("CONFIG_LTO"))
    if on := [option for option in lto if config[option] == "y" and option != "CONFIG_LTO_NONE"]:
        raise ConfigError(
            f"{name} has {on[0]}=y: such a kernel is compiled again where it is linked",
            "say CONFIG_LTO_NONE=y in a fragment, or set build.layout: fixed",
        )
