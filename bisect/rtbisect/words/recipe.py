# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of recipes: comments above lines for a shell, short enough for one line of a mail each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.kinds.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.finding import Value
    from rtbisect.words.template import Words


def _boot(data: Mapping[str, Value]) -> str:
    emulated = "both kernels in QEMU, as here"
    place = emulated if data["emulated"] else "in QEMU: shows the effect, not the figures"
    return f"{'or ' if data['other'] else ''}{place}"


SENTENCES: Mapping[str, Words] = {
    Recipe.DATA: "all figures, logs, configuration and scripts, with SHA256SUMS",
    Recipe.IN_DATA: "in the data of {campaign}:",
    Recipe.PROGRAM: "the program rtbisect, for Python 3.11 or newer",
    Recipe.BUILD: "parent and commit with that configuration; shows its make lines",
    Recipe.MEASURE: "on your machine, booted into each of these kernels",
    Recipe.MEASURE_OFTEN: ("on your machine; {boots} boots of each kernel show it (95%)"),
    Recipe.BOOT: _boot,
    Recipe.BOOT_OFTEN: lambda data: f"{_boot(data)}; {{seen}} of {{of}} boots showed it",
    Recipe.CLONE: "in a clone of {source}",
    Recipe.LOCAL_CLONE: "in a clone of {tree} (here from a local copy)",
    Recipe.REPOSITORY: "in the repository",
    Recipe.LAB: "all of it again, in a lab with a site file of its own",
}
