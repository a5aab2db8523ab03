# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of instructions, by the real valgrind and by what perf writes."""

import shutil
import subprocess
import sys

import pytest

from rtbisect.errors import ConfigError, InfrastructureError, MisaskedError
from rtbisect.model.code import Build, BuildStatus
from rtbisect.model.command import INSTRUCTIONS
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.lab import RunStatus
from rtbisect.model.subject import RunOrder
from rtbisect.program import counter
from rtbisect.program.counter import Counter, Counting, counter_here, counts_here
from rtbisect.program.figures import NoFigureError
from rtbisect.program.wanted import Wanted
from rtbisect.program.worktree_run import CommandInWorktree, CommandSettings


def counted(folder, *argv):
    folder.mkdir(exist_ok=True)
    counting = Counting(Counter.VALGRIND, folder)
    done = subprocess.run(
        counting.argv(argv), cwd=folder, capture_output=True, text=True, check=False
    )
    return counting, done


def test_valgrind_counts_all_processes_of_a_command(tmp_path):
    alone, done = counted(tmp_path / "a", "/bin/true")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # valgrind reads a % in its options.
    twice, _ = counted(tmp_path / "50%d", "/bin/sh", "-c", "/bin/true; /bin/true; :")
    assert alone.count() > 10_000
    assert twice.count() > 2 * alone.count()
    assert len(list((tmp_path / "50%d").glob("*.out"))) == 3


@pytest.mark.parametrize(
    "option", ["--cachegrind:trace-children-skip=*", "--leak-check=full", "--toggle-collect=none"]
)
@pytest.mark.parametrize("place", ["tree", "home", "environment"])
def test_options_that_lie_around_count_for_nothing(tmp_path, monkeypatch, option, place):
    twice = ("/bin/sh", "-c", "/bin/true; /bin/true; :")
    plain, _ = counted(tmp_path / "a", *twice)
    if place == "environment":
        monkeypatch.setenv("VALGRIND_OPTS", option)
    else:
        monkeypatch.setenv("HOME", str(tmp_path))
        folder = tmp_path if place == "home" else tmp_path / "b"
        folder.mkdir(exist_ok=True)
        (folder / ".valgrindrc").write_text(f"{option}\n")
    other, done = counted(tmp_path / "b", *twice)
    assert (done.returncode, len(list((tmp_path / "b").glob("*.out")))) == (0, 3)
    assert other.count() == pytest.approx(plain.count(), rel=0.01)


def test_what_valgrind_refuses_is_a_line_of_its_own(tmp_path):
    missing, done = counted(tmp_path / "a", "./nothing")
    assert done.returncode
    assert "nothing" in missing.refused(done.stderr.splitlines())
    own_way = tmp_path / "own"
    shutil.copy("/bin/true", own_way)
    own_way.chmod(0o4755)
    refused, done = counted(tmp_path / "b", str(own_way))
    assert "setuid" in refused.refused(done.stderr.splitlines())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("# started on Thu\n\n123456789,,instructions:u,31337,100.00,,\n", 123456789),
        ("<not supported>,,instructions:u,0,100.00,,\n", None),
        ("<not counted>,,instructions:u,0,0.00,,\n", None),
        ("Error:\nAccess to performance monitoring is limited\n", None),
        ("", None),
    ],
)
def test_what_perf_writes_is_read(tmp_path, text, count):
    counting = Counting(Counter.PERF, tmp_path)
    assert counting.refused(["valgrind: no"]) == ""
    (tmp_path / "perf").write_text(text)
    if count is None:
        with pytest.raises(NoFigureError) as error:
            counting.count()
        assert error.value.found.kind == Commands.NOT_COUNTED
    else:
        assert counting.count() == count


def test_perf_is_used_where_it_counts_else_valgrind_else_nothing(tmp_path, monkeypatch):
    says = tmp_path / "says"
    perf = tmp_path / "perf"
    perf.write_text(f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp {says} "$2"\n')
    perf.chmod(0o755)
    valgrind = tmp_path / "valgrind"
    valgrind.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    says.write_text("1000,,instructions:u,0,100.00,,\n")
    assert counter_here() is Counter.PERF
    says.write_text("<not supported>,,instructions:u,0,100.00,,\n")
    assert counter_here() is Counter.VALGRIND
    counts_here.cache_clear()
    assert counts_here()
    perf.unlink()
    monkeypatch.setattr(counter.shutil, "which", lambda _name: None)
    with pytest.raises(ConfigError, match="valgrind"):
        counter_here()
    # A process asks once.
    assert counts_here()
    counts_here.cache_clear()
    assert not counts_here()
    counts_here.cache_clear()


@pytest.fixture
def ran(tmp_path):
    """Runs a command that is counted in a tree, and gives the run of the campaign."""
    (tmp_path / "tree").mkdir()

    def run(argv, number=1, *, counted=True, count=False, counter=Counter.VALGRIND):
        settings = CommandSettings(
            argv=argv, wanted=Wanted(metric="ms"), pass_fail=False, timeout_s=20.0,
            work_dir=tmp_path / "work", checkout=lambda _sha: tmp_path / "tree",
            restore=lambda _sha: tmp_path / "tree", tree_of=str, counter=counter,
            counted=counted,
        )  # fmt: skip
        build = Build(revision="a" * 40, config_name="command", status=BuildStatus.OK)
        order = RunOrder(run_id=f"r{number}", number=number, count=count)
        done = CommandInWorktree(settings).run(build, order, lambda _note: None)
        assert not list((tmp_path / "work").glob("count-*"))
        return done, [(each.name, each.unit) for each in done.measurements]

    return run


def test_a_count_is_the_figure_where_that_is_asked(ran):
    prints = ("/bin/echo", "ms=3")
    assert ran(prints)[1] == [(INSTRUCTIONS, INSTRUCTIONS)]
    assert ran(prints, counted=False, count=True)[1] == [(INSTRUCTIONS, INSTRUCTIONS)]
    assert ran(prints, counted=False)[1] == [("ms", "")]


def test_a_program_that_valgrind_refuses_is_told_at_once_and_later_a_run_without_a_count(
    ran, tmp_path
):
    own_way = tmp_path / "own"
    shutil.copy("/bin/true", own_way)
    own_way.chmod(0o4755)
    with pytest.raises(MisaskedError, match="setuid"):
        ran((str(own_way),))
    run, figures = ran((str(own_way),), 2)
    assert (run.status, run.reason.kind, figures) == (
        RunStatus.INVALID, Commands.UNCOUNTABLE, [],
    )  # fmt: skip


@pytest.mark.parametrize(("code", "status"), [(1, RunStatus.INVALID), (125, RunStatus.SKIPPED)])
def test_a_command_that_fails_has_no_count(ran, code, status):
    run, _ = ran(("/bin/sh", "-c", f"exit {code}"))
    assert (run.status, run.reason.data["code"]) == (status, code)


def test_a_crash_of_what_is_counted_beside_a_figure_stops_no_search(ran):
    crashes = ("/bin/sh", "-c", "kill -SEGV $$")
    run, _ = ran(crashes, counted=False, count=True)
    assert (run.status, run.reason.kind) == (RunStatus.INVALID, Commands.ENDED)
    with pytest.raises(InfrastructureError):
        ran(crashes, 2)
    with pytest.raises(InfrastructureError):
        ran(crashes, 3, counted=False)


#: Ends as perf does: with 0 where a signal ended what it started.
PERF = """#!{python}
import subprocess, sys
at = sys.argv.index("--")
code = subprocess.run(sys.argv[at + 1 :], check=False).returncode
with open(sys.argv[sys.argv.index("-o") + 1], "w") as file:
    file.write("1000,,instructions:u,0,100.00,,\\n")
sys.exit(max(code, 0))
"""


@pytest.fixture
def perf(tmp_path, monkeypatch):
    place = tmp_path / "perf"
    place.write_text(PERF.format(python=sys.executable))
    place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Counter.PERF


def test_a_crash_under_perf_is_no_count(ran, perf):
    with pytest.raises(InfrastructureError):
        ran(("/bin/sh", "-c", "kill -SEGV $$"), counter=perf)
    run, _ = ran(("/bin/sh", "-c", "exit 3"), counter=perf)
    assert (run.status, run.reason.data["code"]) == (RunStatus.INVALID, 3)


def test_perf_starts_the_program_and_no_builtin_of_a_shell(ran, perf, tmp_path):
    own = tmp_path / "echo"
    own.write_text('#!/bin/sh\n/bin/echo "own $1"\n')
    own.chmod(0o755)
    assert ran(("echo", "a  b"), counter=perf)[1] == [(INSTRUCTIONS, INSTRUCTIONS)]
    assert (tmp_path / "work/r1.out").read_text() == "own a  b\n"


def test_counts_of_older_campaigns_have_no_shell_in_them(tmp_path):
    alone = Counting(Counter("perf"), tmp_path).argv(("./bench",))
    assert alone[-2:] == ("--", "./bench")
