# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures in what any command prints: with units, repeated, by an expression, by a path."""

import pytest

from helpers.findings import Like
from rtbisect.errors import ConfigError
from rtbisect.model.kinds.boot import Commands
from rtbisect.program import wanted as wanted_figures
from rtbisect.program.figures import NoFigureError
from rtbisect.program.output import MOST_BYTES
from rtbisect.program.wanted import Wanted, read


def reading(tmp_path, text, **wanted):
    out = tmp_path / "out"
    out.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(out, Wanted(**wanted).checked())


@pytest.mark.parametrize(
    ("text", "wanted", "values", "unit"),
    [
        ("12.5us", {}, (12500.0,), "ns"),
        ("12.5 µs", {}, (12500.0,), "ns"),
        ("1234 ns/op", {}, (1234.0,), "ns/op"),
        ("p99_us: 140.2", {"metric": "p99_us"}, (140.2,), "us"),
        ("p99_us = 0.1402ms", {"metric": "p99_us"}, (140.2,), "us"),
        ("p99_us=1\nnoise\np99_us=2\np99_us=4", {"metric": "p99_us"}, (1.0, 2.0, 4.0), "us"),
        ("warm-up\n3\n4\n5", {}, (3.0, 4.0, 5.0), ""),
        ('{"p99": 1}\n{"p99": 2}', {"metric": "p99"}, (1.0, 2.0), ""),
        ('{"p99": [1, 2, 3]}', {}, (1.0, 2.0, 3.0), ""),
        ("a took 3 ms\nb took 4 ms", {"extract": "took (.*)"}, (3e6, 4e6), "ns"),
        # An expression or a path finds it; the name is what it is called, with its unit.
        ("a=3 b=4", {"extract": "b=(.*)", "metric": "a_ms"}, (4.0,), "ms"),
        ('{"a_ms": 3, "b": "4 us"}', {"json_path": "b", "metric": "a_ms"}, (0.004,), "ms"),
        ('{"r": [{"t": [1, 2]}, {"t": [5]}]}', {"json_path": "r[*].t[*]"}, (1.0, 2.0, 5.0), ""),
        ('x\n{"a b": {"c.d": ["7 kB"]}}', {"json_path": '["a b"]["c.d"][0]'}, (7000.0,), "B"),
        # Objects with nothing between them are repetitions, however many lines they have.
        ('{"p": 1}\n{\n"p": 2\n}', {"metric": "p"}, (1.0, 2.0), ""),
        ('{"n": 7}\n{"p": 1}', {"metric": "p"}, (1.0,), ""),
        ('{"p": 1}\n{"p": 2}\n', {"json_path": "p"}, (1.0, 2.0), ""),
        ('{"p": 1}\nagain\n{"p": 2}\ndone in {3} s', {"json_path": "p"}, (2.0,), ""),
        ('{"cut": [\n{"p": 2}', {"metric": "p"}, (2.0,), ""),
        ('{"a\u2028b": {"p": 3}}', {"json_path": "[*].p"}, (3.0,), ""),
        (b"\xff\xfe\np99=\x1b[31m11.5\x1b[0m\n", {"metric": "p99"}, (11.5,), ""),
        # A byte order mark, of each file that was printed.
        ("\ufeffp99=1\n\ufeffp99=2\n", {"metric": "p99"}, (1.0, 2.0), ""),
        ('\ufeff{"p99": 3}', {}, (3.0,), ""),
        ('\ufeff{"p99": 3}', {"json_path": "p99"}, (3.0,), ""),
        (
            b"\x1b]0;bench\x07p99=\x1b]8;;https://example.org\x1b\\11.5",
            {"metric": "p99"},
            (11.5,),
            "",
        ),
        # Rates and frequencies stay in the unit of the first repetition.
        ("900 MB/s\n1.1 GB/s", {}, (900.0, 1100.0), "MB/s"),
        ("bw: 1.5 GiB/s\nbw: 512 MiB/s", {"metric": "bw"}, (1.5, 0.5), "GiB/s"),
        ("2 us/op\n900 ns/op", {}, (2.0, 0.9), "us/op"),
        ("clock=800 MHz\nclock=1.2 GHz", {"metric": "clock"}, (800.0, 1200.0), "MHz"),
        ("950/s", {}, (950.0,), "/s"),
        ("ops_per_s: 950 ops/s", {"metric": "ops_per_s"}, (950.0,), "ops/s"),
        ("time: 12%", {"metric": "time"}, (12.0,), "%"),
        # A line that ends like an object and is none.
        ("p=3\ndone in {3}", {"metric": "p"}, (3.0,), ""),
        ("std::sort: 12 ms", {"metric": "std::sort"}, (12e6,), "ns"),
        ("a=b = 12", {"metric": "a=b"}, (12.0,), ""),
    ],
)
def test_a_figure_is_read_with_its_unit_and_its_repetitions(tmp_path, text, wanted, values, unit):
    found = reading(tmp_path, text, **wanted)
    assert found.values == pytest.approx(values)
    assert found.unit == unit


@pytest.mark.parametrize(
    ("text", "wanted", "said"),
    [
        ("12 errors", {}, Like(Commands.NO_NUMBER)),
        ("12us\n3 MB", {}, Like(Commands.UNITS_DIFFER, units=("ns", "B"))),
        ("p99_us=3MB", {"metric": "p99_us"}, Like(Commands.UNITS_DIFFER, units=("us", "MB"))),
        ("3 MB/s\n3 Mb/s", {}, Like(Commands.UNITS_DIFFER, units=("MB/s", "Mb/s"))),
        ("3 /x", {}, Like(Commands.NO_NUMBER)),
        ("p99=nan", {"metric": "p99"}, Like(Commands.NOT_FINITE)),
        ("p99=-inf", {}, Like(Commands.NOT_FINITE)),
        ("1" * 900, {}, Like(Commands.NOT_FINITE)),
        ("p99=" + "1" * 400, {"metric": "p99"}, Like(Commands.NOT_FINITE)),
        ("p99=-1." + "0" * 900 + " ms", {"metric": "p99"}, Like(Commands.NOT_FINITE)),
        ("", {"extract": "x"}, Like(Commands.NOTHING)),
        ("took long", {"extract": "took ([0-9]+)"}, Like(Commands.NO_MATCH)),
        ("a", {"extract": r"a|b(\d+)"}, Like(Commands.NO_MATCH)),
        ("took long", {"extract": "took (.*)"}, Like(Commands.NO_NUMBER)),
        ('{"a": {"b": 1}}', {"json_path": "a.c"}, Like(Commands.NO_PATH, step="c", names=("b",))),
        ('{"a": [1]}', {"json_path": "a[3]"}, Like(Commands.NO_PATH, step="3")),
        ('{"a": true}', {"json_path": "a"}, Like(Commands.NO_NUMBER)),
        ("[" * 100_000, {"json_path": "a"}, Like(Commands.UNREADABLE)),
        ('{"p": ' + "9" * 5000 + "}", {"metric": "p"}, Like(Commands.NOT_FINITE)),
        ('{"p": 1} and more}', {"metric": "p"}, Like(Commands.NO_OBJECT)),
        ("no json", {"json_path": "a"}, Like(Commands.NO_OBJECT)),
        (b"\0" * (MOST_BYTES + 1), {"extract": "x"}, Like(Commands.TOO_LONG)),
    ],
)
def test_what_is_no_figure_is_said(tmp_path, text, wanted, said):
    with pytest.raises(NoFigureError) as error:
        reading(tmp_path, text, **wanted)
    assert error.value.found == said


@pytest.mark.parametrize("pattern", ["(a+)+$", ".*.*.*.*=(x)"])
def test_an_expression_that_takes_years_is_no_figure(tmp_path, monkeypatch, pattern):
    monkeypatch.setattr(wanted_figures, "EXTRACT_S", 0.05)
    with pytest.raises(NoFigureError) as error:
        reading(tmp_path, "a" * 3000 + "b", extract=pattern)
    assert error.value.found == Like(Commands.SLOW_MATCH, pattern=pattern)


def test_a_hundred_megabytes_before_a_number_are_no_hindrance(tmp_path):
    out = tmp_path / "out"
    with out.open("wb") as stream:
        stream.truncate(100 << 20)
        stream.seek(0, 2)
        stream.write(b"\n42\n")
    assert read(out, Wanted()).values == (42.0,)


@pytest.mark.parametrize(
    "wanted",
    [
        {"extract": "("},
        {"extract": "(a)(b)"},
        {"json_path": "a..b"},
        {"json_path": "a[x]"},
        {"extract": "a", "json_path": "a"},
        {"tool": "go", "extract": "a"},
        {"tool": "go", "json_path": "a"},
    ],
)
def test_options_that_make_no_sense_are_refused(wanted):
    with pytest.raises(ConfigError):
        Wanted(**wanted).checked()


def test_a_wrong_name_is_told_with_those_that_there_are(tmp_path):
    with pytest.raises(NoFigureError) as error:
        reading(tmp_path, "p50_us: 1.5us\np99_us: 2us", metric="p95_us")
    assert error.value.found == Like(Commands.OTHER_LINES, names=("p50_us", "p99_us"))
