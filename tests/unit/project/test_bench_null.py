# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark of ranges in which nothing regressed: what it makes, and that it goes on."""

import json

import pytest

import bench_null


@pytest.mark.parametrize("number", range(6))
def test_nothing_regressed_in_any_range(number):
    here = bench_null.world_of(number, bench_null.SHORT)
    assert here.truth == frozenset()
    assert 0 <= here.cell.build <= bench_null.MOST
    assert {here.share(commit.sha) for commit in here.graph.commits} == {0.0}


def test_trials_are_run_once(tmp_path, monkeypatch, capsys):
    out = tmp_path / "null.jsonl"
    for trials, first in ((3, 0), (5, 0)):
        words = ["bench_null.py", "--trials", str(trials), "--first", str(first), "--jobs", "1"]
        monkeypatch.setattr("sys.argv", [*words, "--out", str(out)])
        assert bench_null.main() == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["trial"] for row in rows] == [0, 1, 2, 3, 4]
    assert rows[0] == bench_null.looked(0)
    said = capsys.readouterr().out
    assert f"{sum(row['passed'] for row in rows)} of 5 pass" in said
