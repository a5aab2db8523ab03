# SPDX-License-Identifier: GPL-2.0-or-later
"""Real outputs of tools that measure, see tests/data/tool-outputs."""

import json
import statistics

import pytest

from helpers.campaigns import ROOT
from helpers.findings import Like
from rtbisect.model.kinds.boot import Commands
from rtbisect.program.figures import NoFigureError
from rtbisect.program.tool_outputs import Format
from rtbisect.program.wanted import Wanted, read

DATA = ROOT / "tests/data/tool-outputs"
TRACERS = ROOT / "tests/data/tracers"
LONG = "a group with a long name/of functions/fib 20"

LONG_TEST = "test_in_group_with_a_name_that_is_longer_than_sixty_characters_of_a_table_really"


def reading(path, tool, metric=""):
    return read(path, Wanted(tool=tool, metric=metric).checked())


@pytest.mark.parametrize(
    ("name", "tool", "metric", "values", "unit"),
    [
        (
            "hyperfine.json",
            "hyperfine",
            "fast",
            [31.854699, 19.990086, 33.524981, 14.175656, 17.23993],
            "ms",
        ),
        ("hyperfine.txt", "hyperfine", "slow", [34.3], "ms"),
        ("google-benchmark.txt", "google-benchmark", "BM_Slow", [89600.0], "ns"),
        ("google-benchmark.txt", "google-benchmark", "BM_Copy/64:cpu", [15.2], "ns"),
        ("google-benchmark-repeated.txt", "google-benchmark", "BM_Copy/64", [136, 174, 180], "ns"),
        ("pytest-benchmark.txt", "pytest-benchmark", "test_sort", [4.4570006], "us"),
        ("pytest-benchmark-alone.txt", "pytest-benchmark", "", [1.0209002], "us"),
        ("pytest-benchmark-groups.txt", "pytest-benchmark", "test_alone", [1.3832505], "us"),
        ("pytest-benchmark-groups.txt", "pytest-benchmark", LONG_TEST, [2319.8], "us"),
        ("pytest-benchmark-groups.txt", "pytest-benchmark", "test_one", [0.2477002], "us"),
        ("go.txt", "go", "BenchmarkJoin", [162.3, 265.2, 304.4], "ns/op"),
        ("go.txt", "go", "BenchmarkJoin:B/op", [8, 8, 8], "B/op"),
        ("go.txt", "go", "BenchmarkSize/n=two", [101.7, 84.82, 103.4], "ns/op"),
        ("cyclictest.txt", "cyclictest", "", [18004], "us"),
        ("cyclictest.txt", "cyclictest", "min", [65], "us"),
        ("cyclictest-histogram.txt", "cyclictest", "max", [22956], "us"),
        ("cyclictest-histogram.txt", "cyclictest", "avg", [2017.5], "us"),
        ("cyclictest-live.txt", "cyclictest", "max", [21065], "us"),
        ("cyclictest.json", "cyclictest", "max", [31649], "us"),
        ("criterion.txt", "criterion", "fib 10", [365.25], "ns"),
        ("criterion-again.txt", "criterion", "fib 10", [451.58], "ns"),
        ("criterion.txt", "criterion", LONG, [57164], "ns"),
    ],
)
def test_a_real_output_is_read(name, tool, metric, values, unit):
    found = reading(DATA / name, tool, metric)
    assert found.values == pytest.approx(values)
    assert found.value == pytest.approx(statistics.median(values))
    assert found.unit == unit


@pytest.mark.parametrize("tool", ["google-benchmark", "pytest-benchmark", "hyperfine"])
def test_json_and_table_of_a_tool_have_the_same_names(tool):
    def names(path):
        with pytest.raises(NoFigureError) as error:
            reading(path, tool, "nothing of this name")
        return error.value.found.data["names"]

    assert names(DATA / f"{tool}.json") == names(DATA / f"{tool}.txt")


def test_repetitions_in_json_are_repetitions():
    assert len(reading(DATA / "google-benchmark.json", "google-benchmark", "BM_Slow").values) == 3


@pytest.mark.parametrize("kernel", ["6.1", "6.12", "6.16", "7.2"])
def test_rtla_tells_noise_over_all_cpus(kernel):
    path = TRACERS / kernel / "rtla-top.txt"
    assert reading(path, "rtla", "max_noise").value > reading(path, "rtla", "max_single").value > 0
    assert 0 < reading(path, "rtla", "noise").value < 100


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rtla-timerlat.txt", {"irq_max": 5172, "irq_avg": 88.5, "thread_max": 6194}),
        # Its last row is of all CPUs.
        ("rtla-timerlat-all.txt", {"irq_max": 8550, "irq_avg": 299, "thread_max": 15569}),
        # Printed in ns.
        ("rtla-timerlat-ns.txt", {"irq_max": 15187.005, "thread_avg": 515.4155}),
    ],
)
def test_rtla_timerlat_is_read(name, told):
    found = {metric: reading(DATA / name, "rtla", metric) for metric in told}
    assert {metric: figure.value for metric, figure in found.items()} == pytest.approx(told)
    assert {figure.unit for figure in found.values()} == {"us"}


def test_on_one_cpu_go_prints_the_names_alone(tmp_path):
    out = tmp_path / "out"
    out.write_text(
        "BenchmarkSort/n-10 \t 100\t 20.5 ns/op\nBenchmarkSort/n-100\t 100\t 310 ns/op\n"
    )
    found = {name: reading(out, "go", f"BenchmarkSort/{name}").value for name in ("n-10", "n-100")}
    assert found == {"n-10": 20.5, "n-100": 310}


@pytest.mark.parametrize("tool", list(Format))
@pytest.mark.parametrize(
    "text", ["nothing of it\n", '{"results": 3, "benchmarks": [1], "thread": []}', "{"]
)
def test_what_is_no_output_of_a_tool_is_said(tmp_path, tool, text):
    out = tmp_path / "out"
    out.write_text(text)
    with pytest.raises(NoFigureError) as error:
        reading(out, tool)
    assert error.value.found == Like(Commands.NO_OUTPUT_OF, tool=tool.value)


def test_a_name_that_a_tool_did_not_measure_is_said_with_those_that_it_did():
    with pytest.raises(NoFigureError) as error:
        reading(DATA / "go.txt", "go", "BenchmarkNone")
    assert error.value.found.data["names"][0] == "BenchmarkJoin"
    with pytest.raises(NoFigureError) as error:
        reading(DATA / "go.txt", "go")
    assert error.value.found.kind == Commands.SEVERAL


@pytest.mark.parametrize("end", ["txt", "json"])
def test_the_only_google_benchmark_needs_no_name(tmp_path, end):
    text = (DATA / f"google-benchmark.{end}").read_text()
    out = tmp_path / "out"
    # As with --benchmark_filter=BM_Slow.
    if end == "json":
        told = json.loads(text)
        told["benchmarks"] = [row for row in told["benchmarks"] if row["run_name"] == "BM_Slow"]
        out.write_text(json.dumps(told))
    else:
        out.write_text("\n".join(row for row in text.splitlines() if "BM_Copy" not in row))
    assert reading(out, "google-benchmark") == reading(out, "google-benchmark", "BM_Slow")
    with pytest.raises(NoFigureError) as error:
        reading(DATA / f"google-benchmark.{end}", "google-benchmark")
    assert error.value.found == Like(
        Commands.SEVERAL, figures=3, names=("BM_Copy/64", "BM_Copy/4096", "BM_Slow")
    )


def test_the_end_of_a_cpu_time_is_one_of_google_benchmark_alone(tmp_path):
    out = tmp_path / "out"
    out.write_text('{"results": [{"command": "x", "mean": 1}, {"command": "x:cpu", "mean": 2}]}')
    with pytest.raises(NoFigureError) as error:
        reading(out, "hyperfine")
    assert error.value.found.data["names"] == ("x", "x:cpu")


def test_a_go_benchmark_without_a_time_is_said_with_what_it_tells(tmp_path):
    """As after b.ReportMetric(0, "ns/op")."""
    out = tmp_path / "out"
    out.write_text("BenchmarkRead-8 \t 100\t 12.5 rows/s\n")
    with pytest.raises(NoFigureError) as error:
        reading(out, "go")
    assert error.value.found == Like(Commands.OTHER_OF, names=("BenchmarkRead:rows/s",))
    assert reading(out, "go", "BenchmarkRead:rows/s").values == (12.5,)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "1e400"])
def test_a_number_of_a_tool_that_is_none_is_said(tmp_path, word):
    out = tmp_path / "out"
    out.write_text(f'{{"results": [{{"command": "x", "times": [1.0, {word}]}}]}}')
    with pytest.raises(NoFigureError) as error:
        reading(out, "hyperfine")
    assert error.value.found.kind == Commands.NOT_FINITE


def test_objects_of_a_tool_that_ran_twice_are_repetitions(tmp_path):
    out = tmp_path / "out"
    once = '{"results": [{"command": "x", "times": [%d]}]}\n'
    out.write_text(f"warm-up {{1}}\n{once % 1}between\n{once % 2}")
    assert reading(out, "hyperfine", "x").values == (1000.0, 2000.0)


@pytest.mark.parametrize(
    ("metric", "values", "unit"),
    [
        ("BenchmarkRead/size:10", (5.0,), "ns/op"),
        ("BenchmarkRead/size:10:B/op", (8.0,), "B/op"),
        ("BenchmarkRead/size:10:rows", (0.00002,), "rows"),
    ],
)
def test_a_colon_in_the_name_of_a_go_benchmark_begins_no_unit(tmp_path, metric, values, unit):
    out = tmp_path / "out"
    out.write_text("BenchmarkRead/size:10-8 \t 100\t 5.0 ns/op\t 2e-05 rows\t 8 B/op\n")
    found = reading(out, "go", metric)
    assert (found.values, found.unit) == (values, unit)


def test_a_unit_of_a_tool_is_told_with_an_end(tmp_path):
    out = tmp_path / "out"
    row = {"name": "x", "real_time": 1, "time_unit": "n" * 100_000}
    out.write_text(json.dumps({"benchmarks": [row]}))
    with pytest.raises(NoFigureError) as error:
        reading(out, "google-benchmark", "x")
    assert error.value.found == Like(Commands.UNITS_DIFFER, units=("ns", "n" * 16))


@pytest.mark.parametrize("failed", ["error_occurred", "skipped"])
def test_a_google_benchmark_that_failed_has_no_figure(tmp_path, failed):
    rows = [
        {"name": "BM_Ok", "run_type": "iteration", "real_time": 3.0, "time_unit": "ns"},
        {"name": "BM_Bad", "run_type": "iteration", "real_time": 0.0, failed: True},
    ]
    out = tmp_path / "out"
    out.write_text(json.dumps({"benchmarks": rows}))
    assert reading(out, "google-benchmark", "BM_Ok").values == (3.0,)
    with pytest.raises(NoFigureError) as error:
        reading(out, "google-benchmark", "BM_Bad")
    assert error.value.found.kind == Commands.OTHER_OF
    out.write_text(json.dumps({"benchmarks": rows[1:]}))
    with pytest.raises(NoFigureError) as error:
        reading(out, "google-benchmark")
    assert error.value.found.kind == Commands.NO_OUTPUT_OF


def test_a_time_of_criterion_may_be_picoseconds(tmp_path):
    out = tmp_path / "out"
    out.write_text("nothing                 time:   [310.10 ps 312.50 ps 315.00 ps]\n")
    assert reading(out, "criterion", "nothing").values == pytest.approx((0.3125,))


def test_a_benchmark_may_be_called_as_an_aggregate(tmp_path):
    out = tmp_path / "out"
    rows = ("BM_max", "BM_sum", "BM_sum_mean", "BM_sum_max")
    out.write_text("".join(f"{name}   136 ns   14.8 ns   847866\n" for name in rows))
    assert reading(out, "google-benchmark", "BM_max").values == (136.0,)
    with pytest.raises(NoFigureError) as error:
        reading(out, "google-benchmark", "BM_sum_mean")
    assert "BM_sum_max" not in error.value.found.data["names"]
