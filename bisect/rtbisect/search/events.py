# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search hears of: builds, boots, commits that change nothing, reverts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.campaign import Observation
    from rtbisect.model.lab import RunStatus


@dataclass(frozen=True, slots=True)
class Built:
    """A revision was built, or did not build."""

    revision: str
    ok: bool
    #: Of the kernel; empty where it is not known. Equal signatures are equal kernels.
    signature: str
    seconds: float
    #: 0: as it is configured; 1, 2, ...: the same sources with functions at other addresses.
    layout: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Booted:
    """One boot. Only COMPLETE with an observation is evidence."""

    revision: str
    status: RunStatus
    #: The searched figure; None where the boot does not have it.
    observation: Observation | None
    seconds: float
    #: Code layout of the build, as in Built.
    layout: int = 0


@dataclass(frozen=True, slots=True)
class Silent:
    """Commits whose kernels are taken to be those of their parents without a build, because they
    touch no file that any build so far was made from. The last such event holds.
    """

    #: Commit and parent.
    pairs: tuple[tuple[str, str], ...]
    #: Numbers of the files of each commit that others of them touch too.
    shared: Mapping[str, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reverted:
    """`revision` is `tip` without what `commit` changed."""

    revision: str
    tip: str
    commit: str


Event: TypeAlias = Built | Booted | Silent | Reverted
