# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison that a report asks for boots until it is said whether the effect is gone."""

from collections import Counter
from dataclasses import replace

import pytest

from helpers.campaigns import World, boots, line_of, sha
from rtbisect.judge.verdict import judge
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import (
    CampaignRequest,
    Level,
    Limits,
    Role,
    Scale,
    Sought,
    Statistic,
)
from rtbisect.model.command import Extra
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.lab import RunStatus
from rtbisect.pipeline import check
from rtbisect.pipeline.asked import LOOK_ALPHA

BASE, TIP = sha(0), sha(8)
KEY = "ipi.res_per_iwi@pf-on"


def drawn(shown):
    """A draw in which the boots of an end, in turn, have the symptom or not."""
    taken = Counter()

    def draw(request, random):
        values = shown[request.revision]
        value = values[taken[request.revision] % len(values)]
        taken[request.revision] += 1
        found = boots(None)(request, random)
        return [replace(m, value=value) if m.name == "res_per_iwi" else m for m in found]

    return draw


def compared(tmp_path, older, newer, asked=KEY, script=None, **limits):
    """A test for a report of a symptom: its threshold, and what was found."""
    request = CampaignRequest(
        kind="check", site="s", tree="t", older=BASE, newer=TIP, extra=Extra(asked=asked).pairs
    )
    lab = FakeLab(drawn({BASE: older, TIP: newer}), script)
    limits = Limits(**{"looks_max": 40} | limits)
    setup, parts = World(tmp_path, line_of(8), lab, request=request, limits=limits).open()
    (threshold,) = (
        replace(
            t, role=Role.PRIMARY, statistic=Statistic.FRACTION, scale=Scale.LINEAR, min_effect=0.1,
            control=None,
        )
        for t in setup.thresholds if str(t.key) == KEY
    )  # fmt: skip
    return threshold, check.check(replace(setup, thresholds=(threshold,)), parts)


def of_report(*args, **more):
    """Boots a side, and what the answer says."""
    threshold, result = compared(*args, **more)
    sides = {row.kernel: row.sample for row in result.table if row.metric == threshold.key}
    base, new = sides["base"], sides["tip"]
    assert base.n == new.n
    level = judge(threshold.toward(Sought.REPAIR), base, new, alpha=LOOK_ALPHA).level
    return base.n, level


@pytest.mark.parametrize(
    ("older", "newer", "runs", "level"),
    [
        # It is gone from all boots.
        ([1.0], [0.0], 6, Level.REGRESSED),
        # 5 of 6 against none are too few: p = 0.0076.
        ([1.0] * 5 + [0.0], [0.0], 10, Level.REGRESSED),
        # As the bandwidth timer that stops in one boot of four.
        ([0.0, 0.0, 0.0, 1.0], [0.0], 40, Level.REGRESSED),
        # It stays.
        ([1.0], [1.0], 6, Level.PASS),
        # It was not seen before, either.
        ([0.0] * 6 + [1.0] * 14, [0.0], 20, Level.REGRESSED),
        # Nobody can tell.
        ([0.0] * 9 + [1.0], [0.0], 40, Level.UNDECIDED),
    ],
)
def test_boots_go_on_until_the_figure_of_the_report_is_decided(tmp_path, older, newer, runs, level):
    assert of_report(tmp_path, older, newer) == (runs, level)


@pytest.mark.parametrize("asked", ["", "ipi.other@pf-on"])
def test_without_such_a_question_a_pass_ends_it(tmp_path, asked):
    assert of_report(tmp_path, [1.0] * 5 + [0.0], [0.0], asked)[0] == 6


@pytest.mark.parametrize(
    ("limits", "runs"),
    [({"looks_max": 0}, 10), ({"looks_max": 60}, 60), ({"max_boots": 50}, 25)],
)
def test_looks_end_where_those_of_a_search_would_and_within_the_budget(tmp_path, limits, runs):
    assert of_report(tmp_path, [0.0] * 59 + [1.0], [0.0], **limits)[0] == runs


@pytest.mark.parametrize(("apart", "dies"), [(12, False), (4, True)])
def test_of_more_boots_more_may_be_stray(tmp_path, apart, dies):
    """Of 40 boots each four may hang: nine are more."""
    script = {TIP: ([RunStatus.HUNG] + [RunStatus.COMPLETE] * apart) * 9}
    _, result = compared(tmp_path, [0.0, 0.0, 0.0, 1.0], [0.0], script=script)
    assert (Ends.DIES_MORE in {reason.kind for reason in result.reasons}) is dies
