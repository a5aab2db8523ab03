# SPDX-License-Identifier: GPL-2.0-or-later
"""What the steps of a recipe are for: how a reader of a report measures it again."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Recipe(Kind):
    """What the lines of a step do."""

    #: What the data of a campaign hold: the evidence, with its scripts.
    DATA = "recipe.data"
    #: Told in the place of the lines that fetch the data of the campaign.
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
    #: A command was measured, and its repository is only on this machine.
    REPOSITORY = "recipe.repository"
    #: The reader repeats the campaign with this program, on machines of their own.
    LAB = "recipe.lab"
