# SPDX-License-Identifier: GPL-2.0-or-later
"""Two kernels figure by figure: names are whole, and nothing is left out in silence."""

from rtbisect.model.campaign import MetricKey, Sample
from rtbisect.model.result import KernelRole, TableRow
from rtbisect.report.ab_table import MOST_FIGURES, compared
from rtbisect.report.text import TABLE

WIDE = Sample((0.0717, 0.0598, 0.0960))


def rows(names, window="osnoise-off", sample=WIDE):
    return [
        TableRow(
            kernel=KernelRole.BASE,
            window=window,
            workload="none",
            metric=MetricKey("osnoise", name, window),
            unit="1/s",
            sample=sample,
        )
        for name in names
    ]


def test_a_long_name_beside_wide_figures_is_whole():
    names = ["softirq_per_sample", "res_per_iwi"]
    lines = compared(rows(names), rows(names))
    told = [line.split()[0] for line in lines[3:]]
    assert told == names
    assert all(len(line) <= TABLE for line in lines)


def test_windows_are_headings():
    both = [*rows(["a"], "pf-on"), *rows(["a", "b"], "pf-off"), *rows(["b"], "pf-on")]
    lines = compared(both, both)
    assert [line.strip().split("  ")[0] for line in lines[2:]] == [
        "osnoise in pf-on", "a", "b", "osnoise in pf-off", "a", "b",
    ]  # fmt: skip


def test_what_is_not_shown_is_counted():
    names = [f"f{n}" for n in range(MOST_FIGURES + 3)]
    many = [*rows(["first"], "pf-on"), *rows(names), *rows(["last"], "pf-on")]
    lines = compared(many, many)
    assert len(lines) == 2 + 2 + MOST_FIGURES + 1
    assert lines[3].split()[0] == "first"
    assert lines[-1] == "  and 5 figures more"


def test_only_what_both_have_is_compared():
    assert compared(rows(["a", "b"]), rows(["b"]))[-1].split()[0] == "b"
    assert compared(rows(["a"]), rows(["b"])) == ()
