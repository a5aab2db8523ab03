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
from rtbisect.search.events import Booted, Built
from rtbisect.search.spec import Finish, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbisect.search.events import Event
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import SearchSpec


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


def events(state: SearchState, world: World, trial: Trial) -> Iterator[Event]:
    """What the world answers to one proposed test; costs are those of the specification."""
    spec, sha, layout = state.spec, trial.revision, trial.layout
    if layout:
        if (sha, layout) not in state.ledger.views:
            yield Built(sha, True, "", spec.layout_cost_s or 0.0, layout)  # noqa: FBT003
        status, value = cast("LayoutWorld", world).boot_layout(sha, layout)
    else:
        if not engine.knows_build(state, sha):
            signature = world.build(sha)
            yield Built(sha, signature is not None, signature or "", spec.build_cost_s)
            if signature is None:
                return
        if not trial.boot:
            return
        status, value = world.boot(sha)
    complete = status is RunStatus.COMPLETE
    # Of worlds with several hosts.
    host = getattr(world, "host", "")
    yield Booted(
        revision=sha,
        status=status,
        observation=Observation(value=value, host=host) if complete else None,
        seconds=spec.boot_cost_s,
        layout=layout,
    )


def until(
    state: SearchState, world: World, there: Callable[[SearchState], bool]
) -> tuple[SearchState, Finish | None]:
    """A search on one host up to where `there` holds (then None), or to its end before that."""
    while not isinstance(first := engine.propose(state)[0], Finish):
        if there(state):
            return state, None
        for event in events(state, world, first):
            state = engine.apply(state, event)
    return state, first


def rehearse(
    spec: SearchSpec,
    world: World,
    within: Callable[[SearchState], SearchState] | None = None,
    hosts: int = 1,
) -> tuple[SearchState, Finish]:
    """Run a search to its end; InternalError if it would go on without bound. `within` gives a
    state the limits that it has by now; None: those of the specification. On several hosts it has a
    boot on each at a time.
    """
    return carry_on(engine.start(spec), world, within, hosts)


def carry_on(
    state: SearchState,
    world: World,
    within: Callable[[SearchState], SearchState] | None = None,
    hosts: int = 1,
) -> tuple[SearchState, Finish]:
    """The same from where a search stands."""
    for _ in range(10 * (state.spec.max_boots + state.spec.max_builds)):
        if within is not None:
            state = within(state)
        for proposal in engine.propose(state, free_hosts=hosts):
            if isinstance(proposal, Finish):
                return state, proposal
            for event in events(state, world, proposal):
                state = engine.apply(state, event)
    raise InternalError("the search does not end")
