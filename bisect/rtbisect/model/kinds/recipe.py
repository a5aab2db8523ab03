# SPDX-License-Identifier: GPL-2.0-or-later
"""What the steps of a recipe are for: how a reader of a report measures it again."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Recipe(Kind):
    """What the lines of a step do."""

    #: The evidence, with its scripts.
    DATA = "recipe.data"
    #: In the place of the lines that fetch it.
    IN_DATA = "recipe.in-data", "campaign"
    PROGRAM = "recipe.program"
    BUILD = "recipe.build"
    #: In each kernel once; in so many boots of each, because `seen` of `of` boots showed it.
    MEASURE = "recipe.measure"
    MEASURE_OFTEN = "recipe.measure-often", "boots seen of"
    #: In QEMU, as an emulator's report was; else in the place of a machine. `other` is true behind
    #: another way to measure.
    BOOT = "recipe.boot", "emulated other"
    BOOT_OFTEN = "recipe.boot-often", "emulated other seen of"
    #: `source` is where a clone comes from, or the name of a tree that is only here.
    CLONE = "recipe.clone", "source"
    LOCAL_CLONE = "recipe.local-clone", "tree"
    #: Of a command: the repository is only here.
    REPOSITORY = "recipe.repository"
    #: By this program, with machines of one's own.
    LAB = "recipe.lab"
