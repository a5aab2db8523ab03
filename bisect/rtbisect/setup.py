# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixed values of a campaign, and the ports that it works through."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.model.campaign import (  # noqa: TC001  (pydantic reads the annotations)
    CampaignRequest,
    Limits,
    Threshold,
)
from rtbisect.model.code import BuildRequest  # noqa: TC001
from rtbisect.model.command import repairs
from rtbisect.model.lab import DeviceType, HostProfile, Window  # noqa: TC001

if TYPE_CHECKING:
    from rtbisect.ports import Builder, Clock, Journal, Lab, Mailer, Progress, Tree


@dataclass(frozen=True, slots=True)
class Setup:
    """The fixed values of a campaign; `build` is a pattern whose revision is filled in. With
    `command` a boot is a run of a command that checks out and builds by itself.
    """

    request: CampaignRequest
    tree: str
    repo: str
    build: BuildRequest
    device: DeviceType
    profile: HostProfile
    windows: tuple[Window, ...]
    window_ms: int
    rcu_calls: int
    thresholds: tuple[Threshold, ...]
    limits: Limits
    operator: str
    explaining: tuple[Window, ...] = ()
    given_build_s: float | None = None
    given_boot_s: float | None = None
    command: bool = False

    def explaining_of(self, window: str) -> tuple[Window, ...]:
        """The windows that explain the figures of the one of this name."""
        return tuple(each for each in self.explaining if each.explains == window)

    @property
    def run_word(self) -> str:
        return "run" if self.command else "boot"

    def in_words(self, text: str) -> str:
        """What the search says of boots, in the words of this campaign: a command builds what it
        needs by itself, and runs; a search for a repair goes from broken to fixed.
        """
        if repairs(self.request):
            for word, other in (("good", "broken"), ("bad", "fixed"), ("regression", "repair")):
                text = re.sub(rf"(?<!-)\b{word}\b", other, text)
        if not self.command:
            return text
        text = text.replace("are the same kernel, bit for bit", "have the same files")
        return re.sub(r"\bboot(s?)\b", r"run\1", re.sub(r"\b\d+ builds?, ", "", text))


@dataclass(frozen=True, slots=True)
class Parts:
    """The ports that a campaign works through."""

    tree: Tree
    builder: Builder
    lab: Lab
    journal: Journal
    mailer: Mailer
    clock: Clock
    progress: Progress


class SetupChangedError(ConfigError):
    """A campaign cannot go on: it was begun with another set-up."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the figures of a campaign depend on, as one hash."""

    sha256: str


@dataclass(frozen=True, slots=True)
class Machine:
    """What boots of two campaigns have to have in common to be compared, as one hash."""

    sha256: str

    @classmethod
    def of(cls, setup: Setup) -> Machine:
        """Thresholds and limits judge boots, and change nothing of them."""
        parts = (
            setup.build, replace(setup.device, boot_s=0), setup.profile, setup.windows,
            setup.window_ms, setup.rcu_calls,
        )  # fmt: skip
        return cls(hashlib.sha256(repr(parts).encode()).hexdigest())


def keep_setup(setup: Setup, journal: Journal) -> None:
    """Remember what a campaign runs with; SetupChangedError when a resumed one would run with
    something else: figures of two set-ups do not mix.
    """
    parts = (
        setup.build, setup.device, setup.profile, setup.windows, setup.window_ms,
        setup.rcu_calls, setup.thresholds, setup.limits, setup.explaining,
    )  # fmt: skip
    now = Fingerprint(hashlib.sha256(repr(parts).encode()).hexdigest())
    if journal.step("setup", Fingerprint, lambda _note: now) != now:
        raise SetupChangedError(
            f"the site file, its fragments or thresholds/ changed since {journal.campaign} began",
            "put them back as they were, or start a new campaign",
        )
    journal.step("machine", Machine, lambda _note: Machine.of(setup))
