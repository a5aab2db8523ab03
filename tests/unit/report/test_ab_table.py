# SPDX-License-Identifier: GPL-2.0-or-later
"""Two kernels figure by figure: names are whole, and nothing is left out in silence; and what a
patch does is told by what the boots say.
"""

import re
from dataclasses import replace

import pytest

from helpers.findings import said
from helpers.report_cases import rcu, repair
from helpers.report_mails import DIES, FAST, HALF, OPEN, PATCH, PER_IWI, SLOW_TOO, SLOWER, tried
from helpers.report_parts import QUIET, RCU_LIMIT, sha
from rtbisect.model.campaign import Level, MetricKey, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots, Part
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.kinds.report import Changes, Levels, Tried
from rtbisect.model.result import KernelRole, TableRow
from rtbisect.report.ab_table import MOST_FIGURES, compared, context, first_sentences
from rtbisect.report.text import TABLE

WIDE = Sample((0.0717, 0.0598, 0.0960))


def rows(names, window="osnoise-off", sample=WIDE, workload="none"):
    return [
        TableRow(
            kernel=KernelRole.BASE,
            window=window,
            workload=workload,
            metric=MetricKey("ours", name, window),
            unit="1/s",
            sample=sample,
        )
        for name in names
    ]


def barren(why):
    return Finding.of(Ends.NO_EVIDENCE, revision=sha(99), boots=4, why=why)


@pytest.mark.words
def test_a_long_name_beside_wide_figures_is_whole():
    names = ["softirq_per_sample", "res_per_iwi"]
    lines = compared(rcu(), rows(names), rows(names), {})
    for line, name in zip(lines[3:], names, strict=True):
        assert line.strip().startswith(f"{name}/s ")
    assert all(len(line) <= TABLE for line in lines)


def test_windows_are_headings():
    both = [*rows(["a"], "pf-on"), *rows(["a", "b"], "pf-off"), *rows(["b"], "pf-on")]
    lines = compared(rcu(), both, both, {})
    below = [line.startswith("    ") for line in lines[2:]]
    assert below == [False, True, True, False, True, True]
    # Nothing runs in either: their names tell them apart.
    assert ["pf-on" in lines[2], "pf-off" in lines[5]] == [True, True]


def test_a_window_is_named_by_what_runs_in_it():
    loaded = rows(["a"], workload="busy")
    heading = compared(rcu(), loaded, loaded, {})[2]
    assert ("busy" in heading, "osnoise-off" in heading) == (True, False)


@pytest.mark.words
def test_what_is_not_shown_is_counted():
    names = [f"f{n}" for n in range(MOST_FIGURES + 3)]
    many = [*rows(["first"], "pf-on"), *rows(names), *rows(["last"], "pf-on")]
    lines = compared(rcu(), many, many, {})
    assert len(lines) == 2 + 2 + MOST_FIGURES + 1
    assert "first" in lines[3]
    assert lines[-1] == "  and 5 figures more"


def test_only_what_both_have_is_compared():
    assert len(compared(rcu(), rows(["a", "b"]), rows(["b"]), {})) == 2 + 1 + 1
    assert compared(rcu(), rows(["a"]), rows(["b"]), {}) == ()


def test_what_was_asked_about_comes_first_then_what_is_worse_then_what_is_better():
    same, worse, better = (
        Sample(tuple(value + step / 100 for step in range(5))) for value in (1.0, 3.0, 4.0)
    )
    keys = [MetricKey("ipi", f"{row}_per_s", "osnoise-off") for row in ("cal", "loc", "tlb")]
    sides = ((keys[0], same, same), (keys[1], worse, better), (keys[2], better, worse))
    test = tried(rcu(), FAST, tuple(((key, "1/s"), *both) for key, *both in sides))
    rows_of_test = test.result.table[::-1]
    limits = tuple(replace(RCU_LIMIT, key=key, unit="1/s") for key in keys)
    report = replace(rcu(), thresholds=(RCU_LIMIT, *limits))
    told = context(report, replace(test, result=replace(test.result, table=rows_of_test)))
    figures = [line for line in told["figures"] if line.startswith("    ")]
    # Their medians before.
    order = [re.search(r"  ([0-9.]+) \[", line)[1] for line in figures[2:]]
    assert order == ["9.03", "3.02", "4.02", "1.02"]


STOPPED = [
    (Finding.of(Ends.NOT_BUILT, revision=sha(99), error="x"), Tried.NOT_BUILT),
    (barren(Finding.of(Boots.PANIC, part=Part.BOOT, symptom="x")), Tried.NO_BOOT),
    (barren(Finding.of(Boots.KERNEL_MESSAGES, said="x")), Tried.NO_BOOT),
    (barren(Finding.of(Boots.PANIC, part=Part.SUITE, symptom="x")), Tried.UNMEASURED),
    (barren(said("x")), Tried.UNMEASURED),
    # It is the kernel without the patch that does not.
    (Finding.of(Ends.NOT_BUILT, revision=sha(33), error="x"), Tried.UNMEASURED),
]


@pytest.mark.parametrize(("reason", "kind"), STOPPED)
def test_why_nothing_was_measured_is_told_where_it_is_known(reason, kind):
    test = tried(rcu(), Sample(()), reasons=(said("before"), reason))
    (only,) = first_sentences(rcu(), test)
    assert only.kind == kind


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (FAST, Tried.FIXES),
        (HALF, Tried.PARTLY),
        (SLOW_TOO, Tried.NOT),
        (SLOWER, Tried.WORSENS),
        (OPEN, Tried.OPEN),
        (Sample(()), Tried.UNMEASURED),
    ],
)
def test_the_first_sentence_says_what_a_patch_does_and_on_how_many_boots(after, kind):
    first, *_ = first_sentences(rcu(), tried(rcu(), after))
    assert (first.kind, first.data["what"]) == (kind, PATCH)
    change = first.data["change"]
    if kind is Tried.UNMEASURED:
        assert change.kind == Changes.UNMEASURED
    else:
        assert (change.data["base"], first.data["boots"]) == (9.03, "6 + 6")


def test_the_second_says_what_there_is_to_reach():
    _, second = first_sentences(rcu(), tried(rcu(), FAST))
    assert second.kind == Tried.PARENT_HAD
    assert second.data["level"] == Finding.of(Levels.FIGURE, value=6.029, unit="ms")
    # Of a repair it is the commit that has it, and the patch is put on what lacks it.
    _, second = first_sentences(repair(), tried(rcu(), FAST))
    assert second.kind == Tried.COMMIT_HAS


def test_where_no_commit_is_accused_there_is_nothing_to_reach():
    (only,) = first_sentences(replace(rcu(), culprit=None), tried(rcu(), HALF))
    assert only.kind == Tried.FIXES


@pytest.mark.parametrize("after", [FAST, HALF, SLOW_TOO, SLOWER, OPEN])
def test_a_patch_of_which_more_boots_hang_fixes_nothing(after):
    """Whatever the figures of the other boots say."""
    test = tried(rcu(), after, reasons=(said("before"), DIES))
    first, *_ = first_sentences(rcu(), test)
    assert (first.kind, test.level) == (Tried.DIES, Level.UNDECIDED)
    counted = ("dead", "dead_boots", "base_dead", "base_boots", "boots")
    assert [first.data[name] for name in counted] == [4, 10, 0, 6, "6 + 6"]


def test_where_more_boots_hang_nothing_says_that_no_figure_got_worse():
    figure = ((PER_IWI, QUIET, QUIET),)
    assert context(rcu(), tried(rcu(), FAST, figure))["others"]
    assert not context(rcu(), tried(rcu(), FAST, figure, reasons=(DIES,)))["others"]
