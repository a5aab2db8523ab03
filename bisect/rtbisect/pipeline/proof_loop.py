# SPDX-License-Identifier: GPL-2.0-or-later
"""A verification carried out: what it proposes becomes boots, and these its events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Sample, Threshold, Verification
from rtbisect.pipeline.attribution import probes_of
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.wording import worded
from rtbisect.search import verification

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.campaign import Judgement, Observation
    from rtbisect.model.lab import Run
    from rtbisect.pipeline.steps import Steps
    from rtbisect.search.likelihood.features import Aspect

#: Boots of a culprit and of each parent that also tell where the figure comes from.
EXPLAINED_BOOTS = 3


@dataclass(frozen=True, slots=True)
class SearchedFigure:
    """The searched metric and what of it the ends differ in."""

    threshold: Threshold
    figure: Aspect

    def observe(self, effects: Steps, run: Run) -> Observation | None:
        observation = effects.observe(run, self.threshold)
        return (
            None if observation is None else self.figure.observation_of(self.threshold, observation)
        )

    def for_reader(self, judgement: Judgement) -> Judgement:
        """A judgement with its numbers as a reader knows them."""
        return self.figure.for_reader(self.threshold, judgement)

    def sample(self, effects: Steps, runs: Iterable[Run]) -> Sample:
        observations = (self.observe(effects, run) for run in runs)
        return Sample(
            tuple(observation.value for observation in observations if observation is not None)
        )


def carry_out(
    effects: Steps,
    searched: SearchedFigure,
    state: verification.VerifyState,
    fresh: dict[str, list[Run]],
    *,
    late: bool = False,
) -> verification.VerifyState:
    """Boot what the verification asks for; gives its state after that, and adds the boots to
    `fresh` by revision.
    """
    spec = state.spec
    probes = probes_of(effects, spec.parents, spec.culprit)
    while not isinstance(step := verification.propose(state, late=late), verification.Done):
        if not effects.budget.boots_left:
            break
        if step.layout and not (build := effects.build(step.revision, step.layout)).ok:
            failed = verification.Built(
                step.revision, ok=False, signature="", seconds=build.seconds, layout=step.layout
            )
            state = verification.apply(state, failed)
            continue
        begun = Counter({sha: len(runs) for sha, runs in fresh.items()})
        ahead = []
        for coming in verification.coming(state, effects.width, late=late):
            explained = begun[coming.revision] < EXPLAINED_BOOTS
            explain = searched.threshold.key.window if explained else ""
            ahead.append(_boot_request(spec, coming, explain, probes))
            begun[coming.revision] += not coming.layout
        run = effects.boot(ahead[0], ahead[1:])
        if not step.layout:
            fresh.setdefault(step.revision, []).append(run)
        observation = searched.observe(effects, run)
        if observation is not None:
            label = f"{step.purpose} {step.revision[:12]}: {spec.threshold.key}"
            effects.tell(f"{label} = {worded(spec.threshold, observation.value)}")
        state = verification.apply(
            state,
            verification.Booted(
                revision=run.revision,
                run_id=run.run_id,
                status=run.status,
                observation=observation,
                seconds=run.seconds,
                layout=step.layout,
            ),
        )
    return state


def _boot_request(
    spec: verification.VerifySpec, step: verification.Boot, explain: str, probes: tuple[str, ...]
) -> BootRequest:
    """The boot of a step; those of the culprit and its parents, as they are built, also explain."""
    compared = step.revision in (spec.culprit, *spec.parents) and not step.layout
    return BootRequest(
        sha=step.revision,
        purpose=step.purpose,
        left=step.left,
        layout=step.layout,
        explain=explain if compared else "",
        probes=probes if compared and explain and step.revision == spec.culprit else (),
    )


def tell_checks(
    effects: Steps,
    state: verification.VerifyState,
    before: tuple[Verification, ...] = (),
) -> tuple[Verification, ...]:
    """The checks as a reader knows them; what they say that they did not say before is told."""
    checks = verification.verifications(state)
    for check in checks:
        if check not in before:
            effects.tell(f"verify: {check.name}: {check.status} {check.note}".rstrip())
    return checks
