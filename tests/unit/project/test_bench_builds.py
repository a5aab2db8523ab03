# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches among builds that differ as much as the change."""

import pytest

import bench_builds
from helpers.campaigns import ROOT
from rtbisect.model.subject import RunOrder


def test_the_page_has_the_table_of_the_trials():
    trials = bench_builds.load()
    assert bench_builds.table(trials) in (ROOT / "docs/benchmarks.md").read_text("utf-8")


def test_runs_of_a_trial_are_the_same_whoever_asks():
    first, again = (bench_builds.Program("closures", relayout=True, trial=3) for _ in range(2))
    build = first.build(bench_builds.sha(200), 0, None)
    order = RunOrder(run_id="run-1-r7", number=7)
    one, other = (each.run(build, order, None).measurements for each in (first, again))
    assert one == other
    assert first.culprit == again.culprit


def test_ends_as_usually_built_differ_and_their_layouts_do_not():
    plain = bench_builds.Program("calls", relayout=False, trial=0)
    before, after = (plain.luck[plain.products[at]] for at in (0, 230))
    assert after / before - 1 == pytest.approx(0.085, abs=0.001)
    assert plain.code_ms(0) == plain.code_ms(230)
