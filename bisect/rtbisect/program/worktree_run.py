# SPDX-License-Identifier: GPL-2.0-or-later
"""Any command as what a campaign measures: it runs in a worktree at the revision, and its last
lines are figures.

For `rtbisect run`: the same search for any repository. Without `--build` the command builds what it
needs by itself, so that a build is only the promise that a revision can be tried.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from rtbisect.errors import InfrastructureError, MisaskedError
from rtbisect.model.code import AS_COMMITTED, BY_COMMAND, Build, BuildStatus, Function
from rtbisect.model.command import SUITE, VALUE, WINDOW
from rtbisect.model.finding import Finding, Value
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.lab import REBUILT_S, Measurement, Run, RunStatus
from rtbisect.model.subject import Measured, RunOrder, Traits
from rtbisect.process.command import cut, failure, printable, run
from rtbisect.program.output import ABORT, NOT_RUN, SKIP, keep_end, tail
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rtbisect.model.ports import Note
    from rtbisect.program.build_trees import BuildTrees, Made

#: Figures stand in so many last lines.
TAIL_LINES = 50
#: No measurement is larger than this; squares of such figures would not be numbers any more.
LARGEST = 1e100

#: Of the figures that a command prints so many are named in a message.
MOST_NAMES = 12

_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_.:/%-]{0,63})\s*=\s*(\S{1,40})")


def traits_of(*, built: bool) -> Traits:
    """A run may take a second or an hour. `built`: by `--build`, else the command builds what it
    needs by itself.
    """
    return Traits(measured=Measured.COMMAND, built_apart=built)


class NoFigureError(Exception):
    """The output has no figure; `found` says what is missing."""

    def __init__(self, kind: Commands, **data: Value) -> None:
        self.found = Finding.of(kind, **data)
        super().__init__(self.found)


class WrongNameError(NoFigureError):
    """The output has figures, and which one is meant cannot be told: said on the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSettings:
    """What `rtbisect run` measures, and how."""

    #: Started in what `checkout` gives.
    argv: tuple[str, ...]
    #: The name of the figure in the output; "" for a bare number.
    metric: str
    #: The exit code is the figure: 0 is good, 1 to 127 bad.
    pass_fail: bool
    #: Of one run.
    timeout_s: float
    #: Where outputs are kept, RUN_ID.out and RUN_ID.err.
    work_dir: Path
    #: Puts the worktree at a sha, clean; gives its path.
    checkout: Callable[[str], Path]
    #: Gives the files of a sha their contents again, and leaves all others.
    restore: Callable[[str], Path]
    #: What identifies the sources of a sha: equal sources are equal kernels to the search.
    tree_of: Callable[[str], str]
    #: The figure has to be above 0, because ratios are compared.
    positive: bool = False
    #: The first run of all is of a revision that is said to be good.
    good_first: bool = False
    #: Builds revisions and keeps their trees; None where nothing is built, and all revisions run in
    #: one worktree.
    builds: BuildTrees | None = None


class CommandInWorktree:
    """Implements ports.Subject."""

    def __init__(self, settings: CommandSettings) -> None:
        self.traits = traits_of(built=settings.builds is not None)
        self._settings = settings
        self._at = ""
        self._source = settings.work_dir

    def width(self) -> int:
        """There is one working tree."""
        return 1

    def leave(self) -> None:
        """Nothing is open."""

    def files(self, build: Build) -> frozenset[str]:  # noqa: ARG002
        """Nobody knows what the command reads."""
        return frozenset()

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:  # noqa: ARG002
        """Nor what it runs."""
        return None

    def build(self, sha: str, layout: int, note: Note) -> Build:  # noqa: ARG002
        """A revision that is ready to be tried: it is checked out when it is run, or built now."""
        trees, ready = self._settings.builds, partial(Build, revision=sha)
        signature = self._settings.tree_of(sha)
        if trees is None:
            return ready(config_name=AS_COMMITTED, status=BuildStatus.OK, signature=signature)
        made = trees.make(sha, note)
        return ready(
            config_name=BY_COMMAND,
            status=BuildStatus.OK if made.path else BuildStatus.FAILED,
            signature=signature if made.path else "",
            first_error=made.error,
            seconds=made.seconds,
        )

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
        program = self._source / settings.argv[0]
        if "/" in settings.argv[0] and not program.is_file():
            absent = Finding.of(Commands.NOT_THERE, program=cut(settings.argv[0], 160))
            return ended(status=RunStatus.SKIPPED, reason=absent)
        settings.work_dir.mkdir(parents=True, exist_ok=True)
        out = settings.work_dir / f"{order.run_id}.out"
        err = settings.work_dir / f"{order.run_id}.err"
        for path in (out, err):
            path.unlink(missing_ok=True)
        done = run(
            settings.argv,
            cwd=self._source,
            timeout_s=settings.timeout_s,
            env={"RTBISECT_REVISION": build.revision},
            log=out,
            error_log=err,
            on_start=lambda pgid: note(f"pgid:{pgid}"),
            whole_env=True,
            # What goes on in the background would load all later runs.
            clear=True,
        )
        for path in (out, err):
            keep_end(path)
        status, reason, value = self._outcome(done.returncode, out, late=done.timed_out)
        if status is RunStatus.INVALID and (errors := tail(err)):
            reason = Finding.of(Commands.LAST_ERROR, why=reason, line=cut(errors[-1], 160))
        if not done.timed_out and not 0 <= done.returncode < ABORT:
            raise InfrastructureError(
                f"{failure(done)} on {build.revision[:12]}",
                f"see {err}; `rtbisect resume` goes on when it is mended",
                retryable=False,
            )
        measured = ended(
            status=status, reason=reason, window_order=(WINDOW,), log=out.name, seconds=done.seconds
        )
        if value is None:
            return measured
        name = settings.metric or VALUE
        figure = Measurement(suite=SUITE, name=name, window=WINDOW, value=value, unit="")
        return replace(measured, measurements=(figure,))

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

    def _outcome(
        self, code: int, out: Path, *, late: bool
    ) -> tuple[RunStatus, Finding | None, float | None]:
        if late:
            limit_s = self._settings.timeout_s
            return RunStatus.HUNG, Finding.of(Commands.LATE, limit_s=limit_s), None
        if code == SKIP:
            return RunStatus.SKIPPED, Finding.of(Commands.ENDED, code=code), None
        if self._settings.pass_fail:
            self._check_started(code, out)
            return RunStatus.COMPLETE, None, float(code != 0)
        if code:
            return RunStatus.INVALID, Finding.of(Commands.ENDED, code=code), None
        try:
            return RunStatus.COMPLETE, None, self._figure(out)
        except NoFigureError as error:
            return RunStatus.INVALID, error.found, None

    def _check_started(self, code: int, out: Path) -> None:
        """MisaskedError where the good end, at the very first, ends as what a shell cannot find: a
        word is wrong in the command, and every revision would fail.
        """
        if code not in NOT_RUN or not self._settings.good_first or not _is_first(out):
            return
        errors = tail(out.with_suffix(".err"))
        last = f": {printable(errors[-1], 160)}" if errors else ""
        raise MisaskedError(
            f"the first run, of the good end, ended with {code}{last}",
            "that says that there is no such program: look at the command, then start again",
        )

    def _figure(self, out: Path) -> float:
        try:
            figure = figure_of(tail(out), self._settings.metric)
        except WrongNameError as error:
            # A revision may print other figures than its neighbours; the first end may not.
            if not _is_first(out):
                raise
            hint = "look at --metric, then start again"
            raise MisaskedError(f"the first run: {speak(error.found)}", hint) from error
        if self._settings.positive and figure <= 0:
            raise NoFigureError(Commands.NO_RATIO, value=figure)
        return figure


def _is_first(out: Path) -> bool:
    """Whether an output is that of the first run of its campaign."""
    return all(path == out for path in out.parent.glob("*.out"))


def figure_of(lines: Sequence[str], metric: str) -> float:
    """The figure in the last lines of a command; NoFigureError says what is missing.

    A JSON object at the end, `name=value` lines, or a number alone in the last line. A name that
    stands twice has its last value.
    """
    if not lines:
        raise NoFigureError(Commands.NOTHING)
    last = lines[-1]
    if last.startswith("{") or last.endswith("}"):
        return _figure_in(_last_object(lines), metric, last)
    lines = lines[-TAIL_LINES:]
    if not metric:
        return _single_figure(lines)
    for line in reversed(lines):
        name, equals, value = line.partition("=")
        if equals and name.strip() == metric:
            return _number(value.strip(), line)
    wanted = cut(metric, 80)
    if named := _names(lines):
        raise WrongNameError(Commands.OTHER_LINES, metric=wanted, **_listed(named))
    if _is_number(last):
        raise WrongNameError(Commands.UNNAMED, metric=wanted, line=cut(last, 80))
    raise NoFigureError(Commands.NO_LINE, metric=wanted, line=cut(last, 80))


def _names(lines: Sequence[str]) -> list[str]:
    """Names of all figures in lines `name=value`, in their order."""
    pairs = (line.partition("=") for line in lines)
    names = (name.strip() for name, _, value in pairs if _is_number(value))
    return list(dict.fromkeys(name for name in names if name))


def _is_number(text: str) -> bool:
    try:
        _number(text, text)
    except NoFigureError:
        return False
    return True


def _listed(names: Sequence[str]) -> dict[str, Value]:
    """Names for a finding; of many the first ones, and how many more there are."""
    first = tuple(cut(name, 64) for name in names[:MOST_NAMES])
    return {"names": first, "more": len(names) - len(first)}


def _single_figure(lines: Sequence[str]) -> float:
    """The number in the last line; NoFigureError when several names stand there."""
    pairs = [_PAIR.fullmatch(line) for line in lines]
    if pairs[-1] is None:
        return _number(lines[-1], lines[-1])
    last = takewhile(lambda pair: pair is not None, reversed(pairs))
    names = dict.fromkeys(pair[1] for pair in last if pair)
    if len(names) > 1:
        raise WrongNameError(Commands.SEVERAL, figures=len(names), **_listed([*names]))
    return _number(pairs[-1][2], lines[-1])


def _last_object(lines: Sequence[str]) -> dict[str, object]:
    """The JSON object that ends with the last line: in this line, or in the fewest that are one."""
    for start in range(len(lines) - 1, -1, -1):
        if not lines[start].startswith("{"):
            continue
        try:
            document = json.loads("\n".join(lines[start:]))
        except RecursionError:
            break
        except ValueError:
            continue
        if isinstance(document, dict):
            return document
    raise NoFigureError(Commands.NO_OBJECT, line=cut(lines[-1], 80))


def _figure_in(document: dict[str, object], metric: str, text: str) -> float:
    numbers = {
        key: value
        for key, value in document.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if metric:
        if metric not in numbers:
            wanted = cut(metric, 80)
            if numbers:
                raise WrongNameError(Commands.OTHER_KEYS, metric=wanted, **_listed([*numbers]))
            raise NoFigureError(Commands.NO_KEY, metric=wanted)
        return _number(str(numbers[metric]), text)
    if not numbers:
        raise NoFigureError(Commands.NO_NUMBERS)
    if len(numbers) > 1:
        raise WrongNameError(Commands.SEVERAL_KEYS, figures=len(numbers), **_listed([*numbers]))
    return _number(str(next(iter(numbers.values()))), text)


def _number(text: str, line: str) -> float:
    try:
        value = float(text)
    except (ValueError, OverflowError):
        raise NoFigureError(Commands.NO_NUMBER, line=cut(line, 80)) from None
    if not math.isfinite(value):
        raise NoFigureError(Commands.NOT_FINITE, line=cut(line, 80))
    if abs(value) > LARGEST:
        raise NoFigureError(Commands.TOO_LARGE, line=cut(line, 80))
    return value
