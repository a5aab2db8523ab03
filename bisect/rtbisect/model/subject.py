# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign knows of what it measures, and what it asks of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbisect.model.lab import Window
    from rtbisect.model.setup import KernelSetup


class Measured(StrEnum):
    """What a campaign builds and runs."""

    #: A kernel, which is built and boots on a host.
    KERNEL = "kernel"
    #: Any command, in the files of a revision.
    COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a campaign has to know of its subject: what it is, and what it can be asked."""

    measured: Measured
    #: The subject is a command that has a build of its own.
    built_apart: bool = False
    #: The subject is a command whose builds are known by the files that they leave.
    products: bool = False
    #: Builds with another code layout can be had.
    layouts: bool = False
    #: Each run is of a build with a code layout of its own: builds of one revision differ by no
    #: more than its runs.
    relaid: bool = False
    #: Any run takes about as long as another, so that the first one can be guessed.
    guessed: bool = False
    #: On what it boots and what is measured there. By that a culprit has a cause, a source and
    #: gates; where it is None nobody asks for them.
    host: KernelSetup | None = None

    @property
    def builds(self) -> bool:
        """A build is work of its own, and worth telling."""
        return self.built_apart or self.measured is Measured.KERNEL

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows that measure; () where a run is all that there is."""
        return self.host.windows if self.host else ()

    @property
    def explaining(self) -> tuple[Window, ...]:
        """The windows that explain figures of others."""
        return self.host.explaining if self.host else ()

    def explaining_of(self, window: str) -> tuple[Window, ...]:
        """The windows that explain the figures of the one of this name."""
        return tuple(each for each in self.explaining if each.explains == window)

    def level_of(self, window: str) -> str:
        """What runs beside the measurement in a window, for tables; KeyError where it is none."""
        if self.host is None:
            return "none"
        return {each.name: each.level for each in (*self.windows, *self.explaining)}[window]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """One run of a built revision. A command knows nothing of what is said of a boot."""

    run_id: str
    #: Its place among the runs of a campaign, from 1.
    number: int
    #: As in the boot that is wanted (pipeline/boot_queue.py); `explain` is a window, "" for
    #: none.
    layout: int = 0
    explain: str = ""
    probes: tuple[str, ...] = ()
    #: Windows by name that come before all others; in a boot that is `short` no others measure.
    first: tuple[str, ...] = ()
    short: bool = False
    #: Unit of a command's figure in the earlier runs; None before the first figure.
    unit: str | None = None
    #: The instructions of a command are counted, whatever it prints.
    count: bool = False
    #: Where runs have a layout each: the run whose layout this one has; "": its own.
    linked_as: str = ""
