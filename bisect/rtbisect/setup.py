# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixed values of a campaign, and the ports that it works through."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from rtbisect.errors import ConfigError
from rtbisect.fingerprints import Fingerprint, Machine, lifted, made
from rtbisect.model.campaign import (  # noqa: TC001  (pydantic reads the annotations)
    CampaignRequest,
    Limits,
    Threshold,
)
from rtbisect.model.code import BuildRequest  # noqa: TC001
from rtbisect.model.command import repairs
from rtbisect.model.formats import kept_as
from rtbisect.model.lab import DeviceType, HostProfile, Window  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.ports import Builder, Clock, Journal, Lab, Mailer, Progress, Tree

F = TypeVar("F", bound=Fingerprint)


@kept_as("Setup")
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


def keep_setup(setup: Setup, journal: Journal) -> None:
    """Remember what a campaign runs with; SetupChangedError when a resumed one would run with
    something else: figures of two set-ups do not mix.
    """
    for key, kind, parts in (
        ("setup", Fingerprint, setup_parts(setup)),
        ("machine", Machine, machine_parts(setup)),
    ):
        kept = _kept(journal, key, kind, parts)
        if not kept.fits(parts):
            raise SetupChangedError(
                "the site file, its fragments or thresholds/ changed since"
                f" {journal.campaign} began",
                "put them back as they were, or start a new campaign",
            )
        if not kept.document:
            journal.rewrite(key, kind, lifted(kept, parts))


def _kept(journal: Journal, key: str, kind: type[F], parts: Mapping[str, Any]) -> F:
    return journal.step(key, kind, lambda _note: made(kind, parts))


def setup_parts(setup: Setup) -> dict[str, Any]:
    """What the figures and the answer of a campaign depend on."""
    return {
        **_measured(setup),
        "device": setup.device,
        "thresholds": setup.thresholds,
        "limits": setup.limits,
        "explaining": setup.explaining,
    }


def machine_parts(setup: Setup) -> dict[str, Any]:
    """What boots depend on. Thresholds and limits judge them, and change nothing of them."""
    return {**_measured(setup), "device": replace(setup.device, boot_s=0)}


def _measured(setup: Setup) -> dict[str, Any]:
    return {
        "build": setup.build,
        "profile": setup.profile,
        "windows": setup.windows,
        "window_ms": setup.window_ms,
        "rcu_calls": setup.rcu_calls,
    }
