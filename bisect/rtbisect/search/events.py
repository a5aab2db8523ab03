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
    """A revision was built, or did not build. An empty signature is an unknown one."""

    revision: str
    ok: bool
    signature: str
    seconds: float
    layout: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Booted:
    """One boot. Only COMPLETE with an observation is evidence."""

    revision: str
    run_id: str
    status: RunStatus
    observation: Observation | None
    seconds: float
    layout: int = 0


@dataclass(frozen=True, slots=True)
class Silent:
    """Pairs (commit, parent) whose kernels are taken to be equal without a build, because the
    commit touches no file that any build so far was made from. The last such event holds.
    `shared` has numbers of the files of each commit that others of them touch too.
    """

    pairs: tuple[tuple[str, str], ...]
    shared: Mapping[str, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reverted:
    """`revision` is `tip` without what `commit` changed."""

    revision: str
    tip: str
    commit: str


Event: TypeAlias = Built | Booted | Silent | Reverted
