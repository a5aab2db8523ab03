# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixed values of a campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rtbisect.errors import ConfigError
from rtbisect.model.campaign import (
    CampaignRequest,
    Limits,
    Threshold,
    first_rules,
    untoward,
    with_sought,
)
from rtbisect.model.code import RELINKED, BuildRequest
from rtbisect.model.formats import kept_as
from rtbisect.model.lab import DeviceType, HostProfile, Window  # noqa: TC001


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSetup:
    """How kernels are built, on what they boot and what is measured there."""

    #: Pattern of a build request, whose revision is filled in.
    build: BuildRequest
    device: DeviceType
    profile: HostProfile
    windows: tuple[Window, ...]
    #: Length of a window that measures, in milliseconds.
    window_ms: int
    #: Timed calls of a window of the suite rcu.
    rcu_calls: int
    #: Windows that only boots of a proof have, see `Window.explains`.
    explaining: tuple[Window, ...] = ()

    @property
    def relinked(self) -> bool:
        """Before each boot its kernel is linked anew, with its functions in another order."""
        return self.build.variant == RELINKED

    @property
    def suite_params(self) -> tuple[tuple[str, int], ...]:
        """Parameters that suites have for themselves; each is a field here, as it is kept."""
        return (("rcu_calls", self.rcu_calls),)


def _with_sought(setup: dict[str, Any]) -> dict[str, Any]:
    request = with_sought(setup["request"])
    kept = untoward(setup["thresholds"], request["sought"])
    return setup | {"request": request, "thresholds": kept}


#: Keys of version 2 that belong to kernels alone.
_OF_KERNELS = ("build", "device", "profile", "windows", "window_ms", "rcu_calls", "explaining")


def _with_kernel(setup: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had no part for kernels; a command was dressed as a device without a template."""
    kernel = {name: value for name, value in setup.items() if name in _OF_KERNELS}
    others = {name: setup[name] for name in setup if name not in (*_OF_KERNELS, "command")}
    return others | {"kernel": kernel if kernel["device"]["template"] else None}


def _with_rules(setup: dict[str, Any]) -> dict[str, Any]:
    """Versions 3 to 17 did not know the rules that came after them."""
    limits = setup["limits"]
    return setup | {"limits": limits | first_rules(limits)}


@kept_as("Setup", _with_sought, _with_kernel, *[_with_rules] * 16)
@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The fixed values of a campaign."""

    request: CampaignRequest
    tree: str
    repo: str
    #: The thresholds as they are in the files; see `judged`.
    thresholds: tuple[Threshold, ...]
    limits: Limits
    #: A person, as `Name <address>`; "" where a command is measured.
    operator: str
    #: None where the campaign measures a command.
    kernel: KernelSetup | None
    #: Seconds that a build and a run cost; None where these are to be measured.
    given_build_s: float | None = None
    given_boot_s: float | None = None

    @property
    def booted(self) -> KernelSetup:
        """`kernel`, for what makes no sense without; ConfigError where a command is measured."""
        if self.kernel is None:
            raise ConfigError("this campaign measured a command and no kernel", "name another one")
        return self.kernel

    @property
    def judged(self) -> tuple[Threshold, ...]:
        """The thresholds as this campaign judges: what it searches is the worse."""
        return tuple(each.toward(self.request.sought) for each in self.thresholds)
