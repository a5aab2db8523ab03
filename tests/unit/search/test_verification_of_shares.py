# SPDX-License-Identifier: GPL-2.0-or-later
"""A verification of what only a share of the boots shows."""

import random
from collections import Counter
from dataclasses import replace
from itertools import chain, count, cycle, repeat

from helpers.campaigns import RES
from rtbisect.model.campaign import Level, Observation, Sample, Scale, Statistic
from rtbisect.model.kinds.search import Checks
from rtbisect.model.lab import RunStatus
from rtbisect.search import verification
from rtbisect.search.events import Booted
from rtbisect.search.verify_spec import VerifySpec

SHARES = VerifySpec(
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
    state, booted = verification.start(spec), Counter()
    while isinstance(due := verification.propose(state, late=True), verification.Boot):
        booted[due.revision] += 1
        shows = bool(every[due.revision]) and booted[due.revision] % every[due.revision] == 0
        seen = Observation(value=float(shows))
        event = Booted(
            revision=due.revision,
            status=RunStatus.COMPLETE,
            observation=seen,
            seconds=1.0,
        )
        state = verification.apply(state, event)
    return state, booted


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


def compared(spec, culprit, parent):
    """The comparison with the parent, of endless boots of both: 1 fails, 0 passes."""
    state, boots = verification.start(spec), {"culprit": culprit, "parent": parent}
    while (due := verification.propose(state)) is not None:
        seen = Observation(value=float(next(boots[due.revision])))
        event = Booted(
            revision=due.revision, status=RunStatus.COMPLETE, observation=seen, seconds=1.0
        )
        state = verification.apply(state, event)
    return verification.verifications(state)[0]


def test_all_looks_at_a_parent_have_one_p_value():
    """Where each look has a share of alpha, a culprit that fails in two of three boots takes more
    of them.
    """
    ends = Sample((0.0,) * 12), Sample((0.0, 1.0, 1.0) * 4)
    spec = replace(SHARES, endpoints=ends, revert=None, boots_max=60)
    one_p, apart = (
        compared(replace(spec, share_looks=rule), cycle((0, 1, 1)), repeat(0))
        for rule in (True, False)
    )
    assert one_p.status == apart.status == "pass"
    assert one_p.judgement.p <= spec.alpha
    assert one_p.judgement.new.n < apart.judgement.new.n


def test_a_culprit_whose_share_may_differ_by_what_counts_is_confirmed():
    """A fifth was measured where a quarter is asked for; a twentieth is refuted."""
    ends = Sample((0.0,) * 44), Sample((0.0, 0.0, 0.0, 1.0) * 11)
    limit = replace(SHARES.threshold, min_effect=0.25)
    spec = replace(SHARES, threshold=limit, endpoints=ends, revert=None, boots_max=44)
    seldom = replace(spec, boots_max=20)
    said = [
        compared(each, cycle((*(0,) * (every - 1), 1)), repeat(0)).status
        for each, every in ((spec, 5), (replace(spec, share_reach=False), 5), (seldom, 20))
    ]
    assert said == ["pass", "undecided", "fail"]


def test_more_looks_are_not_more_chances_to_deny():
    """Every second one may say that a culprit is no worse, as many as there would be otherwise."""
    ends = Sample((0.0,) * 40), Sample((0.0, 0.0, 1.0, 1.0) * 10)
    spec = replace(SHARES, endpoints=ends, revert=None, boots_max=40)
    denied = set()
    for seed in range(3):
        rng = random.Random(seed)
        culprit, parent = ((rng.random() < 0.1 for _ in count()) for _ in range(2))
        check = compared(spec, culprit, parent)
        if check.status == "fail":
            denied.add(check.judgement.new.n)
    assert denied
    assert denied <= set(spec.looks[::2])


def test_the_last_look_may_deny():
    """The parent fails as often in the end, at the fourth of four looks."""
    ends = Sample((0.0,) * 40), Sample((0.0, 0.0, 1.0, 1.0) * 10)
    limit = replace(SHARES.threshold, min_effect=0.3)
    spec = replace(SHARES, threshold=limit, endpoints=ends, revert=None, boots_max=13)
    assert len(spec.looks) == 4
    check = compared(spec, chain((1, 1), repeat(0)), chain((0,) * 10, repeat(1)))
    assert (check.status, check.judgement.new.n) == ("fail", 13)
