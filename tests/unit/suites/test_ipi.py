# SPDX-License-Identifier: GPL-2.0-or-later
import os
import subprocess

import pytest

from helpers import tracers
from helpers.findings import Like
from helpers.lab_logs import dose, interrupts, window_txt
from helpers.windows import select
from rtbisect.model.kinds.boot import Raw
from rtbisect.suites import ipi
from rtbisect.suites.base import SuiteError, pairs

(OFF, ON) = select(["osnoise-off", "pf-on"])
WATCH = (2, 3, 4)


def files(after, before=None, **window):
    return {
        "before.txt": interrupts(before or {}),
        "after.txt": interrupts(after),
        "window.txt": window_txt(**window),
    }


def parsed(found, window=ON):
    return {(m.name, m.cpu): m for m in ipi.parse(found, window, WATCH)}


def test_rates_are_counts_per_second_of_the_window():
    per_cpu = [900, 900, 10, 20, 60, 900, 900, 900]
    got = parsed(files({"RES": per_cpu}, {"RES": [0] * 8}, seconds=2.0), OFF)
    assert [got["res_per_s", cpu].value for cpu in WATCH] == [5.0, 10.0, 30.0]
    assert got["res_per_s", None].value == 15.0
    assert got["res_per_s", None].unit == "1/s"


def test_the_ratio_of_the_boot_is_that_of_the_sums():
    after = {"RES": [0, 0, 10, 30, 0, 0, 0, 0], "IWI": [0, 0, 100, 50, 0, 0, 0, 0]}
    got = parsed(files(after, dose=dose(100)))
    assert got["res_per_iwi", None].value == pytest.approx(40 / 150)
    assert got["res_per_iwi", 2].value == pytest.approx(0.1)
    assert ("res_per_iwi", 4) not in got
    assert got["res_per_iwi", None].unit == "1"


def test_there_is_no_ratio_without_a_workload_or_without_irq_work():
    assert ("res_per_iwi", None) not in parsed(files({"IWI": 100}), OFF)
    assert ("res_per_iwi", None) not in parsed(files({"RES": 5}, dose=dose(1)))


def test_device_interrupts_are_summed():
    got = parsed(
        files(
            {"4": [0, 0, 5, 0, 0, 0, 0, 0], "24": [0, 0, 5, 0, 0, 0, 0, 0]}, {"24": 0}, seconds=1.0
        ),
        OFF,
    )
    assert got["dev_per_s", 2].value == 10.0


def on_cpu_2(count):
    return [0, 0, count, 0, 0, 0, 0, 0]


def test_a_device_that_comes_or_goes_is_no_step_backwards():
    come = files({"24": on_cpu_2(7)}, {}, seconds=1.0)
    assert parsed(come, OFF)["dev_per_s", 2].value == 7.0
    gone = files({"4": on_cpu_2(3)}, {"24": on_cpu_2(1000)}, seconds=1.0)
    assert parsed(gone, OFF)["dev_per_s", 2].value == 3.0
    # What one took along, another does not fill up.
    other = files({"25": on_cpu_2(9)}, {"24": on_cpu_2(9)}, seconds=1.0)
    assert parsed(other, OFF)["dev_per_s", 2].value == 9.0


@pytest.mark.parametrize("label", ["SPU", "RTR", "THR", "TRM"])
def test_a_row_that_is_hidden_until_it_counts_was_at_zero(label):
    got = parsed(files({label: on_cpu_2(4)}, seconds=1.0), OFF)
    assert ("res_per_s", 2) in got
    if label in ("THR", "TRM"):
        assert got[f"{label.lower()}_per_s", 2].value == 4.0


@pytest.mark.parametrize("label", ["RES", "4"])
def test_a_counter_of_32_bits_may_come_round(label):
    name = "dev_per_s" if label == "4" else "res_per_s"
    round_it = files({label: on_cpu_2(6)}, {label: on_cpu_2(2**32 - 4)}, seconds=1.0)
    assert parsed(round_it, OFF)[name, 2].value == 10.0
    half = files({label: on_cpu_2(2**31)}, {label: 0}, seconds=1.0)
    assert parsed(half, OFF)[name, 2].value == 2**31
    for before, after in ((0, 2**31 + 1), (1, 0), (2**32 + 5, 2**32), (2**32, 5)):
        found = files({label: on_cpu_2(after)}, {label: on_cpu_2(before)})
        assert wrong(found, OFF) == Like(Raw.BACKWARDS, line=label)


def test_the_dose_is_reported():
    got = parsed(files({}, dose=dose(2500, lost=3)))
    assert got["events_per_s", None].value == 1000.0
    assert got["lost", None].value == 3.0


def test_vectors_that_the_kernel_does_not_have_are_left_out():
    assert ("thr_per_s", None) not in parsed(files({}), OFF)
    assert ("thr_per_s", None) in parsed(files({"THR": 1}, {"THR": 0}), OFF)


def wrong(found, window=ON, watch=WATCH):
    with pytest.raises(SuiteError) as caught:
        ipi.parse(found, window, watch)
    return caught.value.found


def test_files_that_do_not_agree_are_refused():
    good = files({}, dose=dose(1))
    assert wrong({k: v for k, v in good.items() if k != "after.txt"}).kind == Raw.MISSING
    assert wrong(files({"RES": 1}, {"RES": 2}, dose=dose(1))).kind == Raw.BACKWARDS
    assert wrong(files({}, {"THR": 1}, dose=dose(1))) == Like(Raw.LINE_GONE, line="THR")
    for name in ("before.txt", "after.txt"):
        cut = b"".join(line for line in good[name].splitlines(keepends=True) if b"RES" not in line)
        assert wrong(good | {name: cut}).data["line"] == "RES"
    assert wrong(good | {"after.txt": interrupts({}, cpus=7)}).kind == Raw.CPUS_CHANGED
    assert wrong(good, watch=(2, 9)) == Like(Raw.OFFLINE, cpu=9)
    assert wrong(files({})).kind == Raw.NO_DOSE
    short = wrong(files({}, dose=dose(1), seconds=0.01))
    assert short == Like(Raw.SHORT_WINDOW, lasted_s=0.01)
    assert wrong(good | {"window.txt": b"start_ns 1\n"}) == Like(Raw.NO_KEY, key="end_ns")
    less = window_txt(dose=dose(1)).replace(b"_after 101", b"_after 1")
    assert wrong(good | {"window.txt": less}).kind == Raw.DOSE_BACKWARDS


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"CPU0", b"XPU0", Raw.NO_CPUS),
        (b"RES:", b"RES ", Raw.FOREIGN_LINE),
        (b"RES:", b"LOC:", Raw.LINE_TWICE),
        (b"RES:", b"[ 12.3] oops:", Raw.FOREIGN_LINE),
        (b"RES:", b"9" * 5000 + b":", Raw.FOREIGN_LINE),
        (b"RES:          0          0", b"RES:          0         -1", Raw.NO_COUNTS),
        (b"RES:", b"XYZ:", Raw.NO_VECTOR),
    ],
)
def test_damaged_snapshots_are_refused(old, new, reason):
    found = files({}, dose=dose(1))
    for name in ("before.txt", "after.txt"):
        assert old in found[name]
        found[name] = found[name].replace(old, new)
    assert wrong(found).kind == reason


@pytest.mark.parametrize("dosed", [False, True])
def test_the_program_of_the_device_tells_what_is_read(tmp_path, dosed):
    program = tracers.compiled(tmp_path, "ipi/irqsnap.c")
    argv = [program, "-k", str(min(os.sched_getaffinity(0))), "-t", "1", "-o", tmp_path]
    if dosed:
        (tmp_path / "dose").write_bytes(b"rtbdose1" + bytes(1 << 16))
        argv += ["-d", tmp_path / "dose"]
    env = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    subprocess.run(argv, check=True, timeout=60, env=env)
    known = [f"{key}_{side}" for key in ipi.DOSE for side in ("before", "after")]
    told = pairs((tmp_path / "window.txt").read_text(), " ")
    assert list(told) == [*ipi.TIMES, *(known if dosed else ())]
    assert {path.name for path in tmp_path.glob("*.txt")} == files({}).keys()
