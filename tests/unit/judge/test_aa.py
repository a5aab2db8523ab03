# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of one kernel that were taken apart, against each other."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.campaigns import RES
from helpers.depth import deep
from rtbisect.judge.gates.aa import Beside, same_kernel
from rtbisect.model.campaign import Sample, Scale, Statistic
from rtbisect.model.kinds.judge import Gates, Told
from rtbisect.model.result import GateStatus

LIMIT = replace(RES, scale=Scale.LINEAR, min_effect=0.25)
PARENT, CULPRIT = Sample((8.0, 9.1, 7.4, 8.8, 9.5, 7.9)), Sample((28.0, 29.1, 27.4, 28.8, 29.5))
#: Boots of the parent and of the culprit that the search took.
EARLIER = Sample((8.3, 9.0, 7.7, 8.6)), Sample((28.3, 29.0, 27.7, 28.6))


def gate(*apart, builds=None, limit=LIMIT):
    beside = Beside(apart=apart) if builds is None else Beside(apart=apart, builds=builds)
    return same_kernel(limit, PARENT, CULPRIT, beside)


def shifted(sample, shift):
    return Sample(tuple(value + shift for value in sample.values), sample.hosts)


def test_boots_of_search_and_proof_are_compared_kernel_by_kernel():
    alike = gate((EARLIER[0], PARENT), (EARLIER[1], CULPRIT))
    assert (alike.status, alike.reason.kind) == (GateStatus.PASS, Gates.APART_ALIKE)
    counts = {name: alike.reason.data[name] for name in ("kernels", "earlier", "later")}
    assert counts == {"kernels": 2, "earlier": 8, "later": 11}
    assert alike.reason.data["why"].kind == Gates.LUCK
    for shift, better in ((-5.0, False), (5.0, True)):
        apart = [
            (shifted(early, shift), late)
            for early, late in zip(EARLIER, (PARENT, CULPRIT), strict=True)
        ]
        found = gate(*apart)
        assert (found.status, found.reason.kind) == (GateStatus.FAIL, Gates.APART_DIFFER)
        assert found.reason.data["better"] is better


def test_the_boots_of_a_proof_alone_do_not_show_what_all_of_them_share():
    before = same_kernel(LIMIT, PARENT, CULPRIT)
    assert (before.status, before.reason.kind) == (GateStatus.PASS, Gates.LUCK)
    few = gate((Sample((3.0,)), PARENT))
    assert (few.status, few.reason.kind) == (GateStatus.PASS, Gates.NOT_APART)
    assert few.reason.data["why"] == before.reason
    assert gate((Sample(()), PARENT)).reason == few.reason


def test_what_kernels_and_hosts_differ_by_is_no_drift():
    """Kernels and hosts lie far apart, and the boots of both times do not."""
    hosts = [("rt01", "rt02") * 3, ("rt02", "rt01") * 3]
    apart = []
    for level, names in zip((8.0, 28.0), hosts, strict=True):
        for part in (slice(0, 4), slice(0, 6)):
            own = names[part]
            values = [level + 10 * (host == "rt02") + n / 7 for n, host in enumerate(own)]
            apart.append(Sample(tuple(values), own))
    found = gate((apart[0], apart[1]), (apart[2], apart[3]))
    assert found.reason.kind == Gates.APART_ALIKE


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_the_gate_keeps_its_level_and_sees_a_drift(shift):
    rng, count = np.random.default_rng(3), deep(12, 400)
    failed = 0
    for _ in range(count):
        apart = []
        for level, earlier, later in ((0, 5, 6), (30, 5, 6), (30, 10, 6)):
            pair = level + rng.standard_normal(earlier), level + shift + rng.standard_normal(later)
            apart.append(tuple(Sample(tuple(each.tolist())) for each in pair))
        found = same_kernel(LIMIT, apart[0][1], apart[1][1], Beside(apart=tuple(apart)))
        failed += found.reason.kind == Gates.APART_DIFFER
    assert failed <= 0.03 * count + 1 if not shift else failed >= 0.6 * count


def test_other_builds_tell_what_luck_makes_of_builds():
    builds = Sample((8.0, 9.5, 7.0, 9.0)), Sample((28.0, 29.5, 27.0, 29.0))
    found = gate((EARLIER[0], PARENT), (EARLIER[1], CULPRIT), builds=builds)
    luck = found.reason.data["why"]
    assert (found.status, luck.kind) == (GateStatus.PASS, Gates.LUCK_OF_BUILDS)
    assert (luck.data["builds"], luck.data["change"].kind) == (4, Told.SHIFT)
    assert luck.data["change"].data["difference"] == pytest.approx(20.0)
    close = Sample((8.5, 9.7, 7.1, 9.2))
    tight = gate((EARLIER[0], PARENT), (EARLIER[1], CULPRIT), builds=(builds[0], close))
    assert tight.status is GateStatus.FAIL


def test_of_shares_a_time_says_nothing():
    share = replace(LIMIT, statistic=Statistic.FRACTION)
    found = same_kernel(share, Sample((0.0, 1.0) * 3), Sample((1.0,) * 6), Beside())
    assert (found.status, found.reason.kind) == (GateStatus.ABSENT, Gates.NO_LUCK_TOLD)
