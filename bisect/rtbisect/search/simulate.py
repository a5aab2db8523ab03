# SPDX-License-Identifier: GPL-2.0-or-later
"""Play a search against a world whose truth is known: for tests, and to measure how often
a stated confidence is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from rtbisect.errors import InternalError
from rtbisect.model.campaign import Observation
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.search.engine import Event, Finish, SearchSpec, SearchState


class World(Protocol):
    """Answers what a builder and a lab would find out."""

    def build(self, sha: str) -> str | None:
        """Signature of the kernel ("" unknown), None when it does not build."""

    def boot(self, sha: str) -> tuple[RunStatus, float]:
        """How a fresh boot ends, and its value."""


class LayoutWorld(World, Protocol):
    """A world that also builds revisions with other layouts."""

    def boot_layout(self, sha: str, layout: int) -> tuple[RunStatus, float]:
        """The same for a build with another layout."""


def events(state: SearchState, world: World, trial: engine.Trial, name: str) -> Iterator[Event]:
    """What the world answers to one proposed test; costs are those of the specification."""
    spec = state.spec
    if trial.layout:
        yield from _layout_events(state, world, trial, name)
        return
    if not engine.knows_build(state, trial.revision):
        signature = world.build(trial.revision)
        ok = signature is not None
        yield engine.Built(trial.revision, ok, signature or "", spec.build_cost_s)
        if not ok:
            return
    if trial.boot:
        status, value = world.boot(trial.revision)
        observation = (
            Observation(revision=trial.revision, run_id=name, value=value)
            if status is RunStatus.COMPLETE
            else None
        )
        yield engine.Booted(
            revision=trial.revision,
            run_id=name,
            status=status,
            observation=observation,
            seconds=spec.boot_cost_s,
        )


def _layout_events(
    state: SearchState, world: World, trial: engine.Trial, name: str
) -> Iterator[Event]:
    spec, sha, layout = state.spec, trial.revision, trial.layout
    if (sha, layout) not in state.ledger.views:
        yield engine.Built(sha, True, "", spec.layout_cost_s or 0.0, layout)  # noqa: FBT003
    status, value = cast("LayoutWorld", world).boot_layout(sha, layout)
    observation = (
        Observation(revision=sha, run_id=name, value=value)
        if status is RunStatus.COMPLETE
        else None
    )
    yield engine.Booted(
        revision=sha,
        run_id=name,
        status=status,
        observation=observation,
        seconds=spec.boot_cost_s,
        layout=layout,
    )


def rehearse(spec: SearchSpec, world: World) -> tuple[SearchState, Finish]:
    """Run a search to its end; InternalError if it would go on without bound."""
    state = engine.start(spec)
    for number in range(10 * (spec.max_boots + spec.max_builds)):
        first = engine.propose(state)[0]
        if isinstance(first, engine.Finish):
            return state, first
        for event in events(state, world, first, f"run{number}"):
            state = engine.apply(state, event)
    raise InternalError("the search does not end")
