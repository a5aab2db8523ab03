# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from helpers.lab_logs import durations
from helpers.windows import select
from rtbisect.model.kinds.boot import Raw
from rtbisect.suites import rcu
from rtbisect.suites.base import SuiteError

(OFF,) = select(["rcu-off"])


def parsed(content, facts=b"hz=1000\n"):
    files = {"durations.txt": content, "facts.txt": facts}
    return {m.name: m for m in rcu.parse(files, OFF, (2, 3, 4))}


def test_figures_of_known_durations():
    got = parsed(durations([n * 1_000_000 for n in range(100, 0, -1)]))
    values = {name: m.value for name, m in got.items()}
    assert values == {
        "calls": 100,
        "mean_us": pytest.approx(50_500),
        "min_us": 1_000,
        "max_us": 100_000,
        "p50_us": 50_000,
        "p90_us": 90_000,
        "p99_us": 99_000,
        "over_20ms_per_call": 0.8,
        "p50_ticks": pytest.approx(50.0),
        # Every number of ticks comes once: the shortest stands for them.
        "mode_ticks": 1,
        "mode_share": 0.01,
    }
    assert all(m.cpu is None for m in got.values())
    assert got["p50_us"].unit == "us"


def test_most_calls_take_a_number_of_ticks():
    calls = [6_100_000] * 60 + [5_950_000] * 10 + [9_000_000] * 28 + [24_000_000] * 2
    values = {name: m.value for name, m in parsed(durations(calls)).items()}
    assert (values["mode_ticks"], values["mode_share"]) == (6, 0.7)
    assert values["over_20ms_per_call"] == 0.02


def test_ticks_need_a_known_tick_rate():
    assert parsed(durations(), b"hz=250\n")["p50_ticks"].value == pytest.approx(1.5, rel=0.01)
    assert "p50_ticks" not in parsed(durations(), b"hz=\n")


@pytest.mark.parametrize("facts", [b"BUG: hz=1000\n", b"hz=10BUG: 00\n", b"tainted=0\n"])
def test_a_damaged_hz_is_no_figure_less(facts):
    with pytest.raises(SuiteError) as caught:
        parsed(durations(), facts)
    assert caught.value.found.kind == Raw.NO_HZ


def test_ticks_are_left_out_without_facts():
    found = rcu.parse({"durations.txt": durations()}, OFF, (2,))
    assert "p50_ticks" not in {m.name for m in found}


@pytest.mark.parametrize(
    "content",
    [
        durations([6_000_000] * 9),
        durations([6_000_000] * 20) + b"oops\n",
        durations([6_000_000] * 20) + b"-5\n",
        durations([6_000_000] * 20) + b"0\n",
        durations([6_000_000] * 20) + b"99000000000\n",
        durations([6_000_000] * 20) + b"\n",
        b"",
    ],
)
def test_durations_that_cannot_be_are_refused(content):
    with pytest.raises(SuiteError):
        parsed(content)


def test_quantiles_are_measured_values():
    assert rcu.quantile([1.0, 2.0, 3.0], 0.5) == 2.0
    assert rcu.quantile([1.0, 2.0], 0.5) == 1.0
    assert rcu.quantile([7.0], 0.99) == 7.0
