# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels linked anew with their functions in another order: by LLD, and nothing is compiled again.

Each function gets a section of its own, and a seed shuffles these sections where vmlinux is linked.
Only `.text.*` moves: the order of initcalls, data and tables, and code that has a section anyway
(`.init.text`, `.entry.text`, `.noinstr.text`), stay as they are. Modules stay, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.kernel.sandbox import FRAGMENTS
from rtbisect.model.code import RELINKED
from rtbisect.process import command

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rtbisect.kernel.sandbox import Sandbox

LINKER = "ld.lld"
#: What is made anew, from the top of the O= directory.
KERNEL = "vmlinux"
#: What the wrapper reads the seed from; without it functions stay in the order of the objects.
SEED = "RTBISECT_LAYOUT_SEED"
#: Of our file beside the fragments, which make calls as its linker.
WRAPPER = "link"

#: The linker script takes sections of single functions where it is made for Clang's LTO; the plain
#: one would put them behind _etext. `CFLAGS_KERNEL` is kbuild's for what is built in. The macro of
#: the architecture's name has to go as it does in arch/x86/kernel/Makefile.
FLAGS = (
    f"LD={FRAGMENTS}/{WRAPPER}",
    "CFLAGS_KERNEL=-ffunction-sections",
    "CPPFLAGS_vmlinux.lds=-Ux86 -DCONFIG_LTO_CLANG",
)

#: Sections that are shuffled: those which the linker script takes for functions, see TEXT_MAIN. Two
#: dots begin sections of other kinds.
SHUFFLED = ".text.[0-9a-zA-Z_]*"

#: The linker script of vmlinux; the one that unpacks it lies elsewhere.
SCRIPT = f"""\
#!/bin/sh
case " $* " in
*/kernel/vmlinux.lds\\ *)
	if [ "${{{SEED}:-0}}" != 0 ]; then
		exec {LINKER} "$@" "--shuffle-sections={SHUFFLED}=${SEED}"
	fi
	;;
esac
exec {LINKER} "$@"
"""

#: How a linker that can do it tells so.
_OFFERS = "--shuffle-sections=<section-glob>=<seed>"
_TIMEOUT_S = 60.0


def is_relinked(variant: str) -> bool:
    """Whether kernels of this variant are linked anew."""
    return variant.partition("+")[0] == RELINKED


def seeded(box: Sandbox, seed: int) -> Sandbox:
    """A sandbox in which kernels are linked with a seed."""
    return replace(box, env={**box.env, SEED: str(seed)})


def check_linker(folder: Path) -> None:
    """ConfigError where the linker of this machine cannot shuffle the sections of a pattern."""
    hint = "install lld, version 13 or later (`apt-get install lld`), or set build.layout: fixed"
    program = folder / LINKER
    if not program.is_file():
        raise ConfigError(f"build.layout: relink needs the linker {program}", hint)
    said = command.run([str(program), "--help"], cwd=folder, timeout_s=_TIMEOUT_S)
    if _OFFERS not in said.stdout:
        raise ConfigError(f"{program} cannot shuffle sections of its choice", hint)


def check_config(name: str, config: Mapping[str, str]) -> None:
    """ConfigError where a configuration links in a way that leaves no functions to move."""
    lto = sorted(option for option in config if option.startswith("CONFIG_LTO"))
    if on := [option for option in lto if config[option] == "y" and option != "CONFIG_LTO_NONE"]:
        raise ConfigError(
            f"{name} has {on[0]}=y: such a kernel is compiled again where it is linked",
            "say CONFIG_LTO_NONE=y in a fragment, or set build.layout: fixed",
        )
