# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixed values of a campaign."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rtbisect.model.campaign import (
    CampaignRequest,
    Limits,
    Threshold,
    untoward,
    with_sought,
)
from rtbisect.model.code import BuildRequest  # noqa: TC001  (pydantic reads the annotations)
from rtbisect.model.formats import kept_as
from rtbisect.model.lab import DeviceType, HostProfile, Window  # noqa: TC001


def _with_sought(setup: dict[str, Any]) -> dict[str, Any]:
    request = with_sought(setup["request"])
    kept = untoward(setup["thresholds"], request["sought"])
    return setup | {"request": request, "thresholds": kept}


@kept_as("Setup", _with_sought)
@dataclass(frozen=True, slots=True)
class Setup:
    """The fixed values of a campaign; `build` is a pattern whose revision is filled in.
    `thresholds` are those of the files, see `judged`. With `command` a boot is a run of a command
    that checks out and builds by itself.
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
    def judged(self) -> tuple[Threshold, ...]:
        """The thresholds as this campaign judges: what it searches is the worse."""
        return tuple(each.toward(self.request.sought) for each in self.thresholds)

    @property
    def suite_params(self) -> tuple[tuple[str, int], ...]:
        """Parameters that suites have for themselves; each is a field here, as it is kept."""
        return (("rcu_calls", self.rcu_calls),)

    @property
    def run_word(self) -> str:
        return "run" if self.command else "boot"

    def in_words(self, text: str) -> str:
        """What the search says of boots, in the words of this campaign: a command builds what it
        needs by itself, and runs.
        """
        if not self.command:
            return text
        text = text.replace("are the same kernel, bit for bit", "have the same files")
        return re.sub(r"\bboot(s?)\b", r"run\1", re.sub(r"\b\d+ builds?, ", "", text))
