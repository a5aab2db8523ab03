# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixed values of a campaign."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rtbisect.model.campaign import (  # noqa: TC001  (pydantic reads the annotations)
    CampaignRequest,
    Limits,
    Threshold,
)
from rtbisect.model.code import BuildRequest  # noqa: TC001
from rtbisect.model.command import repairs
from rtbisect.model.formats import kept_as
from rtbisect.model.lab import DeviceType, HostProfile, Window  # noqa: TC001


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
    def suite_params(self) -> tuple[tuple[str, int], ...]:
        """Parameters that suites have for themselves; each is a field here, as it is kept."""
        return (("rcu_calls", self.rcu_calls),)

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
