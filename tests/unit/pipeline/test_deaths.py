# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of which some boots hang or die: figures of the other boots are no pass."""

from dataclasses import replace

import pytest

from helpers.campaigns import sha, world
from rtbisect.cli.check import exit_of_check
from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import Level, Limits, MetricKey, Outcome, Sought
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.pipeline import check

BASE, TIP = sha(0), sha(8)


def some(status):
    """The first boot of five ends so."""
    return ([status] + [RunStatus.COMPLETE] * 4) * 5


def checked(tmp_path, script, **limits):
    """The result of a check of equal kernels, what it found of their deaths, and its boots."""
    here = world(tmp_path, None, script=script, limits=Limits(**limits))
    result = check.check(*here.open())
    assert {j.level for j in result.judgements} == {Level.PASS}
    found = [reason.data for reason in result.reasons if reason.kind == Ends.DIES_MORE]
    return result, found, len(here.lab.requests)


@pytest.mark.parametrize("status", [RunStatus.HUNG, RunStatus.BOOT_FAILED])
def test_a_tip_of_which_more_boots_hang_or_die_does_not_pass(tmp_path, status):
    result, (found,), _ = checked(tmp_path, {TIP: some(status)})
    assert (result.outcome, exit_of_check(result)) == (Outcome.INCONCLUSIVE, 4)
    # It looked again before it said so.
    assert (found["revision"], found["dead"], found["boots"]) == (TIP, 3, 13)
    assert (found["base"], found["base_dead"], found["base_boots"]) == (BASE, 0, 10)
    assert found["how"] is not None


@pytest.mark.parametrize(
    ("script", "boots"),
    [
        # Its base is no better, or worse.
        ({"*": [RunStatus.HUNG] * 2}, 2 * 7),
        ({BASE: some(RunStatus.HUNG)}, 2 * 6 + 2),
        # That is no fault of the kernel.
        ({TIP: some(RunStatus.INVALID)}, 2 * 6 + 2),
        # One stray boot: only further ones tell that it is one.
        ({TIP: [RunStatus.HUNG]}, 2 * 10 + 1),
    ],
)
def test_what_does_not_hang_or_die_more_often_passes(tmp_path, script, boots):
    result, found, taken = checked(tmp_path, script)
    assert (result.outcome, found, taken) == (Outcome.NO_REGRESSION, [], boots)


def test_a_campaign_of_before_passes_as_it_did(tmp_path):
    result, found, taken = checked(tmp_path, {TIP: some(RunStatus.HUNG)}, deaths=False)
    assert (result.outcome, found, taken) == (Outcome.NO_REGRESSION, [], 2 * 6 + 2)


def test_nothing_better_is_so_whatever_hangs(tmp_path):
    here = world(tmp_path, None, script={TIP: some(RunStatus.HUNG)})
    here.request = replace(here.request, sought=Sought.REPAIR)
    assert check.check(*here.open()).outcome is Outcome.NO_REGRESSION


FROZEN, LOCKUP = (MetricKey("stall", name, "stall") for name in ("frozen_periods", "soft_lockup"))


def hung(status, *keys):
    told = (
        Measurement(suite=each.suite, name=each.name, window=each.window, value=1.0, unit="1")
        for each in keys
    )
    return Run(
        run_id="r", revision=TIP, status=status, measurements=tuple(told), signature="stands still"
    )


def test_a_hang_that_is_the_figure_is_counted_there():
    runs = (
        hung(RunStatus.COMPLETE, FROZEN),
        hung(RunStatus.COMPLETE, LOCKUP),
        hung(RunStatus.HUNG),
        hung(RunStatus.HUNG, FROZEN),
    )
    assert Boots(runs).dead([FROZEN]) == runs[1:]
