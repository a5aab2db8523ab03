# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches of small worlds whose truth is known."""

from dataclasses import dataclass, field, replace

import numpy as np

from helpers.campaigns import RES
from rtbisect.model.campaign import MetricKey, Observation, Scale
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.events import Booted, Built
from rtbisect.search.spec import Finish, SearchSpec
from searchbench.simulate import rehearse

SIZE = 30
CULPRIT = 17


def replayed(search, spec, events):
    """The state of `engine` or of `verification` after a whole log."""
    return replace(search.start(spec), events=tuple(events))


def chain(size):
    commits = [Commit("c0", ("good",), "subject 0")]
    commits += [Commit(f"c{i}", (f"c{i - 1}",), f"subject {i}") for i in range(1, size)]
    return CommitGraph("good", f"c{size - 1}", tuple(commits))


#: A figure with levels, told as it is.
WAIT = replace(
    RES,
    key=MetricKey("rcu", "p50_us", "off"),
    unit="us",
    scale=Scale.LINEAR,
    min_effect=0.2,
    floor=0.0,
)


def spec(graph=None, **changes):
    return SearchSpec(graph=chain(16) if graph is None else graph, threshold=RES, seed=0, **changes)


def built(sha, signature, *, ok=True):
    return Built(sha, ok, signature, 20.0)


def event(sha, value):
    seen = Observation(value=value)
    return Booted(revision=sha, status=RunStatus.COMPLETE, observation=seen, seconds=1.0)


@dataclass
class Toy:
    """Noise-free kernels; `broken` do not build, `status` is how boots of a revision end."""

    graph: CommitGraph
    culprit: str
    broken: tuple[str, ...] = ()
    status: dict[str, RunStatus] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    low: float = 1.0
    high: float = 5.0
    builds: list[str] = field(default_factory=list)
    boots: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.ancestry = Ancestry(self.graph)

    def build(self, sha):
        self.builds.append(sha)
        return None if sha in self.broken else self.signatures.get(sha, f"kernel of {sha}")

    def boot(self, sha):
        self.boots.append(sha)
        where = self.ancestry.index.get(self.culprit)
        bad = where is not None and self.ancestry.side(sha)[where]
        status = self.status.get(sha, RunStatus.COMPLETE)
        return status, self.high if bad else self.low


def search(world, **changes):
    state, finish = rehearse(spec(world.graph, **changes), world)
    return state, finish, engine.answer(state)


#: What `boots_until_the_end` has drawn, in its order.
DRAWN = ("value", "per_cpu", "exposure")


def boots_until_the_end(draw, seed=1, **changes):
    """Search a chain whose commits from CULPRIT on give boots of draw(rng, bad): a figure, those of
    the CPUs, and the exposure where there is one.
    """
    state = engine.start(replace(spec(chain(SIZE)), **changes))
    rng = np.random.default_rng(seed)
    for _ in range(2000):
        first = engine.propose(state)[0]
        if isinstance(first, Finish):
            return state, engine.answer(state)
        sha = first.revision
        if not engine.knows_build(state, sha):
            state = engine.apply(state, built(sha, ""))
        if first.boot:
            bad = sha != "good" and int(sha[1:]) >= CULPRIT
            seen = Observation(**dict(zip(DRAWN, draw(rng, bad), strict=False)))
            state = engine.apply(
                state,
                Booted(
                    revision=sha,
                    status=RunStatus.COMPLETE,
                    observation=seen,
                    seconds=1.0,
                ),
            )
    raise AssertionError("the search does not end")


def on_machine(speed, seed=1, step=5.0, **changes):
    """A search of 64 commits, of which the 40th adds `step`%, on a machine that takes speed(boot)
    times as long; a boot repeats to 1%.
    """
    asked = replace(spec(chain(64), max_boots=300, looks_max=40, **changes), threshold=WAIT)
    state, rng, boots = engine.start(asked), np.random.default_rng(seed), 0
    graph = state.spec.graph
    while not isinstance(first := engine.propose(state)[0], Finish):
        place = 0 if first.revision == graph.older else 1 + int(first.revision[1:])
        level = 100.0 + step * (place > 40) + rng.standard_normal()
        state = engine.apply(state, event(first.revision, level * speed(boots)))
        boots += 1
    return state
