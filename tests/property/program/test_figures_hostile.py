# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command prints may be anything: it is a reading, or a finding says what is missing."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.depth import deep
from helpers.findings import words
from rtbisect.program.figures import LARGEST, NoFigureError, in_lines, reading_of
from rtbisect.program.tool_outputs import Format
from rtbisect.program.units import TIMES
from rtbisect.program.wanted import Wanted, read

NUMBERS = st.floats(-LARGEST, LARGEST, allow_nan=False)
LINES = st.one_of(
    st.text(max_size=80),
    st.sampled_from((
        "p99=1", "p99: 2us", "p99 =nan", "T: 0 (1) P:1 I:1 C: 1 Min: 1 Act: 1 Avg: 1 Max: 1",
        "BenchmarkX-8 \t 3\t 1.5 ns/op\t 2 B/op", "x time:   [1 ns 2 ns 3 ns]", "Benchmark 1: x",
        "  Time (abs ≡):  1.0 ms ± 1 ms", "BM_X  1 ns  2 ns  3", '{"results": [{"times": [1]}]}',
        '{"benchmarks": [{"name": "x", "real_time": "1", "stats": []}]}', "{", "}", "1" * 400,
        '{"thread": {"0": {"max": 1}}}', "  0 #1 | 1 2 3 4 | 1 2 3 4", "1.0.0", "9" * 17 + "us",
    )),
)  # fmt: skip


@pytest.mark.parametrize("tool", ["", *Format])
@settings(max_examples=deep(40, 1000), deadline=None)
@given(lines=st.lists(LINES, max_size=12), metric=st.sampled_from(("", "p99", "max", "x")))
def test_any_output_is_a_reading_or_a_finding(tmp_path_factory, tool, lines, metric):
    out = tmp_path_factory.getbasetemp() / "hostile.out"
    out.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    said, values = "", (0.0,)
    try:
        values = read(out, Wanted(tool=tool, metric=metric)).values
    except NoFigureError as error:
        said = words(error.found)
    assert "\n" not in said
    assert values
    assert all(map(math.isfinite, values))


@settings(max_examples=deep(60, 2000), deadline=None)
@given(values=st.lists(NUMBERS, min_size=1, max_size=9), unit=st.sampled_from(["", *TIMES]))
def test_what_is_printed_is_read(values, unit):
    scale = TIMES.get(unit, 1.0)
    for lines, metric in (
        ([f"{value!r}{unit}" for value in values], ""),
        ([f"a name: {value!r} {unit}" for value in values], "a name"),
    ):
        found = reading_of(in_lines(lines, metric), "")
        assert found.values == pytest.approx([value * scale for value in values])
        assert found.unit == ("ns" if unit else "")


@settings(max_examples=deep(60, 2000), deadline=None)
@given(
    keys=st.lists(st.text("abc .[]'*0", min_size=1, max_size=5), min_size=1, max_size=3),
    value=NUMBERS,
)
def test_a_path_finds_what_lies_there(tmp_path_factory, keys, value):
    document = value
    for key in reversed(keys):
        document = {key: [document]}
    path = "".join(f'["{key}"][0]' for key in keys)
    out = tmp_path_factory.getbasetemp() / "path.out"
    out.write_text(json.dumps(document))
    assert read(out, Wanted(json_path=path).checked()).values == (value,)
