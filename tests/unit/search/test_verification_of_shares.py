# SPDX-License-Identifier: GPL-2.0-or-later
"""A verification of what only a share of the boots shows."""

from collections import Counter
from dataclasses import replace

from helpers.campaigns import RES
from rtbisect.model.campaign import Level, Observation, Sample, Scale, Statistic
from rtbisect.model.kinds.search import Checks
from rtbisect.model.lab import RunStatus
from rtbisect.search import verification
from rtbisect.search.events import Booted

SHARES = verification.VerifySpec(
    culprit="culprit",
    parents=("parent",),
    threshold=replace(RES, scale=Scale.LINEAR, statistic=Statistic.FRACTION, min_effect=0.1),
    seed=3,
    revert="revert",
    tip="tip",
    endpoints=(Sample((0.0,) * 16), Sample((0.0, 0.0, 0.0, 1.0) * 4)),
)


def shares(spec, every):
    """One boot of so many of a revision shows it, the last of them; None: no boot does."""
    state, count = verification.start(spec), Counter()
    while isinstance(due := verification.propose(state, late=True), verification.Boot):
        count[due.revision] += 1
        shows = bool(every[due.revision]) and count[due.revision] % every[due.revision] == 0
        seen = Observation(value=float(shows))
        event = Booted(
            revision=due.revision,
            status=RunStatus.COMPLETE,
            observation=seen,
            seconds=1.0,
        )
        state = verification.apply(state, event)
    return state, count


def test_what_one_boot_of_four_shows_is_not_refuted_by_three():
    state, _ = shares(SHARES, {"culprit": 1, "parent": None, "tip": None, "revert": None})
    parent, revert = verification.verifications(state)
    assert (parent.status, revert.status) == ("pass", "undecided")
    assert revert.judgement.level is Level.UNDECIDED
    assert revert.judgement.reason.kind == Checks.LUCK
    assert verification.confirmed(state)


def test_a_share_that_every_boot_shows_is_refuted_by_three_without_it():
    ends = (Sample((0.0,) * 8), Sample((1.0,) * 8))
    every = {"culprit": 1, "parent": None, "tip": None, "revert": None}
    state, booted = shares(replace(SHARES, endpoints=ends), every)
    assert (verification.verifications(state)[1].status, booted["revert"]) == ("fail", 3)
    assert not verification.confirmed(state)
