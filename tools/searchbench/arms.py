# SPDX-License-Identifier: GPL-2.0-or-later
"""The arms of the benchmark: ours, ours without a part, the oracle, and `git bisect run`."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from rtbisect.errors import InternalError
from rtbisect.model.campaign import Observation, Outcome, Sample
from rtbisect.model.lab import RunStatus
from rtbisect.pipeline.proof import most_boots
from rtbisect.pipeline.search_and_proof import tells_more
from rtbisect.pipeline.search_loop import (
    SearchEnd,
    probability_with_proof,
    proof_events,
)
from rtbisect.search import engine, verification
from rtbisect.search.ancestry import candidates_between
from rtbisect.search.events import Booted, Built
from rtbisect.search.likelihood import hypotheses
from rtbisect.search.parts import WHOLE_MODEL, Parts
from rtbisect.search.siblings import boots_to_keep, build_plan
from rtbisect.search.stop import LEADING
from searchbench import bayesect
from searchbench.calibration import AMPLE, OF_SITE, calibrated, spec_of
from searchbench.oracle import known_grids
from searchbench.simulate import carry_on, rehearse

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.model.campaign import Limits
    from rtbisect.model.code import CommitGraph
    from rtbisect.search.events import Event
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import SearchAnswer, SearchSpec
    from searchbench.world import World

#: Limits of the arms with a proof: enough of all, one proof at most, and what a site has that says
#: nothing.
PROVED = {
    "ours-proved": AMPLE,
    "ours-proved-once": replace(AMPLE, proofs=1),
    "ours-site": OF_SITE,
}
#: Arms of ours without a part. No world of these has figures of CPUs.
WITHOUT = {
    "ours-no-controls": Parts(controls=False),
    "ours-no-layouts": Parts(layouts=False),
    "ours-no-cost": Parts(costs=False),
    "ours-no-h0": Parts(none=False),
    "ours-no-build-noise": Parts(build_noise=False),
    "ours-no-pairs": Parts(two_culprits=False),
    "ours-no-states": Parts(states=False),
}
#: Outcomes that say that there is no culprit.
NOTHING = ("not_reproduced", "layout_sensitive")


@dataclass(frozen=True)
class Row:
    """What one arm did in one trial. `right`: the culprit, or a none that is true."""

    cell: str
    arm: str
    trial: int
    outcome: str
    right: bool
    has_culprit: bool
    confidence: float
    boots: int
    runs: int
    builds: int
    hours: float
    cpu_s: float
    calibration: int
    reproduced: bool

    def data(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Played:
    """What a search of an arm may spend, in a world."""

    world: World
    limits: Limits
    #: Whether there is a proof, for which it leaves something.
    proof: bool

    def left(self, state: SearchState) -> int:
        """Boots that the search may still take."""
        kept = self.limits.kept_with(boots_to_keep(state)) if self.proof else 0
        return max(0, self.boots - kept)

    @property
    def boots(self) -> int:
        return max(0, self.limits.max_boots - self.world.boots)


def ours(world: World, arm: str) -> tuple[str, str | None, float]:
    """Outcome, culprit and stated confidence of our engine, whole or without a part."""
    play = Played(world, PROVED.get(arm, AMPLE), proof=arm in PROVED)
    spec = replace(spec_of(world, play.limits), parts=WITHOUT.get(arm, WHOLE_MODEL))
    # What the answer says of kernels that it does not explain is not a part of what is measured.
    unread = mock.patch("rtbisect.search.engine.contradictions", return_value=())
    with unread:
        state, finish = rehearse(spec, world, play.left)
        world.calibration, world.reproduced = state.ends.used, bool(state.ends.reproduced)
        answer = engine.answer(state)
        if answer.between:
            return split(play, spec, answer.between)
        if play.proof and finish.outcome is Outcome.CULPRIT:
            return proved(play, SearchEnd(answer, state))
    culprit = answer.culprit
    if finish.outcome is Outcome.CULPRIT_SET:
        culprit = of_set(world, answer)
    return finish.outcome.value, culprit, answer.confidence


def of_set(world: World, answer: SearchAnswer) -> str:
    """The commit that stands for a set: a set is right when it holds the culprit."""
    shas = [sha for sha, _ in answer.candidates]
    return next((sha for sha in shas if sha in world.truth), shas[0])


def split(play: Played, spec: SearchSpec, between: str) -> tuple[str, str | None, float]:
    """Two culprits: the parts before and after the split are searched with what is left. Right when
    at least one is named and none of them is wrong.
    """
    world = play.world
    named: dict[str, float] = {}
    for ends in ((world.graph.older, between), (between, world.graph.newer)):
        if play.boots < 2 * spec.calibrate_min:
            break
        half = replace(spec, graph=candidates_between(world.graph, *ends), max_boots=play.boots)
        answer = engine.answer(rehearse(half, world)[0])
        if answer.culprit:
            named[answer.culprit] = answer.confidence
    if not named:
        return Outcome.INCONCLUSIVE.value, None, 0.0
    first = next((sha for sha in named if sha not in world.truth), next(iter(named)))
    return Outcome.MULTIPLE_CULPRITS.value, first, min(named.values())


def proved(play: Played, found: SearchEnd) -> tuple[str, str | None, float]:
    """Outcome, culprit and confidence after a proof of what a search has named; where that leaves
    it open, after the search has gone on with its boots, and so on.
    """
    world = play.world
    for proofs_left in range(play.limits.proofs - 1, -1, -1):
        outcome, confidence, heard = proof_of(play, found)
        if outcome is Outcome.CULPRIT:
            return outcome.value, found.answer.culprit, confidence
        if not (proofs_left and play.left(found.state)):
            break
        state, finish = carry_on(engine.with_proof(found.state, heard), world, play.left)
        after = SearchEnd(engine.answer(state), state)
        if not tells_more(found, heard, after):
            break
        found = after
        if found.answer.between:
            return split(play, state.spec, found.answer.between)
        if finish.outcome is Outcome.CULPRIT_SET:
            return finish.outcome.value, of_set(world, found.answer), found.answer.confidence
        if finish.outcome is not Outcome.CULPRIT:
            return finish.outcome.value, None, 0.0
    return outcome.value, None, 0.0


def proof_of(play: Played, found: SearchEnd) -> tuple[Outcome, float, tuple[Event, ...]]:
    """What fresh boots of the culprit and its parents say, and of other builds where builds of one
    code differ; how sure of it that makes; and what the search can make of these boots.
    """
    answer, state, world = found.answer, found.state, play.world
    culprit = answer.culprit
    assert culprit is not None
    spec, graph = state.spec, state.spec.graph
    parents = next(commit.parents for commit in graph.commits if commit.sha == culprit)
    check = verification.VerifySpec(
        culprit=culprit,
        parents=parents,
        threshold=spec.threshold,
        seed=spec.seed,
        revert=None,
        tip=graph.newer,
        endpoints=tuple(Sample(state.ledger.values[end]) for end in (graph.older, graph.newer)),
        builds=build_plan(state, culprit) if state.small or not answer.sure else None,
        boots_max=most_boots(state.ends.used),
    )
    proof = verification.start(check)
    while play.boots and (step := verification.propose(proof)) is not None:
        for event in _of_boot(world, step):
            proof = verification.apply(proof, event)
    checks, heard = verification.verifications(proof), proof_events(found, proof)
    if not verification.confirmed(proof):
        gone = verification.follows_layout(checks)
        return (Outcome.LAYOUT_SENSITIVE if gone else Outcome.INCONCLUSIVE), 0.0, heard
    probability, enough = probability_with_proof(found, proof, checks)
    sure = answer.sure and check.builds is None and probability >= LEADING
    return (Outcome.CULPRIT if sure or enough else Outcome.INCONCLUSIVE), probability, heard


def _of_boot(world: World, step: verification.Boot) -> tuple[Event, ...]:
    """What a boot of a proof says; only that it does not build, where it does not."""
    if world.build(step.revision) is None:
        return (Built(step.revision, False, "", 0.0),)  # noqa: FBT003
    return (
        Booted(
            revision=step.revision,
            status=RunStatus.COMPLETE,
            observation=Observation(value=world.values(step.revision, 1, step.layout)[0]),
            seconds=0.0,
            layout=step.layout,
        ),
    )


def oracle(world: World, _arm: str) -> tuple[str, str | None, float]:
    """Our engine, told location, scale and build noise of both sides."""
    cell = world.cell

    def told(*_ends: object, **_more: object) -> tuple[hypotheses.Lens, ...]:
        return (hypotheses.Lens(0, 0.0, 0.0, known_grids(cell)),)

    # It knows the distributions: there is nothing that boots of the ends would keep true.
    spec = replace(spec_of(world), parts=Parts(controls=False))
    with mock.patch.object(hypotheses, "fit", told):
        state, finish = rehearse(spec, world)
    world.calibration, world.reproduced = state.ends.used, bool(state.ends.reproduced)
    answer = engine.answer(state)
    culprit = of_set(world, answer) if finish.outcome is Outcome.CULPRIT_SET else answer.culprit
    return finish.outcome.value, culprit, answer.confidence


def git_bisect(
    votes: int, *, same_boot: bool
) -> Callable[[World, str], tuple[str, str | None, float]]:
    """`git bisect` by hand: each step is the majority of `votes` runs against the middle of the
    calibration; 125 for what does not build. A set is right when it holds the culprit.
    """

    def arm(world: World, _name: str) -> tuple[str, str | None, float]:
        ends = calibrated(world)
        if ends is None:
            return Outcome.NOT_REPRODUCED.value, None, 0.0
        limit = sum(statistics.median(end) for end in ends) / 2

        def verdict(sha: str) -> str:
            if world.build(sha) is None:
                return "skip"
            if same_boot:
                values = world.values(sha, votes)
            else:
                values = [world.values(sha, 1)[0] for _ in range(votes)]
            return "bad" if sum(v > limit for v in values) * 2 > votes else "good"

        found = Repository.of(world.graph).bisect(verdict)
        hit = next((sha for sha in found if sha in world.truth), found[0] if found else None)
        return ("culprit" if len(found) == 1 else "culprit_set"), hit, 1.0

    return arm


class Repository:
    """A real git repository with the shape of a graph; every tree is empty."""

    _known: dict[int, Repository] = {}  # noqa: RUF012  (one a process, never changed)

    def __init__(self, graph: CommitGraph) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rtbisect-bench-")
        self.path = Path(self._folder.name)
        self._git("init", "-q", "--bare", "-b", "main")
        who = "committer Person 001 <person-001@example.org> 1700000000 +0000\ndata 0\n"
        marks = {graph.older: 1} | {c.sha: i + 2 for i, c in enumerate(graph.commits)}
        lines = [f"commit refs/heads/good\nmark :1\n{who}"]
        for commit in graph.commits:
            lines.append(f"commit refs/heads/main\nmark :{marks[commit.sha]}\n{who}")
            parents = [marks.get(p, 1) for p in commit.parents] or [1]
            words = ["from", *["merge"] * (len(parents) - 1)]
            lines += [f"{word} :{mark}\n" for word, mark in zip(words, parents, strict=True)]
        out = self.path / "marks"
        self._git("fast-import", "--quiet", f"--export-marks={out}", stdin="".join(lines))
        names = dict(line.split() for line in out.read_text().splitlines())
        back = {mark: sha for sha, mark in marks.items()}
        self.sha = {names[mark]: back[int(mark[1:])] for mark in names}
        self.good, self.bad = names[":1"], names[f":{marks[graph.newer]}"]

    @classmethod
    def of(cls, graph: CommitGraph) -> Repository:
        # Histories are made once a process, so that each has one identity.
        if id(graph) not in cls._known:
            cls._known[id(graph)] = cls(graph)
        return cls._known[id(graph)]

    def _git(self, *words: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", "-C", str(self.path), *words],
            input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        return done.stdout

    def bisect(self, verdict: Callable[[str], str]) -> list[str]:
        """Our names of the first bad commit, or of all that git says it could be."""
        self._git("bisect", "start", "--no-checkout", self.bad, self.good)
        known: dict[str, str] = {}
        for _ in range(10000):
            here = self._git("rev-parse", "--verify", "--quiet", "BISECT_HEAD").strip()
            word = known.get(here) or verdict(self.sha[here])
            known[here] = word
            said = self._git("bisect", word)
            if "is the first bad commit" in said:
                self._git("bisect", "reset", self.bad)
                return [self.sha[said.split()[0]]]
            if "cannot bisect more" in said or ("only" in said and "skip" in said):
                self._git("bisect", "reset", self.bad)
                return [self.sha[line] for line in said.split() if line in self.sha]
        raise InternalError("git bisect does not end")


ARMS: dict[str, Callable[[World, str], tuple[str, str | None, float]]] = {
    "ours": ours,
    **dict.fromkeys(PROVED, ours),
    **dict.fromkeys(WITHOUT, ours),
    "oracle": oracle,
    "bayesect": bayesect.arm,
    "bayesect-fed": bayesect.arm,
    **{f"git-{k}": git_bisect(k, same_boot=False) for k in (1, 3, 5, 9)},
    **{f"git-{k}-same-boot": git_bisect(k, same_boot=True) for k in (3, 9)},
}


def run(world: World, arm: str, trial: int) -> Row:
    """One arm in one world; inconclusive stays in, as not right."""
    begin = time.process_time()
    outcome, culprit, confidence = ARMS[arm](world, arm)
    right = culprit in world.truth if world.truth else outcome in NOTHING
    return Row(
        cell=world.cell.name,
        arm=arm,
        trial=trial,
        outcome=outcome,
        right=bool(right),
        has_culprit=bool(world.truth),
        confidence=float(np.round(confidence, 6)),
        boots=world.boots,
        runs=world.runs,
        builds=len(world.built),
        hours=world.hours,
        cpu_s=round(time.process_time() - begin, 3),
        calibration=world.calibration,
        reproduced=world.reproduced,
    )
