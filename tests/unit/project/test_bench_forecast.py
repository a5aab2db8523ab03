# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark of forecasts: what counts as kept, and that it goes on."""

import json

import pytest

import bench_forecast
from searchbench.world import Cell

#: A short line with a large change, where a search takes few boots.
EASY = Cell("easy", "linear-16", effect=6.0)


def row(boots, *, budget_ended=False):
    return {
        "forecast": {"boots": [20.0, 30.0, 50.0]},
        "took": {"boots": boots},
        "budget_ended": budget_ended,
    }


@pytest.mark.parametrize(
    ("boots", "kept"), [(19, False), (20, True), (30, True), (50, True), (51, False)]
)
def test_an_interval_holds_its_ends(boots, kept):
    assert bench_forecast.covered(row(boots), "boots") is kept


@pytest.mark.parametrize(("boots", "kept"), [(10, True), (50, True), (51, False)])
def test_a_search_that_its_budget_ends_would_have_taken_more(boots, kept):
    assert bench_forecast.covered(row(boots, budget_ended=True), "boots") is kept


def test_a_ratio_is_what_it_took_by_what_was_said():
    assert bench_forecast.ratio(row(45), "boots") == 1.5


def test_searches_are_played_once(tmp_path, monkeypatch, capsys):
    out = tmp_path / "forecasts.jsonl"
    monkeypatch.setattr(bench_forecast, "cells", lambda _: [EASY])
    for trials in ("1", "2"):
        words = ["bench_forecast.py", "--trials", trials, "--first", "0", "--jobs", "1"]
        monkeypatch.setattr("sys.argv", [*words, "--out", str(out)])
        assert bench_forecast.main() == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [each["trial"] for each in rows] == [0, 1]
    assert rows[0] == {**bench_forecast.play((EASY, 0)), "forecast_s": rows[0]["forecast_s"]}
    assert all(each["outcome"] == "culprit" for each in rows)
    assert all(each["took"]["boots"] > 0 for each in rows)
    assert "| easy | 2 |" in capsys.readouterr().out
