# SPDX-License-Identifier: GPL-2.0-or-later
"""Every gate: what trips it, what does not, and what it makes of published tables."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtbisect.judge.gates import aa, boot_gates
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import (
    Better,
    Level,
    MetricKey,
    Role,
    Sample,
    Scale,
    Statistic,
    Threshold,
)
from rtbisect.model.facts import Facts
from rtbisect.model.finding import Finding, as_said
from rtbisect.model.kinds.boot import Noise
from rtbisect.model.kinds.judge import Gates, Judged, Side, Told
from rtbisect.model.lab import Measurement
from rtbisect.model.result import GateName, GateStatus
from rtbisect.suites.identity import NoiseRow, contradiction

FIELD = Path(__file__).resolve().parents[2] / "data" / "field"


def table(name):
    with (FIELD / f"{name}.csv").open(encoding="ascii") as stream:
        return list(csv.DictReader(stream))


def test_the_names_of_gates_are_those_of_the_page():
    page = (FIELD.parents[2] / "docs" / "trust.md").read_text(encoding="utf-8")
    assert [name for name in GateName if f"| {name} | " not in page] == []


# --- published tables ---


def interrupts():
    """Kernel to vector to count in 120 s."""
    rows = table("interrupts-120s")
    kernels = [name for name in rows[0] if name != "vector"]
    return {k: {row["vector"]: int(row[k]) for row in rows} for k in kernels}


def samples(row, unit_us):
    """A row of the table of samples; its worst noise is in a unit of so many us."""
    return NoiseRow(
        runtime_us=950_000,
        noise_us=None,
        avail_percent=float(row["avail_percent"]),
        max_noise_us=float(row["max_noise_ns"]) * unit_us,
        exact=False,
    )


def test_the_headline_of_the_published_table_has_the_wrong_unit():
    rows = table("osnoise-samples")[:3]
    wrong = [contradiction(samples(row, 0.001)) for row in rows]
    found = next(filter(None, wrong))
    assert (found.kind, found.data["max_noise_us"]) == (Noise.WORST_BELOW_MEAN, pytest.approx(57))
    # In microseconds it agrees with the percentage beside it.
    assert not any(contradiction(samples(row, 1.0)) for row in rows)


def test_the_tool_and_proc_interrupts_of_the_published_table_contradict_each_other():
    counts = interrupts()
    row = next(r for r in table("osnoise-samples") if r["kernel"] == "6.18.19-rt rwlock")
    found = counts[row["kernel"]]
    assert found["LOC"] + found["IWI"] == 714_036
    traced, counted = float(row["irq_per_sample"]) / 0.95, sum(found.values()) / 120
    gate = boot_gates.instruments_agree(1, traced, counted)
    assert gate.status is GateStatus.FAIL
    told = {"cpu": 1, "traced_per_s": traced, "counted_per_s": counted}
    assert gate.reason == Finding.of(Gates.INSTRUMENTS, **told)
    assert 5600 * traced < counted < 5700 * traced


def threshold(**changes):
    values = {
        "key": MetricKey("rcu", "mean_us", "rcu-off"),
        "unit": "us",
        "better": Better.LOWER,
        "scale": Scale.LINEAR,
        "statistic": Statistic.MEDIAN,
        "min_effect": 10.0,
        "limit": None,
        "floor": 0.0,
        "role": Role.PRIMARY,
        "control": None,
        "reason": "a published table",
    }
    return Threshold(**(values | changes))


def test_the_published_grace_periods_do_not_decide_by_their_means():
    rows = table("synchronize-rcu")

    def side(kernel, figure):
        return Sample(tuple(1000 * float(r[figure]) for r in rows if r["kernel"] == kernel))

    # From early quiescent states back to the baseline: a regression of the size that was claimed?
    found = judge(threshold(), side("early-qs", "mean_ms"), side("baseline", "mean_ms"))
    assert found.level is Level.UNDECIDED
    # The maxima are thinner, but one run of the new kernel has the old maximum too.
    worst = judge(threshold(), side("early-qs", "max_ms"), side("baseline", "max_ms"))
    assert worst.level is not Level.PASS


# --- G1 ---


def of_cpu(runtime_us, noise_us, avail_percent, *worst, **more):
    """A row of CPU 2; `worst` are a sample's and a single noise, and the number of samples."""
    more |= dict(zip(("max_noise_us", "max_single_us", "samples"), worst, strict=False))
    return NoiseRow(runtime_us=runtime_us, noise_us=noise_us, avail_percent=avail_percent, **more)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (of_cpu(500_000, 600_000, 0.0), Noise.RANGE),
        (of_cpu(500_000, 100_000, 81.0), Noise.AVAILABLE),
        (of_cpu(500_000, 100_000, 120.0), Noise.RANGE),
        (of_cpu(500_000, 100_000, 80.0, max_noise_us=200_000), Noise.WORST_ABOVE_SUM),
        (of_cpu(500_000, 100_000, 80.0, 20_000, 30_000, 10), Noise.SINGLE),
        (of_cpu(500_000, 100_000, 80.0, 5_000, 1_000, 10), Noise.WORST_BELOW_MEAN),
        (of_cpu(500_000, 100_000, 80.0, None, 200_000), Noise.SINGLE),
    ],
)
def test_figures_that_cannot_be_together_are_refused(row, reason):
    good = NoiseRow(runtime_us=500_000, noise_us=100_000, avail_percent=80.0)
    assert contradiction(good) is None
    assert contradiction(row).kind == reason


@given(st.integers(1, 10**9), st.data())
def test_what_the_kernel_prints_is_never_refused(runtime, data):
    noise = data.draw(st.integers(0, runtime))
    cut = (runtime - noise) * 10**7 // runtime / 10**5
    row = NoiseRow(
        runtime_us=runtime,
        noise_us=noise,
        avail_percent=cut,
        max_noise_us=noise,
        max_single_us=noise // 2,
    )
    assert contradiction(row) is None


# --- G4 ---


@pytest.mark.parametrize(
    ("traced", "counted", "ok"),
    [
        (0.0, 8.0, True),
        (0.0, 11.0, False),
        (100.0, 399.0, True),
        (100.0, 401.0, False),
        (401.0, 100.0, False),
        (-1.0, 1.0, False),
        (float("nan"), 1.0, False),
        (1.0, float("inf"), False),
    ],
)
def test_rates_of_two_instruments(traced, counted, ok):
    assert boot_gates.instruments_agree(2, traced, counted).ok is ok


def window(irq, *, res=0.0, nmi=0.0, cpu=2):
    return [
        Measurement(
            suite="osnoise", name="runtime_us", window="w", value=500_000.0, unit="us", cpu=cpu
        ),
        Measurement(
            suite="osnoise", name="irq_per_sample", window="w", value=irq, unit="1", cpu=cpu
        ),
        Measurement(suite="ipi", name="res_per_s", window="w", value=res, unit="1/s", cpu=cpu),
        Measurement(suite="ipi", name="nmi_per_s", window="w", value=nmi, unit="1/s", cpu=cpu),
    ]


def test_a_window_is_checked_cpu_by_cpu_and_without_nmis():
    found = boot_gates.of_window([*window(50, res=100.0, nmi=900.0), *window(0, res=80.0, cpu=3)])
    assert [(gate.ok, gate.reason.data["cpu"]) for gate in found] == [(True, 2), (False, 3)]
    assert boot_gates.of_window(window(50)[:2]) == ()
    assert boot_gates.of_window(window(50)[2:]) == ()


# --- G5 ---


def test_raw_files_and_values_that_repeat_are_refused():
    differ = boot_gates.raw_data_differ({"r1": "x", "r2": "y"})
    assert (differ.ok, differ.reason) == (True, Finding.of(Gates.RAW_DIFFERS, boots=2))
    few = boot_gates.raw_data_differ({"r1": "x"})
    assert (few.status, few.reason.kind) == (GateStatus.ABSENT, Gates.RAW_FEW)
    equal = boot_gates.raw_data_differ({"r1": "x", "r2": "y", "r3": "x"})
    assert equal.reason == Finding.of(Gates.RAW_EQUAL, first="r1", second="r3")


@pytest.mark.parametrize(
    ("values", "status", "kind", "told"),
    [
        ([0.0] * 6, "pass", Gates.VALUES, {"values": 1, "boots": 6}),
        ([2.0, 2.0], "n/a", Gates.VALUES_FEW, {}),
        ([2.0] * 6, "fail", Gates.VALUES_EQUAL, {"value": 2.0, "boots": 6}),
        ([2.0, 2.0, 2.1], "pass", Gates.VALUES, {"values": 2, "boots": 3}),
    ],
)
def test_a_measured_figure_scatters(values, status, kind, told):
    gate = boot_gates.varies(RATE.key, Side.PARENT, values)
    assert gate.status is GateStatus(status)
    assert gate.reason == Finding.of(kind, metric=str(RATE.key), side=Side.PARENT, **told)


# --- G15, G16, G17 ---


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"facts": Facts({"hypervisor": "1"})}, Finding.of(Gates.CPU_VIRTUAL)),
        (
            {"facts": Facts({"dmi_vendor": "QEMU"})},
            Finding.of(Gates.VENDOR_VIRTUAL, vendor="QEMU"),
        ),
        ({"emulated": True}, Finding.of(Gates.EMULATED)),
        ({"synthetic": True}, Finding.of(Gates.SYNTHETIC)),
    ],
)
def test_what_is_not_for_a_list(asked, found):
    usual = {"emulated": False, "synthetic": False, "facts": Facts({"hypervisor": "0"})}
    assert boot_gates.origin(**usual).ok
    gate = boot_gates.origin(**(usual | asked))
    assert not gate.ok
    assert gate.reason == found


def test_doses_that_differ_compare_by_event_only():
    none = boot_gates.dose([], [1.0], per_event=False)
    assert (none.status, none.reason.kind) == (GateStatus.ABSENT, Gates.NO_DOSE)
    close = boot_gates.dose([1000.0, 1100.0], [1000.0], per_event=False)
    assert close.ok
    assert close.reason == Finding.of(Gates.DOSES, base_per_s=1050.0, new_per_s=1000.0)
    apart = boot_gates.dose([1000.0], [1200.0], per_event=False)
    assert (apart.ok, apart.reason.kind) == (False, Gates.DOSES_DIFFER)
    by_event = boot_gates.dose([1000.0], [1200.0], per_event=True)
    assert (by_event.ok, by_event.reason.kind) == (True, Gates.DOSES_PER_EVENT)


def test_a_loop_is_named_when_interrupts_outgrow_their_events():
    for rates, kind in (
        ([(100.0, 5.0)], Gates.ONE_RATE),
        ([(100.0, 5.0), (100.0, 6.0)], Gates.RATES_EQUAL),
    ):
        gate = boot_gates.feeds_itself(rates)
        assert (gate.status, gate.reason.kind) == (GateStatus.ABSENT, kind)
    even = boot_gates.feeds_itself([(1000.0, 500.0), (500.0, 250.0)])
    assert (even.ok, even.reason) == (True, Finding.of(Gates.LOOP, events=2.0, interrupts=2.0))
    gate = boot_gates.feeds_itself([(500.0, 250.0), (1000.0, 1500.0)])
    assert (gate.ok, gate.reason.kind) == (False, Gates.FEEDS_ITSELF)
    # More than in proportion, but fewer than one each: nothing can feed itself so.
    assert boot_gates.feeds_itself([(500.0, 10.0), (1000.0, 40.0)]).ok


def test_a_commit_in_what_counts_may_change_the_meaning():
    counted = ("arch/x86/kernel/irq.c",)
    kept = boot_gates.same_meaning("ipi", ["fs/eventpoll.c"], counted)
    assert (kept.ok, kept.reason) == (True, Finding.of(Gates.MEANING_KEPT, suite="ipi"))
    nobody = boot_gates.same_meaning("rcu", ["fs/eventpoll.c"], ())
    assert (nobody.status, nobody.reason.kind) == (GateStatus.ABSENT, Gates.MADE_BY_NO_FILE)
    gate = boot_gates.same_meaning("ipi", ["fs/eventpoll.c", "arch/x86/kernel/irq.c"], counted)
    assert not gate.ok
    assert gate.reason == Finding.of(Gates.MEANING_CHANGED, file=counted[0], suite="ipi")


def test_a_cpu_with_a_tick_is_not_isolated():
    gate = boot_gates.quiet("w", 2.0)
    assert (gate.ok, gate.reason) == (True, Finding.of(Gates.TICKS, window="w", per_s=2.0))
    assert not boot_gates.quiet("w", 1000.0).ok


RATE = Threshold(
    key=MetricKey("ipi", "res_per_s", "pf-on"), unit="1/s", better=Better.LOWER, scale=Scale.LOG,
    statistic=Statistic.MEDIAN, min_effect=1.5, limit=None, floor=0.5, role=Role.PRIMARY,
    control=None, reason="r",
)  # fmt: skip
SLOWNESS = replace(
    RATE, key=MetricKey("rcu", "p50_us", "rcu-off"), unit="us", scale=Scale.LINEAR,
    min_effect=500, floor=0,
)  # fmt: skip


def same_kernel(threshold, parent, culprit):
    return aa.same_kernel(threshold, Sample(tuple(parent)), Sample(tuple(culprit)))


def test_boots_of_one_kernel_are_compared_like_a_culprit():
    steady = [8.0, 9.1, 7.4, 8.8, 9.5, 7.9, 8.3, 9.0, 7.7, 8.6, 9.2, 8.1]
    loud = [3 * value for value in steady]
    gate = same_kernel(RATE, steady, loud)
    assert (gate.status, gate.reason.kind) == (GateStatus.PASS, Gates.LUCK)
    assert (gate.reason.data["boots"], gate.reason.data["percent"]) == (12, 99)
    luck, change = gate.reason.data["luck"], gate.reason.data["change"]
    assert luck.kind == change.kind == Told.SHIFT_RATIO
    assert 1.0 < luck.data["ratio"] < 1.3
    assert change.data["ratio"] == pytest.approx(2.89, abs=0.01)
    slow = [6000.0 + value for value in steady]
    reason = same_kernel(SLOWNESS, slow, [9006.2 + value for value in steady]).reason
    assert reason.data["change"].kind == Told.SHIFT
    assert reason.data["change"].data == {"difference": pytest.approx(3006.2), "unit": "us"}
    drifting = [*steady[:6], *(2.5 * value for value in steady[6:])]
    for values, better in ((drifting, False), (drifting[::-1], True)):
        gate = same_kernel(RATE, values, loud)
        assert (gate.status, gate.reason.kind) == (GateStatus.FAIL, Gates.DRIFT)
        assert (gate.reason.data["side"], gate.reason.data["better"]) == ("parent", better)
        assert gate.reason.data["why"].kind == Judged.REGRESSED
    few = same_kernel(RATE, steady[:5], loud)
    assert few.status is GateStatus.ABSENT
    assert few.reason == Finding.of(Gates.PARENT_FEW, boots=5, fewest=6)
    assert same_kernel(RATE, steady, []).status is GateStatus.ABSENT


def test_what_hosts_add_is_neither_drift_nor_luck():
    steady = [8.0, 9.1, 7.4, 8.8, 9.5, 7.9, 8.3, 9.0, 7.7, 8.6, 9.2, 8.1]
    for hosts in (("rt01",) * 6 + ("rt02",) * 6, ("rt01", "rt02") * 6):
        values = [
            v * (3.0 if host == "rt02" else 1.0) for v, host in zip(steady, hosts, strict=True)
        ]
        parent = Sample(tuple(values), hosts)
        culprit = Sample(tuple(3 * v for v in values), hosts)
        gate = aa.same_kernel(RATE, parent, culprit)
        assert gate.status is GateStatus.PASS, gate.reason
        assert not aa.same_kernel(RATE, Sample(parent.values), Sample(culprit.values)).ok


def test_shares_of_one_side_say_too_little_of_luck():
    share = replace(RATE, statistic=Statistic.FRACTION, scale=Scale.LINEAR)
    gate = same_kernel(share, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [1.0] * 6)
    assert (gate.status, gate.reason.kind) == (GateStatus.ABSENT, Gates.NO_LUCK_TOLD)


def test_six_boots_that_luck_alone_makes_differ_trip_too():
    """Halves of three boots have no p below 0.05: what tells is what luck makes of all six."""
    drifting = [1.0, 1.01, 1.02, 1000.0, 1001.0, 1002.0]
    gate = same_kernel(RATE, drifting, [1500.0] * 6)
    assert (gate.status, gate.reason.kind) == (GateStatus.FAIL, Gates.LUCK)
    assert same_kernel(RATE, drifting[:3] * 2, [1500.0] * 6).ok


def test_a_culprit_that_hangs_comes_before_noise():
    assert boot_gates.hangs([], [], (6, 6)).reason.kind == Gates.NO_HANG
    stuck, frozen = as_said("soft lockup"), as_said("frozen nr_periods")
    # One may be the machine's.
    once = boot_gates.hangs([], [stuck], (6, 7))
    told = {"parent": 0, "parent_boots": 6, "culprit": 1, "culprit_boots": 7}
    assert (once.ok, once.reason) == (True, Finding.of(Gates.HANGS, **told))
    gate = boot_gates.hangs([], [stuck, None], (6, 8))
    told = {"parent": 0, "parent_boots": 6, "culprit": 2, "culprit_boots": 8, "how": stuck}
    assert (gate.ok, gate.reason) == (False, Finding.of(Gates.CULPRIT_HANGS, **told))
    gate = boot_gates.hangs([frozen] * 3, [], (9, 6))
    told = {"parent": 3, "parent_boots": 9, "culprit": 0, "culprit_boots": 6, "how": frozen}
    assert (gate.ok, gate.reason) == (True, Finding.of(Gates.PARENT_HANGS, **told))
