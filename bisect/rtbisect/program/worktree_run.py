# SPDX-License-Identifier: GPL-2.0-or-later
"""Any command as what a campaign measures: it runs in a worktree at the revision, and its last
lines are figures.

For `rtbisect run`: the same search for any repository. Without `--build` the command builds what it
needs by itself, so that a build is only the promise that a revision can be tried.
"""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import MisaskedError, RtbisectError
from rtbisect.model.code import AS_COMMITTED, BY_COMMAND, Build, BuildStatus, Function
from rtbisect.model.command import INSTRUCTIONS, SUITE, VALUE, WINDOW
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.lab import NOT_RUN_CODE, REBUILT_S, Measurement, Run, RunStatus
from rtbisect.model.subject import Measured, RunOrder, Traits
from rtbisect.process.command import cut, run
from rtbisect.program.counter import Counter, Counting
from rtbisect.program.figures import NoFigureError, Reading
from rtbisect.program.output import (
    MOST_PRINTED_BYTES,
    NOT_RUN,
    SKIP,
    check_goes_on,
    check_room,
    keep_end,
    not_there,
    tail,
)
from rtbisect.program.products import NoProductError, Products
from rtbisect.program.startable import as_started, refused, unstartable
from rtbisect.program.wanted import Wanted, read
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbisect.model.ports import Note
    from rtbisect.process.command import Completed
    from rtbisect.program.build_trees import BuildTrees, Made


#: Figures that are there and do not count.
_NO_MEASUREMENT = (
    Commands.NOT_FINITE, Commands.TOO_LARGE, Commands.NO_RATIO, Commands.UNITS_DIFFER,
)  # fmt: skip
#: Lines that are shown of an output without a figure.
_MOST_SEEN = 3
#: Seconds of a build that is made twice, to see whether its products are equal.
QUICK_S = 60.0


def traits_of(*, built: bool, relaid: bool = False, products: bool = False) -> Traits:
    """A run may take a second or an hour. `built`: by `--build`, else the command builds what it
    needs by itself. `relaid`: before each run, with another code layout. `products`: what it leaves
    tells builds apart.
    """
    return Traits(measured=Measured.COMMAND, built_apart=built, relaid=relaid, products=products)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSettings:
    """What `rtbisect run` measures, and how."""

    #: argv, started in the folder that `checkout` returns.
    argv: tuple[str, ...]
    #: How the figure is found in the output.
    wanted: Wanted
    #: Judge by the exit code instead of a figure: 0 is good, 1 to 127 is bad.
    pass_fail: bool
    #: Time limit of one run, in seconds.
    timeout_s: float
    #: Folder for stdout and stderr of each run: RUN_ID.out and RUN_ID.err.
    work_dir: Path
    #: Checks out a sha into a clean worktree and returns its path.
    checkout: Callable[[str], Path]
    #: Restores the tracked files of a sha, and leaves untracked and ignored ones.
    restore: Callable[[str], Path]
    #: What identifies the sources of a sha: equal sources are equal kernels to the search.
    tree_of: Callable[[str], str]
    #: Which sources of a sha are missing here; None where none are.
    lacking: Callable[[str], Finding | None] = lambda _sha: None
    #: Full shas of revisions that a person does not want to be tested.
    skip: frozenset[str] = frozenset()
    #: The figure has to be above 0, because ratios are compared.
    positive: bool = False
    #: The first run of all is of a revision that is said to be good.
    good_first: bool = False
    #: Prints a line of progress.
    tell: Callable[[Finding], None] = lambda _finding: None
    #: Builds revisions and keeps their trees; None where nothing is built, and all revisions run in
    #: one worktree.
    builds: BuildTrees | None = None
    #: Tool that counts instructions; None where that was not asked.
    counter: Counter | None = None
    #: The counted instructions are the figure.
    counted: bool = False
    #: Files that builds leave; None where builds are known by their sources.
    products: Products | None = None


class CommandInWorktree:
    """Implements ports.Subject."""

    def __init__(self, settings: CommandSettings) -> None:
        builds = settings.builds
        self.traits = traits_of(
            built=builds is not None,
            relaid=builds is not None and builds.relayout,
            products=settings.products is not None,
        )
        self._settings = settings
        self._at = ""
        self._source = settings.work_dir
        #: No run has failed yet in this process.
        self._all_pass = True

    def width(self) -> int:
        """One: all runs share one worktree."""
        return 1

    def leave(self) -> None:
        """Nothing to do: no file or connection stays open between runs."""

    def files(self, build: Build) -> frozenset[str]:  # noqa: ARG002
        """None: which files the command reads is unknown, so that no commit is excluded."""
        return frozenset()

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:  # noqa: ARG002
        """None: which functions the command runs is unknown."""
        return None

    def build(self, sha: str, layout: int, note: Note) -> Build:  # noqa: ARG002
        """A revision that is ready to be tried: it is checked out when it is run, or built now."""
        trees, ready = self._settings.builds, partial(Build, revision=sha)
        left_out = Finding.of(Commands.LEFT_OUT) if sha in self._settings.skip else None
        if absent := left_out or self._settings.lacking(sha):
            why = str(speak(absent))
            return ready(config_name=AS_COMMITTED, status=BuildStatus.FAILED, first_error=why)
        if trees is None:
            signature = self._settings.tree_of(sha)
            return ready(config_name=AS_COMMITTED, status=BuildStatus.OK, signature=signature)
        made = trees.make(sha, note)
        return ready(
            config_name=BY_COMMAND,
            status=BuildStatus.OK if made.path else BuildStatus.FAILED,
            signature=self._signature(sha, trees, made, note),
            first_error=made.error,
            seconds=made.seconds,
        )

    def _signature(self, sha: str, trees: BuildTrees, made: Made, note: Note) -> str:
        """That of the products of a build; that of its sources where it leaves none to compare, or
        nobody asks for them. MisaskedError where the first build of all leaves none: that one is
        made twice if it takes QUICK_S at most.
        """
        settings, products = self._settings, self._settings.products
        if made.path is None:
            return ""
        if products is None:
            return settings.tree_of(sha)
        first = len(list(settings.work_dir.glob("build-*.log"))) == 1
        try:
            signature = products.signature(made.path)
            again = None
            if first and made.seconds <= QUICK_S:
                # Times in products have whole seconds.
                time.sleep(1.0)
                again = trees.make(sha, note).path
            if again and products.signature(again) != signature:
                settings.tell(Finding.of(Commands.PRODUCTS_VARY, revision=sha))
        except NoProductError as error:
            if first:
                hint = "look at --product, then start again"
                raise MisaskedError(f"the first build: {speak(error.found)}", hint) from error
            settings.tell(Finding.of(Commands.ALONE, revision=sha, why=error.found))
            return settings.tree_of(sha)
        return signature

    def run(self, build: Build, order: RunOrder, note: Note) -> Run:
        """Run the command once. ConfigError when it cannot be started, MisaskedError when the first
        run of all shows that the request is wrong, InfrastructureError when
        it asks to stop (exit code 128 and more, also when a signal ended it).
        """
        settings = self._settings
        ended = partial(Run, run_id=order.run_id, revision=build.revision)
        rebuilt = self._prepare(build.revision, note)
        if rebuilt is not None:
            if rebuilt.path is None:
                gone = Finding.of(Commands.NOT_REBUILT, error=rebuilt.error)
                return ended(status=RunStatus.INVALID, reason=gone)
            ended = partial(ended, facts=((REBUILT_S, f"{rebuilt.seconds:.3f}"),))
        linked = self._linked(build.revision, order, note)
        if linked is not None and linked.error:
            broken = Finding.of(Commands.NOT_LINKED, error=linked.error)
            return ended(status=RunStatus.INVALID, reason=broken)
        if absent := unstartable(settings.argv[0], self._source):
            return ended(status=RunStatus.SKIPPED, reason=absent)
        try:
            measured = self._measured(ended, build.revision, order, note, moved=linked is not None)
        except RtbisectError as error:
            if (why := refused(error, settings.argv[0], self._source)) is None:
                raise
            return ended(status=RunStatus.SKIPPED, reason=why)
        return replace(measured, seconds=measured.seconds + linked.seconds) if linked else measured

    def _measured(
        self,
        ended: Callable[..., Run],
        revision: str,
        order: RunOrder,
        note: Note,
        *,
        moved: bool,
    ) -> Run:
        """A run of the command in a tree that is ready."""
        settings = self._settings
        out, err = self._fresh_logs(order.run_id)
        with self._counting(order) as counting:
            done = self._started(revision, counting, (out, err), note)
            if counting:
                status, reason, reading = self._count(done, out, counting)
            else:
                status, reason, reading = self._outcome(done, out, order.unit)
        uncountable = reason is not None and reason.kind == Commands.UNCOUNTABLE
        if status is RunStatus.INVALID and not uncountable and (errors := tail(err)):
            reason = Finding.of(Commands.LAST_ERROR, why=reason, line=cut(errors[-1], 160))
        try:
            # Before its output is cut: that may be what has filled the disk.
            if not done.ok or status is not RunStatus.COMPLETE:
                check_room(f"on {revision[:12]}", self._source, settings.work_dir)
        finally:
            for path in (out, err):
                keep_end(path)
        # A signal is valgrind's then, and none of the command. One that comes only where the
        # command is counted beside its figure leaves that as it is.
        if not (uncountable or (order.count and not settings.counted)):
            check_goes_on(done, f"on {revision[:12]}", err, moved=moved)
        measured = ended(
            status=status,
            reason=reason,
            window_order=(WINDOW,),
            log=out.name,
            seconds=done.seconds,
        )
        if reading is None:
            return measured
        if settings.pass_fail and done.returncode in NOT_RUN:
            facts = (*measured.facts, (NOT_RUN_CODE, str(done.returncode)))
            measured = replace(measured, facts=facts)
        figure = Measurement(
            suite=SUITE, window=WINDOW,
            name=INSTRUCTIONS if counting else settings.wanted.metric or VALUE,
            value=reading.value, unit=reading.unit,
        )  # fmt: skip
        return replace(measured, measurements=(figure,))

    def _fresh_logs(self, run_id: str) -> tuple[Path, Path]:
        """Where the output and the errors of a run go."""
        folder = self._settings.work_dir
        folder.mkdir(parents=True, exist_ok=True)
        logs = folder / f"{run_id}.out", folder / f"{run_id}.err"
        for path in logs:
            path.unlink(missing_ok=True)
        return logs

    @contextmanager
    def _counting(self, order: RunOrder) -> Iterator[Counting | None]:
        """What counts a run, and forgets where it was left; None where nothing does."""
        settings = self._settings
        if settings.counter is None or not (settings.counted or order.count):
            yield None
            return
        folder = settings.work_dir / f"{order.run_id}.count"
        # A run that was killed has left its own.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            yield Counting(settings.counter, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _started(
        self, revision: str, counting: Counting | None, logs: tuple[Path, Path], note: Note
    ) -> Completed:
        """The command, run to its end."""
        argv, (out, err) = as_started(self._settings.argv, self._source), logs
        return run(
            counting.argv(argv) if counting else argv,
            cwd=self._source,
            timeout_s=self._settings.timeout_s,
            env={"RTBISECT_REVISION": revision},
            log=out,
            error_log=err,
            on_start=lambda pgid: note(f"pgid:{pgid}"),
            whole_env=True,
            # A process left in the background would slow down all later runs.
            clear=True,
            most_log_bytes=MOST_PRINTED_BYTES,
        )

    def _prepare(self, revision: str, note: Note) -> Made | None:
        """The revision is there: what was built stays, what the command changed is put back. Gives
        the build where it had to be built again because its tree was not kept.
        """
        settings, trees = self._settings, self._settings.builds
        if trees is not None:
            path, made = trees.ready(revision), None
            if path is None:
                made = trees.make(revision, note)
                path = made.path
            self._source = path or settings.work_dir
            return made
        again = revision == self._at and self._source.is_dir()
        self._at = ""
        self._source = (settings.restore if again else settings.checkout)(revision)
        self._at = revision
        return None

    def _linked(self, revision: str, order: RunOrder, note: Note) -> Made | None:
        """The link with a layout of its own for this run; None where none is asked for, and where
        instructions are counted, which are the same in all layouts.
        """
        settings, trees = self._settings, self._settings.builds
        if trees is None or not trees.relayout or settings.counted or order.count:
            return None
        return trees.link(revision, self._source, order.linked_as or order.run_id, note)

    def _outcome(
        self, done: Completed, out: Path, unit: str | None
    ) -> tuple[RunStatus, Finding | None, Reading | None]:
        code = done.returncode
        if done.stopped:
            return (*self._stopped(done), None)
        if code == SKIP:
            return (*_ended(code), None)
        if self._settings.pass_fail:
            self._check_started(code, out)
            self._tell_failing(code, out)
            return RunStatus.COMPLETE, None, Reading((float(code != 0),))
        if code:
            return (*_ended(code), None)
        try:
            return RunStatus.COMPLETE, None, self._figure(out, unit)
        except NoFigureError as error:
            return RunStatus.INVALID, error.found, None

    def _count(
        self, done: Completed, out: Path, counting: Counting
    ) -> tuple[RunStatus, Finding | None, Reading | None]:
        """What was counted. MisaskedError where the very first run shows that nothing can be."""
        code = done.returncode
        line = counting.refused(tail(out.with_suffix(".err"))) if code else ""
        if done.stopped or code == SKIP or (code and not line):
            status, reason = self._stopped(done) if done.stopped else _ended(code)
            return status, reason, None
        reason = Finding.of(Commands.UNCOUNTABLE, line=line)
        if not line:
            try:
                return RunStatus.COMPLETE, None, Reading((counting.count(),), INSTRUCTIONS)
            except NoFigureError as error:
                reason = error.found
        if _is_first(out):
            hint = "search by what it prints (--metric), or by --pass-fail"
            raise MisaskedError(f"the first run: {speak(reason)}", hint)
        return RunStatus.INVALID, reason, None

    def _stopped(self, done: Completed) -> tuple[RunStatus, Finding]:
        if done.overran:
            return RunStatus.INVALID, Finding.of(Commands.OVERRAN, most=MOST_PRINTED_BYTES)
        return RunStatus.HUNG, Finding.of(Commands.LATE, limit_s=self._settings.timeout_s)

    def _check_started(self, code: int, out: Path) -> None:
        """MisaskedError where the good end, at the very first, ends as what a shell cannot find: a
        word is wrong in the command, and every revision would fail.
        """
        if code not in NOT_RUN or not self._settings.good_first or not _is_first(out):
            return
        errors = tail(out.with_suffix(".err"))
        raise not_there("the first run, of the good end,", code, errors, "the command")

    def _tell_failing(self, code: int, out: Path) -> None:
        """Show once what fails: it may be another thing than the test, as a missing module."""
        if not code or not self._all_pass:
            return
        self._all_pass = False
        self._settings.tell(Finding.of(Commands.FAILS, code=code, lines=_last_lines(out)))

    def _figure(self, out: Path, unit: str | None) -> Reading:
        """The figure, in the unit of those before it: another scale would be a change."""
        settings = self._settings
        try:
            reading = read(out, settings.wanted)
        except NoFigureError as error:
            if _is_first(out):
                self._tell_first(out, error)
            raise
        if unit is not None:
            reading = reading.in_unit(unit)
        if settings.positive and min(reading.values) <= 0:
            raise NoFigureError(Commands.NO_RATIO, value=min(reading.values))
        if len(reading.values) > 1 and _is_first(out):
            repeated = Finding.of(
                Commands.REPEATED,
                metric=settings.wanted.metric or VALUE,
                times=len(reading.values),
                value=reading.value,
                unit=reading.unit,
            )
            settings.tell(repeated)
        return reading

    def _tell_first(self, out: Path, error: NoFigureError) -> None:
        """MisaskedError where the first output of all has no figure: some revisions may lack it; if
        the first end does, the request is wrong. A figure that is no measurement, as NaN, is shown,
        and the next run may have another one.
        """
        lines = _seen(out, error)
        if error.found.kind in _NO_MEASUREMENT:
            self._settings.tell(Finding.of(Commands.FIRST, why=error.found))
            return
        shown = f"; it printed {', '.join(map(repr, lines))}" if lines else ""
        raise MisaskedError(
            f"the first run: {speak(error.found)}{shown}",
            "look at the command and at the options that name the figure, then start again",
        ) from error


def _seen(out: Path, error: NoFigureError) -> tuple[str, ...]:
    """The last lines of an output without a figure, of errors where there are no others; () where
    what was found shows them already.
    """
    if not {"names", "line"}.isdisjoint(error.found.data):
        return ()
    return _last_lines(out)


def _last_lines(out: Path) -> tuple[str, ...]:
    """The last lines of the output of a run, or of its errors where there is no output."""
    lines = tail(out) or tail(out.with_suffix(".err"))
    return tuple(cut(line, 80) for line in lines[-_MOST_SEEN:])


def _ended(code: int) -> tuple[RunStatus, Finding]:
    """Status and reason of a run that is no evidence by its exit code."""
    status = RunStatus.SKIPPED if code == SKIP else RunStatus.INVALID
    return status, Finding.of(Commands.ENDED, code=code)


def _is_first(out: Path) -> bool:
    """Whether an output is that of the first run of its campaign."""
    return all(path == out for path in out.parent.glob("*.out"))
