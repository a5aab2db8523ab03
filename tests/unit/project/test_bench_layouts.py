# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool that measures layouts of native programs."""

import subprocess

import pytest

import bench_layouts

#: Links a program that takes no time; another one for each seed.
LINK = """\
#!/bin/sh
printf '#!/bin/sh\\n# %s\\ntest "$1" = "two words" && test "$(cat)" = given\\n' SEED >program
chmod +x program
"""


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "toy"
    place.mkdir()
    (place / "words").write_text("'two words'\n")
    (place / "input").write_text("given\n")

    def made(seed='"$RTBISECT_LAYOUT_SEED"'):
        (place / "link").write_text(LINK.replace("SEED", seed))
        (place / "link").chmod(0o755)
        return place

    return made


def test_each_layout_is_run_as_often(folder):
    found = bench_layouts.measured(folder(), 3, 2, None)
    assert (found.name, found.instructions) == ("toy", ())
    assert [len(times) for times in found.times_ms] == [2, 2, 2]
    assert (found.spread.layouts, found.spread.boots) == (3, 6)


def test_a_time_is_the_least_of_several_runs(folder, monkeypatch):
    taken_ms = iter(range(1, 1000))
    monkeypatch.setattr(bench_layouts, "_cpu_ms", lambda *_words: float(next(taken_ms)))
    found = bench_layouts.measured(folder(), 2, 2, None, best_of=5)
    assert sorted(round(t) for times in found.times_ms for t in times) == [1, 6, 11, 16]


def test_the_table_has_a_row_for_each_program(folder, capsys, tmp_path):
    plot = tmp_path / "layouts.svg"
    words = [str(folder()), "--layouts", "2", "--runs", "3", "--no-count", "--plot", str(plot)]
    assert bench_layouts.main(words) == 0
    head, rule, row = capsys.readouterr().out.splitlines()
    assert head.count("|") == rule.count("|") == row.count("|")
    assert row.startswith("| toy | - |")
    assert plot.read_text().count("<circle") == 6


def test_a_link_that_ignores_the_seed_is_told(folder):
    with pytest.raises(SystemExit, match="two seeds make one program"):
        bench_layouts.measured(folder("same"), 2, 2, None)


def test_a_program_that_fails_ends_it(folder):
    place = folder()
    (place / "input").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        bench_layouts.measured(place, 2, 2, None)


@pytest.mark.parametrize("missing", ["link", "words"])
def test_a_folder_without_its_files_is_refused(folder, missing, capsys):
    place = folder()
    (place / missing).unlink()
    with pytest.raises(SystemExit):
        bench_layouts.main([str(place)])
    assert f"has no file {missing}" in capsys.readouterr().err
