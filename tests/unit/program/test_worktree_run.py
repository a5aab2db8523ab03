# SPDX-License-Identifier: GPL-2.0-or-later
from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.findings import Like, innermost
from rtbisect.errors import ConfigError, InfrastructureError, MisaskedError
from rtbisect.model.campaign import CampaignRequest, Scale, Sought
from rtbisect.model.code import Build, BuildStatus
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.lab import RunStatus
from rtbisect.model.subject import RunOrder
from rtbisect.program import output, worktree_run
from rtbisect.program.figures import NoFigureError, in_lines, reading_of
from rtbisect.program.output import KEPT_BYTES, tail
from rtbisect.program.wanted import Wanted
from rtbisect.program.worktree_run import CommandInWorktree, CommandSettings


def figure_of(lines, metric):
    return reading_of(in_lines(lines, metric), "").value


@pytest.mark.parametrize(
    ("lines", "metric", "value"),
    [
        (["noise", "3.5"], "", 3.5),
        (["p99_us=12", "p50_us = 4e2"], "p50_us", 400.0),
        (["p99_us=12", "p99_us=13", "done"], "p99_us", 12.5),
        (["latency=7"], "", 7.0),
        (['{"a": 1, "b": 2.5}'], "b", 2.5),
        (['{"a": 1, "a": 4, "a": 9, "b": 2, "b": "x"}'], "a", 4.0),
        (['{"a": [1, 2], "a": [9], "a": 4}'], "a", 3.0),
        (['{"a": 1, "name": "x", "ok": true}'], "", 1.0),
        (["run 1", "{", '"p99": 7.5,', '"of": [', "{", '"a": 1', "}", "]", "}"], "p99", 7.5),
        (["p99 (us)=12", "p99 = 1"], "p99 (us)", 12.0),
        (["warm=1", "and now", "p99=3", "p99=4"], "", 3.5),
    ],
)
def test_a_figure_is_read_from_the_last_lines(lines, metric, value):
    assert figure_of(lines, metric) == value


@pytest.mark.parametrize(
    ("lines", "metric", "said"),
    [
        ([], "", Like(Commands.NOTHING)),
        (["hello"], "", Like(Commands.NO_NUMBER, line="hello")),
        (["nan"], "", Like(Commands.NOT_FINITE)),
        (["inf"], "", Like(Commands.NOT_FINITE)),
        (["x=1"], "y", Like(Commands.OTHER_LINES, metric="y", names=("x",), more=0)),
        (["1\x1b[31m2"], "", Like(Commands.NO_NUMBER, line="1\x1b[31m2")),
        (["{nonsense"], "", Like(Commands.NO_OBJECT)),
        (['{"a": 1, "b": 2}'], "", Like(Commands.SEVERAL_KEYS, figures=2)),
        (['{"a": 1}'], "b", Like(Commands.OTHER_KEYS, metric="b", names=("a",))),
        (['{"a": NaN}'], "a", Like(Commands.NOT_FINITE)),
        (["{" + '"a":{' * 20000], "a", Like(Commands.UNREADABLE)),
        (["1" * 5000], "", Like(Commands.NOT_FINITE)),
        (["1e101"], "", Like(Commands.TOO_LARGE)),
        (["iterations=10", "p99=3"], "", Like(Commands.SEVERAL, names=("p99", "iterations"))),
        (["}"], "", Like(Commands.NO_OBJECT)),
    ],
)
def test_what_is_no_figure_is_said(lines, metric, said):
    with pytest.raises(NoFigureError) as error:
        figure_of(lines, metric)
    assert error.value.found == said


def test_only_the_end_of_a_large_output_is_read(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"x" * (3 << 20) + b"\n\xff\xfe\n\n42\n\n")
    assert tail(path)[-1] == "42"


def lab(tmp_path, script, **changes):
    (tmp_path / "tree").mkdir(exist_ok=True)
    settings = CommandSettings(
        argv=("/bin/sh", "-c", script),
        wanted=Wanted(metric=changes.pop("metric", "")),
        pass_fail=changes.pop("pass_fail", False),
        timeout_s=changes.pop("timeout_s", 20.0),
        work_dir=tmp_path / "work",
        checkout=changes.pop("checkout", lambda _sha: tmp_path / "tree"),
        restore=changes.pop("restore", lambda _sha: tmp_path / "tree"),
        tree_of=lambda sha: f"tree of {sha[0]}",
        **changes,
    )
    return CommandInWorktree(settings)


def one_run(sha="a" * 40):
    return Build(revision=sha, config_name="command", status=BuildStatus.OK), RunOrder(
        run_id="run-1-r1", number=1
    )


def test_a_command_knows_its_revision_and_its_figure_is_read(tmp_path):
    notes = []
    script = 'echo progress >&2; test "$RTBISECT_REVISION" = ' + "a" * 40 + "; echo x=$((6*7))"
    run = lab(tmp_path, script, metric="x").run(*one_run(), notes.append)
    assert run.complete
    assert [(m.name, m.value) for m in run.measurements] == [("x", 42.0)]
    assert notes[0].startswith("pgid:")
    assert (tmp_path / "work/run-1-r1.err").read_text() == "progress\n"


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("exit 125", RunStatus.SKIPPED, Like(Commands.ENDED, code=125)),
        ("echo 3; exit 1", RunStatus.INVALID, Like(Commands.ENDED, code=1)),
        ("true", RunStatus.INVALID, Like(Commands.NOTHING)),
        ("echo nan", RunStatus.INVALID, Like(Commands.NOT_FINITE)),
    ],
)
def test_failed_runs_are_no_evidence(tmp_path, script, status, said):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "run-1-r0.out").touch()
    run = lab(tmp_path, script).run(*one_run(), lambda _n: None)
    assert run.status is status
    assert run.reason == said
    assert run.measurements == ()


def test_a_first_run_without_a_figure_says_what_it_printed(tmp_path):
    here = lab(tmp_path, "echo one; echo two; echo three; echo four", metric="p99")
    settings = replace(here._settings, wanted=Wanted(extract="took (.*)"))
    with pytest.raises(MisaskedError, match="'two', 'three', 'four'"):
        CommandInWorktree(settings).run(*one_run(), lambda _n: None)


def test_a_first_figure_that_is_no_number_is_told_and_a_later_one_may_be(tmp_path):
    told = []
    run = lab(tmp_path, "echo x=nan", metric="x", tell=told.append).run(*one_run(), lambda _n: None)
    assert run.status is RunStatus.INVALID
    assert told == [Finding.of(Commands.FIRST, why=run.reason)]


def test_the_last_error_of_a_command_is_told_beside_its_end(tmp_path):
    run = lab(tmp_path, "echo no such device >&2; exit 3").run(*one_run(), lambda _n: None)
    assert run.reason == Like(Commands.LAST_ERROR, line="no such device")
    assert innermost(run.reason) == Finding.of(Commands.ENDED, code=3)


def test_a_command_that_hangs_is_ended(tmp_path):
    run = lab(tmp_path, "sleep 60", timeout_s=0.5).run(*one_run(), lambda _n: None)
    assert run.status is RunStatus.HUNG


@pytest.mark.parametrize("pass_fail", [True, False])
def test_what_fails_on_a_full_disk_says_nothing_of_a_revision(tmp_path, monkeypatch, pass_fail):
    monkeypatch.setattr(output.shutil, "disk_usage", lambda _path: SimpleNamespace(free=1 << 20))
    with pytest.raises(InfrastructureError) as error:
        lab(tmp_path, "exit 1", pass_fail=pass_fail).run(*one_run(), lambda _n: None)
    assert "resume" in error.value.hint
    assert lab(tmp_path, "echo 1").run(*one_run(), lambda _n: None).complete


def test_an_output_that_fills_the_disk_says_nothing_of_a_revision(tmp_path, monkeypatch):
    log = tmp_path / "work" / "run-1-r1.out"

    def usage(_path):
        return SimpleNamespace(free=1 << 20 if log.stat().st_size > KEPT_BYTES else 1 << 40)

    monkeypatch.setattr(output.shutil, "disk_usage", usage)
    with pytest.raises(InfrastructureError, match="full"):
        lab(tmp_path, "head -c 2000000 /dev/zero; exit 1").run(*one_run(), lambda _n: None)
    assert log.stat().st_size <= KEPT_BYTES


@pytest.mark.parametrize("pass_fail", [True, False])
def test_a_command_that_prints_for_ever_is_ended(tmp_path, monkeypatch, pass_fail):
    monkeypatch.setattr(worktree_run, "MOST_PRINTED_BYTES", 1 << 20)
    run = lab(tmp_path, "yes 1", pass_fail=pass_fail).run(*one_run(), lambda _n: None)
    assert run.status is RunStatus.INVALID
    assert run.reason == Finding.of(Commands.OVERRAN, most=1 << 20)
    assert (tmp_path / "work/run-1-r1.out").stat().st_size <= KEPT_BYTES


@pytest.mark.parametrize(("code", "value"), [(0, 0.0), (1, 1.0), (127, 1.0)])
def test_the_exit_code_is_the_figure_with_pass_fail(tmp_path, code, value):
    run = lab(tmp_path, f"exit {code}", pass_fail=True).run(*one_run(), lambda _n: None)
    assert run.measurements[0].value == value


@pytest.mark.parametrize("script", ["exit 128", "exit 200", "kill -9 $$"])
def test_a_command_can_stop_the_campaign(tmp_path, script):
    with pytest.raises(InfrastructureError, match="on aaaaaaaaaaaa") as error:
        lab(tmp_path, script, pass_fail=True).run(*one_run(), lambda _n: None)
    assert "resume" in error.value.hint


def test_a_revision_that_is_there_is_not_checked_out_again(tmp_path):
    asked = []

    def notes(what):
        def noted(sha):
            asked.append((what, sha[0]))
            return tmp_path / "tree"

        return noted

    here = lab(tmp_path, "echo 1", checkout=notes("checkout"), restore=notes("restore"))
    for sha in ("a" * 40, "a" * 40, "b" * 40, "a" * 40):
        here.run(*one_run(sha), lambda _n: None)
    assert asked == [("checkout", "a"), ("restore", "a"), ("checkout", "b"), ("checkout", "a")]


def test_a_worktree_that_the_command_removed_is_made_again(tmp_path):
    def checkout(_sha):
        (tmp_path / "tree").mkdir(exist_ok=True)
        return tmp_path / "tree"

    here = lab(tmp_path, 'echo 1; rm -rf "$PWD"', checkout=checkout)
    assert [here.run(*one_run(), lambda _n: None).status for _ in range(2)] == [
        RunStatus.COMPLETE
    ] * 2


def test_a_script_that_a_revision_does_not_have_skips_it(tmp_path):
    settings = replace(lab(tmp_path, "")._settings, argv=("./bench.sh",))
    run = CommandInWorktree(settings).run(*one_run(), lambda _n: None)
    assert (run.status, run.reason) == (
        RunStatus.SKIPPED,
        Finding.of(Commands.NOT_THERE, program="./bench.sh"),
    )


def test_a_script_that_is_not_executable_in_a_revision_skips_it(tmp_path):
    settings = replace(lab(tmp_path, "")._settings, argv=("./bench.sh",))
    (tmp_path / "tree/bench.sh").write_text("echo 1\n")
    (tmp_path / "tree/bench.sh").chmod(0o644)
    run = CommandInWorktree(settings).run(*one_run(), lambda _n: None)
    assert run.status is RunStatus.SKIPPED
    assert run.reason == Finding.of(Commands.NOT_EXECUTABLE, program="./bench.sh")


@pytest.mark.parametrize(
    ("first", "interpreter"),
    [
        ("#!/bin/sh\r\n", "/bin/sh\\r"),
        ("#! /opt/gone/python3 -u\n", "/opt/gone/python3"),
        ("#!/bin/sh -e\n", ""),
        ("#!\t/bin/sh\n", ""),
    ],
)
def test_a_script_whose_interpreter_is_not_there_skips_its_revision(tmp_path, first, interpreter):
    settings = replace(lab(tmp_path, "")._settings, argv=("./bench.sh",))
    (tmp_path / "tree/bench.sh").write_text(f"{first}echo 1\n", newline="")
    (tmp_path / "tree/bench.sh").chmod(0o755)
    run = CommandInWorktree(settings).run(*one_run(), lambda _n: None)
    gone = Finding.of(Commands.NO_INTERPRETER, program="./bench.sh", interpreter=interpreter)
    skipped = RunStatus.SKIPPED, gone
    assert (run.status, run.reason) == (skipped if interpreter else (RunStatus.COMPLETE, None))


@pytest.mark.parametrize(
    "content", [b"\x7fELF\2\1\1\0", b"#!/etc/passwd\n", b"#!./bench\n", b"#!bench/x\n"]
)
def test_a_program_that_the_kernel_refuses_skips_its_revision(tmp_path, content):
    settings = replace(lab(tmp_path, "")._settings, argv=("./bench",))
    (tmp_path / "tree/bench").write_bytes(content)
    (tmp_path / "tree/bench").chmod(0o755)
    run = CommandInWorktree(settings).run(*one_run(), lambda _n: None)
    assert (run.status, run.reason.kind) == (RunStatus.SKIPPED, Commands.NOT_STARTED)


def test_a_script_without_an_interpreter_is_run_as_a_shell_runs_it(tmp_path):
    settings = replace(lab(tmp_path, "")._settings, argv=("./bench.sh", "7"))
    (tmp_path / "tree/bench.sh").write_text('echo "x=$1"\n')
    (tmp_path / "tree/bench.sh").chmod(0o755)
    run = CommandInWorktree(settings).run(*one_run(), lambda _n: None)
    assert [m.value for m in run.measurements] == [7.0]


@pytest.mark.parametrize(
    ("known", "printed", "told"),
    [
        (None, "1.5 ms", None),
        ("ns", "1500 us", None),
        ("ns", "1500", ("ns", "none")),
        ("", "1.5 ms", ("none", "ns")),
        ("ns", "3 MB", ("ns", "B")),
        ("MB/s", "3 ops/s", ("MB/s", "ops/s")),
    ],
)
def test_a_figure_in_another_unit_than_those_before_it_is_no_evidence(
    tmp_path, known, printed, told
):
    build, order = one_run()
    here = lab(tmp_path, f"echo {printed}")
    run = here.run(build, replace(order, unit=known), lambda _n: None)
    assert run.reason == (told and Finding.of(Commands.UNITS_DIFFER, units=told))
    assert run.complete == (told is None)


def test_a_rate_is_told_in_the_unit_of_those_before_it(tmp_path):
    build, order = one_run()
    here = lab(tmp_path, "echo 1.1 GB/s")
    run = here.run(build, replace(order, unit="MB/s"), lambda _n: None)
    assert [(m.value, m.unit) for m in run.measurements] == [(pytest.approx(1100), "MB/s")]


def test_a_ratio_needs_figures_above_zero(tmp_path):
    run = lab(tmp_path, "echo 0", positive=True).run(*one_run(), lambda _n: None)
    assert run.status is RunStatus.INVALID
    assert run.reason.kind == Commands.NO_RATIO


def test_repetitions_of_the_first_run_are_told_once(tmp_path):
    told = []
    here = lab(tmp_path, "printf '1us\\n2us\\n6us\\n'", tell=told.append)
    runs = [
        here.run(one_run()[0], RunOrder(run_id=f"r{number}", number=number), lambda _n: None)
        for number in (1, 2)
    ]
    assert [(m.value, m.unit) for run in runs for m in run.measurements] == [(2000.0, "ns")] * 2
    assert told == [Finding.of(Commands.REPEATED, metric="value", times=3, value=2000.0, unit="ns")]


def test_what_the_first_failing_run_printed_is_told_once(tmp_path):
    told = []
    here = lab(tmp_path, 'echo "no module" >&2; exit 1', pass_fail=True, tell=told.append)
    for number in (1, 2):
        here.run(one_run()[0], RunOrder(run_id=f"r{number}", number=number), lambda _n: None)
    assert told == [Finding.of(Commands.FAILS, code=1, lines=("no module",))]
    passing = lab(tmp_path, "exit 0", pass_fail=True, tell=told.append)
    passing.run(one_run()[0], RunOrder(run_id="r3", number=3), lambda _n: None)
    assert len(told) == 1


def test_a_long_output_is_not_kept_whole(tmp_path):
    script = "yes chatter | head -c 3000000; echo; echo 7"
    run = lab(tmp_path, script).run(*one_run(), lambda _n: None)
    assert run.measurements[0].value == 7
    assert (tmp_path / "work/run-1-r1.out").stat().st_size == KEPT_BYTES


def test_colours_are_no_part_of_a_figure(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"\x1b[1mresult\x1b[0m\n\x1b[31mp99=11.5\x1b[0m\n")
    assert figure_of(tail(path), "p99") == 11.5


def test_equal_sources_are_equal_kernels(tmp_path):
    build = lab(tmp_path, "").build("a" * 40, 0, lambda _n: None)
    assert build.ok
    assert build.signature == "tree of a"


def test_a_request_survives_its_text():
    wanted = CommandRequest(
        argv=("./x", "--y"), metric="p99", better="higher", ratio=1.2, cost_run_s=3.0
    )
    request = CampaignRequest(
        kind="run", site="", tree="", older="", newer="", extra=wanted.extra()
    )
    assert CommandRequest.of(request) == wanted
    assert wanted.threshold().scale is Scale.LOG
    assert wanted.words(Sought.REGRESSION)[-2:] == ["./x", "--y"]
    with pytest.raises(ConfigError, match="cannot be read"):
        CommandRequest.of(
            CampaignRequest(
                kind="run", site="", tree="", older="", newer="", extra=(("command", "{"),)
            )
        )
