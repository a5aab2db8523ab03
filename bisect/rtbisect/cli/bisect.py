# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect bisect` and `rtbisect run`: find the commit between a good and a bad revision, of a
kernel or of anything that a command measures.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from rtbisect.campaign import resolve, session
from rtbisect.cli import live, result
from rtbisect.cli.answer_files import AnswerFiles, files_options
from rtbisect.cli.options import (
    WholeNumber,
    answers,
    bad_option,
    find_fix_option,
    good_option,
    metric_option,
    older_and_newer,
    seed_option,
    site_option,
    suite_option,
    sure_option,
    time_option,
)
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import MOST_BOOTS, Better, CampaignKind, CampaignRequest, Sought
from rtbisect.model.code import Narrowing
from rtbisect.model.command import (
    GROWN_RUNS,
    INSTRUCTIONS,
    LONGEST_S,
    SUITE,
    USUAL_RUNS,
    CommandRequest,
    Extra,
)
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.pipeline.further import FurtherBudgets
from rtbisect.program.counter import counter_here
from rtbisect.program.products import product_paths
from rtbisect.program.tool_outputs import Format
from rtbisect.program.wanted import wanted_of
from rtbisect.trees.carry import uncommitted_diff
from rtbisect.words.speak import speak

#: A first look at both ends, a proof, and a few runs between them.
FEWEST_RUNS = 36


@click.command(
    epilog="Example: rtbisect bisect stable-rt_6.12 --good v6.12.53 --bad v6.12.54 --suite ipi"
)
@click.argument("tree")
@good_option
@bad_option
@suite_option
@metric_option
@find_fix_option
@click.option(
    "--max-boots",
    type=WholeNumber(FEWEST_RUNS, MOST_BOOTS),
    help="Maximum number of boots, including the proof (default: that of the site; without one, as"
    " many as the forecast asks for, up to 500).",
)
@sure_option
@seed_option
@site_option
@answers
def bisect(
    output: Output,
    tree: str,
    good: tuple[str, ...],
    bad: tuple[str, ...],
    suite: str | None,
    metric: str | None,
    find_fix: bool,
    max_boots: int | None,
    sure: float | None,
    seed: int,
    site: Path | None,
) -> int:
    """Find the commit between --good and --bad in TREE, prove it, and draft the mail.

    Without --suite it compares all suites first and searches the one that regressed. With
    --find-fix it finds the commit that made things better again. If the older end is not an
    ancestor of the newer one, their merge base replaces it, and a line says so.
    Exit code 0: answered (see `outcome`); 4: inconclusive.
    """
    loaded = output.site(site)
    sought = Sought.REPAIR if find_fix else Sought.REGRESSION
    ends = resolve.ends_of_tree(
        output.state, loaded, tree, *older_and_newer(sought, good, bad), suite, metric
    )
    request = CampaignRequest(
        kind=CampaignKind.BISECT,
        site=str(loaded.path),
        tree=tree,
        older=ends.older,
        newer=ends.newer,
        suite=suite,
        metric=metric,
        seed=seed,
        extra=Extra(max_boots=max_boots or 0, sure=sure, given=ends.given, goods=ends.goods).pairs,
        sought=sought,
    )
    with live.screen() as screen:
        record = session.start(output.state, request, screen, output.sites)
    return result.show(output, record)


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: rtbisect run --good v1.2 --bad main --metric p99_us -- ./bench.sh",
)
@good_option
@bad_option
@click.option(
    "--repo",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Git repository (default: the current directory).",
)
@click.option("--metric", default="", help="Name of the number that the command prints.")
@click.option(
    "--format",
    "tool",
    type=click.Choice([tool.value for tool in Format]),
    help="The command prints the output of this tool; --metric names the benchmark.",
)
@click.option(
    "--extract",
    default="",
    metavar="REGEX",
    help="Finds the number in the output: the group, or the match; --metric is what to call it.",
)
@click.option(
    "--json-path",
    default="",
    metavar="PATH",
    help="Place of the number in JSON output: results[*].mean; --metric is what to call it.",
)
@click.option(
    "--count",
    type=click.Choice([INSTRUCTIONS]),
    help="Count executed instructions: the figure to search, or, with --metric, further evidence.",
)
@click.option(
    "--better",
    type=click.Choice([b.value for b in Better]),
    default=Better.LOWER.value,
    show_default=True,
    help="Whether a lower or a higher number is better.",
)
@click.option("--ratio", type=float, help="Smallest ratio that counts as a change, as 1.05.")
@click.option("--pass-fail", is_flag=True, help="Judge by the exit code: 0 good, 1-127 bad.")
@find_fix_option
@click.option(
    "--cost-build", "cost_build_s", type=float, help="Seconds of a build (default: measured)."
)
@click.option("--cost-run", "cost_run_s", type=float, help="Seconds of a run (default: measured).")
@click.option(
    "--timeout",
    "timeout_s",
    type=float,
    default=LONGEST_S,
    show_default=True,
    help="Seconds after which a run is ended.",
)
@click.option(
    "--build",
    "build_line",
    metavar="CMD",
    help="Builds each revision once, as --build 'make -j2'. If it fails, the revision is skipped.",
)
@click.option(
    "--relayout",
    is_flag=True,
    help="Run --build again before each run, with another RTBISECT_LAYOUT_SEED to link with.",
)
@click.option(
    "--build-timeout",
    "build_timeout_s",
    type=float,
    default=LONGEST_S,
    show_default=True,
    help="Seconds after which a build is ended.",
)
@click.option(
    "--keep-builds",
    type=WholeNumber(1, 90),
    help="Number of built trees to keep (default: up to 12, if the disk has room).",
)
@click.option(
    "--product",
    "products",
    multiple=True,
    metavar="FILE",
    help="File or folder that --build leaves; revisions with equal ones share their runs. May be"
    " repeated.",
)
@click.option(
    "--skip",
    "left_out",
    multiple=True,
    metavar="REV|RANGE",
    help="Do not test this revision, or this range A..B. May be repeated.",
)
@click.option(
    "--first-parent", is_flag=True, help="Follow first parents only: a merge is one step."
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="PATH",
    help="Only commits that touch PATH (from the top of the repository) are candidates. May be"
    " repeated.",
)
@click.option(
    "--submodules/--no-submodules",
    default=True,
    show_default=True,
    help="Each revision gets its submodules, from what your clone has; else empty folders.",
)
@click.option(
    "--refuse-uncommitted",
    is_flag=True,
    help="Refuse to start with uncommitted changes (default: name them and go on).",
)
@click.option(
    "--carry",
    is_flag=True,
    help="Each revision gets the changes of your work tree that are not committed.",
)
@click.option(
    "--overlay",
    "laid_over",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILES",
    help="Copy this file or folder of your work tree into each revision, as a new benchmark. May"
    " be repeated.",
)
@click.option(
    "--max-runs",
    type=WholeNumber(FEWEST_RUNS, MOST_BOOTS),
    help=f"Maximum number of runs, including the proof (default: {USUAL_RUNS}, or as many as the"
    f" forecast asks for, up to {GROWN_RUNS}).",
)
@time_option
@sure_option
@seed_option
@files_options
@click.argument("command", nargs=-1, required=True)
@answers
def run(
    output: Output,
    good: tuple[str, ...],
    bad: tuple[str, ...],
    repo: Path,
    find_fix: bool,
    sure: float | None,
    seed: int,
    command: tuple[str, ...],
    time_s: float | None,
    refuse_uncommitted: bool,
    carry: bool,
    files: AnswerFiles,
    **measured_as: Any,
) -> int:
    """Find the commit between --good and --bad that changed what COMMAND measures.

    COMMAND runs at the top of a separate worktree of each revision, in your environment without
    GIT_* variables; RTBISECT_REVISION holds the sha. Processes that it leaves behind are ended.
    Before each run, tracked files are restored (with --build: as the build left them); untracked
    files stay.

    COMMAND prints a number in its last lines: 12.5, 12.5us, 1234 ns/op, `name=value`,
    `name: value`, or a JSON object. The median of several numbers of one name counts. --format
    reads the output of known tools, as --format go --metric BenchmarkJoin. --extract 'took (.*)'
    and --json-path find a number anywhere else.

    Exit code 125 of COMMAND skips the revision, 128 and more stops the search. Any other code than
    0 is a failed run, which counts only with --pass-fail.

    --build CMD builds each revision once and keeps its worktree: --build 'make -j2' -- ./bench.

    If the older end is not an ancestor of the newer one, their merge base replaces it, and a line
    says so. `rtbisect --state DIR run ...` keeps all in DIR. docs/run.md explains each option.

    Exit code 0: answered (see `outcome`); 4: inconclusive; 3: nothing can be built or measured
    here; 2: wrong request, also if the first runs show it: no such number, a change in the other
    direction, a program that does not exist.
    """
    if carry and refuse_uncommitted:
        raise ConfigError("--carry takes along what --refuse-uncommitted refuses", "give one")
    sought = Sought.REPAIR if find_fix else Sought.REGRESSION
    narrowed = Narrowing(paths=measured_as["paths"], first_parent=measured_as["first_parent"])
    repository, ends = resolve.ends_of_repository(
        output.state, repo, *older_and_newer(sought, good, bad), narrowed
    )
    measured_as["skip"] = resolve.skipped_spans(
        output.state, Path(repository), ends, measured_as.pop("left_out")
    )
    # Paths of --overlay are those of the repository that is given.
    measured_as["laid_over"] = [repo.resolve() / path for path in measured_as["laid_over"]]
    measured = _command_request(output.state, Path(repository), command, measured_as)
    measured = _carrying(output.state, Path(repository), ends, measured, carry=carry)
    if not carry:
        _name_uncommitted(Path(repository), measured.overlay, refused=refuse_uncommitted)
    sha, pointers = resolve.unfetched(output.state, Path(repository), ends)
    if pointers:
        told = Finding.of(Ends.UNFETCHED, revision=sha, files=len(pointers), first=pointers[0])
        PlainProgress().say(str(speak(told)))
    request = _campaign_of(repository, ends, measured, sought)
    request = replace(request, seed=seed, extra=replace(Extra.of(request), sure=sure).pairs)
    with live.screen() as screen:
        record = session.start(output.state, request, screen, None, FurtherBudgets(time_s=time_s))
    return files.shown(output, record)


def _campaign_of(
    repository: str, ends: resolve.SearchEnds, measured: CommandRequest, sought: Sought
) -> CampaignRequest:
    """A search of the commit that changed what is measured."""
    return CampaignRequest(
        kind=CampaignKind.RUN,
        site="",
        tree=repository,
        older=ends.older,
        newer=ends.newer,
        suite=SUITE,
        metric=measured.metric or None,
        extra=Extra(others=measured.extra(), given=ends.given, goods=ends.goods).pairs,
        repo=repository,
        sought=sought,
    )


def _carrying(
    state: Path, repo: Path, ends: resolve.SearchEnds, measured: CommandRequest, *, carry: bool
) -> CommandRequest:
    """The request with what is not committed, where that is carried; ConfigError where an end
    cannot be checked out so.
    """
    changes = uncommitted_diff(repo) if carry else ("", b"")
    resolve.check_ends(state, repo, ends, changes, submodules=bool(measured.submodules))
    carry_onto, carry_sha256 = resolve.keep_changes(state, changes)
    return replace(measured, carry_onto=carry_onto, carry_sha256=carry_sha256)


def _name_uncommitted(repo: Path, overlay: tuple[str, ...], *, refused: bool) -> None:
    """Say that changes of the work tree are not tested; ConfigError where they are refused."""
    changed = resolve.uncommitted(repo, overlay)
    if not changed:
        return
    if refused:
        raise ConfigError(
            f"{changed[0]} has changes that are not committed", "commit them, or git stash them"
        )
    told = Finding.of(Ends.UNCOMMITTED, files=len(changed), first=changed[0])
    PlainProgress().say(str(speak(told)))


def _command_request(
    state: Path, repo: Path, command: tuple[str, ...], options: dict[str, Any]
) -> CommandRequest:
    """What is measured, of the options of `run` by their names."""
    options["count"] = counter_here().value if options["count"] else ""
    tool, keep_builds = options.pop("tool"), options.pop("keep_builds")
    max_runs = options.pop("max_runs")
    options["products"] = product_paths(options["products"])
    overlay, overlay_sha256 = resolve.pack_overlay(state, repo, options.pop("laid_over"))
    build = resolve.build_words(options.pop("build_line"), repo, overlay)
    # The other options are named as the fields of the request.
    measured = CommandRequest(
        argv=resolve.command_words(command, repo, built=bool(build), overlay=overlay),
        build=build,
        keep_builds=keep_builds or 0,
        overlay=overlay,
        overlay_sha256=overlay_sha256,
        format=tool or "",
        first_look=True,
        own_parents=True,
        lfs=True,
        max_runs=max_runs or USUAL_RUNS,
        grows_to=0 if max_runs else GROWN_RUNS,
        **options,
    )
    measured = replace(measured, unit=wanted_of(measured).checked().unit)
    _check_options(measured)
    return measured


def _check_options(request: CommandRequest) -> None:
    """ConfigError for options that make no sense."""
    for name, value in (("--cost-build", request.cost_build_s), ("--cost-run", request.cost_run_s)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise ConfigError(f"{name} {value} is not a cost", "give seconds, 0 or more")
    if request.ratio is not None and not (math.isfinite(request.ratio) and request.ratio > 1):
        raise ConfigError(
            f"--ratio {request.ratio} is not a finite number above 1", "give 1.05 for five per cent"
        )
    for name, value in (
        ("--timeout", request.timeout_s),
        ("--build-timeout", request.build_timeout_s),
    ):
        if not (math.isfinite(value) and value > 0):
            raise ConfigError(f"{name} {value} is not a time limit", "give seconds, more than 0")
    _check_pairs(request)
    of_a_figure = (
        request.metric
        or request.format
        or request.extract
        or request.json_path
        or request.count
        or request.ratio is not None
        or request.better != Better.LOWER.value
    )
    if request.pass_fail and of_a_figure:
        raise ConfigError(
            "--pass-fail reads no number", "leave out --pass-fail, or all options about a number"
        )


def _check_pairs(request: CommandRequest) -> None:
    """ConfigError for options that need another one, or do not go with it."""
    if request.counted and request.paths:
        raise ConfigError(
            "--path does not go with a search by --count alone: the parents of its commits are not"
            " counted",
            "leave out --path, or name a --metric, too",
        )
    if request.counted and request.relayout:
        raise ConfigError(
            "--relayout changes no count of instructions", "leave it out, or name a --metric, too"
        )
    if request.relayout and not request.build:
        raise ConfigError("--relayout needs --build", "give the command that links as --build")
    if request.keep_builds and not request.build:
        raise ConfigError("--keep-builds needs --build", "add --build, or leave out --keep-builds")
    if request.products and not request.build:
        raise ConfigError("--product needs --build", "add --build, or leave out --product")
