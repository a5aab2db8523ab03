# SPDX-License-Identifier: GPL-2.0-or-later
"""Fresh boots add to what a search believes, also of a figure that only a part of a boot shows."""

from dataclasses import replace

import numpy as np

from helpers.searches import CULPRIT, boots_until_the_end
from rtbisect.model.campaign import Observation
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Figures
from rtbisect.model.lab import RunStatus
from rtbisect.model.result import CheckStatus
from rtbisect.pipeline.search_loop import SearchEnd, probability_with_proof
from rtbisect.search import verification
from rtbisect.search.events import Booted
from rtbisect.search.verify_spec import VerifySpec

NAMED, BEFORE = f"c{CULPRIT}", f"c{CULPRIT - 1}"


def one_cpu(rng, bad):
    """What all CPUs share makes more than the one that the culprit slows down."""
    cpus = 10 * np.exp(rng.normal(0, 0.3, 8)) * np.exp(rng.normal(0, 0.5))
    cpus[3] *= 2.2 if bad else 1.0
    return float(np.median(cpus)), tuple(map(float, cpus))


def test_boots_of_a_proof_make_the_search_surer_of_a_culprit_that_slows_one_cpu():
    state, answer = boots_until_the_end(one_cpu)
    assert (answer.culprit, answer.figure.found) == (NAMED, Finding.of(Figures.ONE_CPU, number=4))
    proof = verification.start(
        VerifySpec(
            culprit=NAMED,
            parents=(BEFORE,),
            threshold=state.spec.threshold,
            figure=answer.figure,
            seed=0,
            revert=None,
            tip=state.spec.graph.newer,
        )
    )
    rng = np.random.default_rng(5)
    while (step := verification.propose(proof)) is not None:
        value, per_cpu = one_cpu(rng, step.revision == NAMED)
        boot = Booted(
            revision=step.revision,
            status=RunStatus.COMPLETE,
            observation=Observation(value=value, per_cpu=per_cpu),
            seconds=1.0,
        )
        # One that does not tell its CPUs is no evidence of them.
        blind = replace(boot, observation=Observation(value=value))
        proof = verification.apply(proof, blind if len(proof.events) == 3 else boot)
    checks = verification.verifications(proof)
    assert (checks[0].status, checks[0].judgement.figure) == (
        CheckStatus.PASS,
        answer.figure.found,
    )
    assert sum(map(len, proof.ledger.observations.values())) == len(proof.events) - 1
    probability, _enough = probability_with_proof(SearchEnd(answer, state), proof, checks)
    assert probability > answer.confidence
