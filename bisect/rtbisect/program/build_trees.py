# SPDX-License-Identifier: GPL-2.0-or-later
"""Built revisions of a command's repository, each in a worktree of its own that is kept.

A search jumps between its ends and its candidates: with one worktree each jump would build anew.
How many are kept is bounded by a number and by the room on the disk; the one that was used longest
ago goes first. Beside each worktree a record tells what it holds; without one it holds nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rtbisect.errors import InfrastructureError, RtbisectError
from rtbisect.model.code import seed_of
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.pipeline import Work
from rtbisect.process.command import printable, run
from rtbisect.process.folders import remove
from rtbisect.program.output import (
    FULL_BYTES,
    MOST_PRINTED_BYTES,
    NOT_RUN,
    check_goes_on,
    check_room,
    keep_end,
    not_there,
    tail,
)
from rtbisect.program.relink import FIRST_SEED, check_seed
from rtbisect.program.startable import as_started, refused, unstartable
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rtbisect.model.ports import Note
    from rtbisect.process.command import Completed

#: Trees that are kept where nobody says how many: both ends, a culprit with its parent, candidates.
MOST_TREES = 12
#: Names of worktrees have two digits, so that all their paths are equally long.
HIGHEST_NUMBER = 99

#: A further tree is made while the disk has room for so many of the largest one, and this beside.
ROOM_FOR = 2
RESERVE_BYTES = 1 << 30
#: A build that fails with less than RESERVE_BYTES left and says so failed for want of room. A tree
#: may print those words for fun.
_FULL = re.compile(r"No space left on device|Disk quota exceeded|ENOSPC")

#: The line of a build log that says why, of most compilers and tools; else the last one does.
_ERROR = re.compile(
    r"\b(fatal error|error(\[\w+\])?|undefined reference|un(known|recognized) option)\b ?:?",
    re.IGNORECASE,
)
_LONGEST_ERROR = 200
_REPLACED = "ended with 0, and its worktree is gone"


class WorkTree(Protocol):
    """A worktree of the repository; `trees.git.GitTree` is one."""

    @property
    def path(self) -> Path:
        """Where files are put."""

    def checkout(self, sha: str) -> Path:
        """Put it at `sha`, clean."""

    def settle(self) -> None:
        """Files of the commit belong to it as they are now."""

    def settled(self, sha: str) -> bool:
        """Give files of the commit the contents of then; False where it is not at `sha`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSettings:
    """What `rtbisect run --build` builds, and how."""

    #: argv of the build, started at the top of a worktree.
    argv: tuple[str, ...]
    timeout_s: float
    #: Trees that are kept at most; 0: MOST_TREES, as far as the disk has room.
    keep: int
    #: Folder of the build logs, build-SHA.log.
    work_dir: Path
    #: Trees of another campaign are not reused: its build command may differ.
    campaign: str
    #: Returns the worktree with this number (1, 2, ...).
    tree: Callable[[int], WorkTree]
    #: Shows a line to who waits.
    tell: Callable[[Finding], None]
    #: The build gets RTBISECT_LAYOUT_SEED, and runs again before each run.
    relayout: bool = False
    #: Set beside the environment of this process.
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """How a build ended."""

    #: Folder of the built tree; None if the build failed.
    path: Path | None
    #: Reason of the failure, one printable line; "" if it built.
    error: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What the record beside a tree says."""

    campaign: str
    revision: str
    #: Disk space of the tree, in bytes.
    size: int
    #: Counter of use: the tree with the smallest was used longest ago. A clock may jump.
    used: int = 0


class BuildTrees:
    """Builds revisions and keeps what was built."""

    def __init__(self, settings: BuildSettings) -> None:
        self._settings = settings
        self._trees: dict[int, WorkTree] = {}
        self._told = False

    @property
    def relayout(self) -> bool:
        """Before each run, the build runs again for another code layout."""
        return self._settings.relayout

    def ready(self, sha: str) -> Path | None:
        """The tree in which a revision is built, with the files of the commit as the build left
        them; None where it was not built, or its tree has gone since.
        """
        for number, kept in self._kept():
            if (kept.campaign, kept.revision) == (self._settings.campaign, sha):
                tree = self._tree(number)
                if tree.path.is_dir() and tree.settled(sha):
                    self._write(number, kept)
                    return tree.path
        return None

    def make(self, sha: str, note: Note) -> Made:
        """Build a revision. MisaskedError where the first build of all shows that there is no such
        program; InfrastructureError when the build asks to stop (exit code 128 and more, or a
        signal), and when the disk is full.
        """
        while True:
            number = self._free_number(sha)
            made, full = self._built(number, sha, note)
            if not full:
                return made
            others = [other for other, _ in self._kept()]
            self._drop(number)
            if not others:
                raise InfrastructureError(
                    f"the disk is full after {made.seconds:.0f} s of the build of {sha[:12]}",
                    f"make room at {self._tree(number).path.parent};"
                    " `rtbisect resume` goes on then",
                    retryable=False,
                )
            for other in others:
                self._drop(other)

    def _built(self, number: int, sha: str, note: Note) -> tuple[Made, bool]:
        """A build in the tree of this number; whether it failed because the disk is full."""
        settings, tree = self._settings, self._tree(number)
        self._record(number).unlink(missing_ok=True)
        settings.work_dir.mkdir(parents=True, exist_ok=True)
        log = settings.work_dir / f"build-{sha[:12]}.log"
        log.unlink(missing_ok=True)
        # Also the first one once more, after it was paused.
        first = not any(settings.work_dir.glob("build-*.log"))
        path = self._checkout(tree, sha)
        if path is None:
            return Made(None, "", 0.0), True
        if absent := unstartable(settings.argv[0], path):
            return Made(None, printable(str(speak(absent)), _LONGEST_ERROR), 0.0), False
        try:
            done = self._started(path, sha, FIRST_SEED if settings.relayout else 0, log, note)
        except RtbisectError as error:
            if (why := refused(error, settings.argv[0], path)) is None:
                raise
            return Made(None, printable(str(speak(why)), _LONGEST_ERROR), 0.0), False
        left = shutil.disk_usage(path if path.is_dir() else path.parent).free
        lines = tail(log)
        keep_end(log)
        if done.ok:
            return self._settled(number, sha, done.seconds)
        if left < FULL_BYTES or (left < RESERVE_BYTES and any(map(_FULL.search, lines))):
            return Made(None, "", done.seconds), True
        self._check_started(done, lines, first=first, sha=sha, log=log)
        return Made(None, self._why(done, lines), done.seconds), False

    def _started(self, path: Path, sha: str, seed: int, log: Path, note: Note) -> Completed:
        """The build, run to its end in a tree."""
        settings = self._settings
        env = {**settings.env, "RTBISECT_REVISION": sha}
        if seed:
            env["RTBISECT_LAYOUT_SEED"] = str(seed)
        return run(
            as_started(settings.argv, path), cwd=path, timeout_s=settings.timeout_s, log=log,
            whole_env=True, env=env, on_start=lambda pgid: note(f"pgid:{pgid}"), clear=True,
            most_log_bytes=MOST_PRINTED_BYTES,
        )  # fmt: skip

    def link(self, sha: str, path: Path, run_id: str, note: Note) -> Made:
        """Run the build again in the tree of a revision that is built, with the seed of a run.
        MisaskedError where the first ones show that the seed changes nothing; InfrastructureError
        as from `make`.
        """
        settings = self._settings
        # A person may have removed it since the build.
        settings.work_dir.mkdir(parents=True, exist_ok=True)
        checked = settings.work_dir / "seed-checked"
        if not checked.exists():
            made: list[Made] = []

            def link(seed: int) -> bool:
                made.append(self._linked(sha, path, seed, note))
                return not made[-1].error

            found = check_seed(path, link)
            if found:
                settings.tell(found)
            # A link that failed has shown nothing: those of the next run are looked at.
            if not made[-1].error:
                checked.touch()
        return self._linked(sha, path, seed_of(run_id), note)

    def _linked(self, sha: str, path: Path, seed: int, note: Note) -> Made:
        log = self._settings.work_dir / f"link-{sha[:12]}.log"
        log.unlink(missing_ok=True)
        done = self._started(path, sha, seed, log, note)
        lines = tail(log)
        try:
            if not done.ok:
                check_room(f"after {done.seconds:.0f} s of a link of {sha[:12]}", path.parent)
        except InfrastructureError:
            # So that there is room when the search goes on.
            for number, _ in list(self._kept()):
                if self._tree(number).path != path:
                    self._drop(number)
            raise
        keep_end(log)
        check_goes_on(done, f"in a link of {sha[:12]}", log)
        return Made(path, "" if done.ok else self._why(done, lines), done.seconds)

    def _check_started(
        self, done: Completed, lines: list[str], *, first: bool, sha: str, log: Path
    ) -> None:
        """Errors of the request and of the machine, which say nothing of a revision."""
        check_goes_on(done, f"in the build of {sha[:12]}", log)
        if first and not done.stopped and done.returncode in NOT_RUN:
            raise not_there("the first build", done.returncode, lines, "--build")

    def _why(self, done: Completed, lines: list[str]) -> str:
        """One line that says why a build failed."""
        if done.timed_out:
            return f"not ready after {self._settings.timeout_s:g} s (--build-timeout)"
        if done.overran:
            return str(speak(Finding.of(Commands.OVERRAN, most=MOST_PRINTED_BYTES)))
        said = next((line for line in lines if _ERROR.search(line)), lines[-1] if lines else "")
        ended = f"ended with {done.returncode}"
        return printable(f"{ended}: {said}" if said else ended, _LONGEST_ERROR)

    def _settled(self, number: int, sha: str, seconds: float) -> tuple[Made, bool]:
        """What became of a build that ended well; whether there is no room to keep it."""
        tree = self._tree(number)
        try:
            if not _is_folder(tree.path):
                return Made(None, _REPLACED, seconds), False
            tree.settle()
            self._keep(number, sha, tree.path)
        except (InfrastructureError, OSError):
            if shutil.disk_usage(tree.path.parent).free < FULL_BYTES:
                return Made(None, "", seconds), True
            if _is_folder(tree.path / ".git") or not (tree.path / ".git").exists():
                return Made(None, _REPLACED, seconds), False
            raise
        return Made(tree.path, "", seconds), False

    def _checkout(self, tree: WorkTree, sha: str) -> Path | None:
        """None where the disk is full; nothing half-done stays."""
        for last in (False, True):
            try:
                return tree.checkout(sha)
            except (InfrastructureError, OSError):
                folder = tree.path.parent
                full = folder.is_dir() and shutil.disk_usage(folder).free < RESERVE_BYTES
                # A build may leave folders that nobody may write to: as the module cache of Go.
                _remove(tree.path)
                if last and not full:
                    raise
        return None

    def _free_number(self, sha: str) -> int:
        """Where the next revision may be built: a tree that holds nothing, or the one that was used
        longest ago.
        """
        for number, kept in self._kept():
            if kept.campaign != self._settings.campaign or kept.revision == sha:
                self._drop(number)
        kept_here = list(self._kept())
        most = self._settings.keep or MOST_TREES
        free = next(n for n in range(1, HIGHEST_NUMBER + 1) if not self._record(n).is_file())
        if kept_here and (len(kept_here) >= most or not self._has_room(kept_here)):
            free = min(kept_here, key=lambda each: each[1].used)[0]
        return free

    def _has_room(self, kept: list[tuple[int, _Kept]]) -> bool:
        largest = max(each.size for _, each in kept)
        folder = self._tree(1).path.parent
        return shutil.disk_usage(folder).free >= ROOM_FOR * largest + RESERVE_BYTES

    def _keep(self, number: int, sha: str, path: Path) -> None:
        size = _size(path)
        self._write(number, _Kept(campaign=self._settings.campaign, revision=sha, size=size))
        if len(list(self._kept())) == 1 and not self._told:
            self._told = True
            free = shutil.disk_usage(path).free
            fit = 1 + max(0, free - RESERVE_BYTES) // max(1, size)
            most = self._settings.keep or MOST_TREES
            told = Finding.of(Work.TREES_KEPT, size=size, free=free, trees=min(most, int(fit)))
            self._settings.tell(told)

    def _write(self, number: int, kept: _Kept) -> None:
        """Keep the record of a tree that is used now."""
        used = 1 + max((other.used for _, other in self._kept()), default=0)
        record = self._record(number)
        record.with_suffix(".new").write_text(json.dumps(asdict(kept) | {"used": used}), "utf-8")
        record.with_suffix(".new").replace(record)

    def _kept(self) -> Iterator[tuple[int, _Kept]]:
        """The trees that hold a built revision, of any campaign, by their numbers."""
        for number in range(1, HIGHEST_NUMBER + 1):
            with suppress(OSError, ValueError, TypeError):
                document: dict[str, Any] = json.loads(self._record(number).read_text("utf-8"))
                yield number, _Kept(**document)

    def _tree(self, number: int) -> WorkTree:
        if number not in self._trees:
            self._trees[number] = self._settings.tree(number)
        return self._trees[number]

    def _record(self, number: int) -> Path:
        path = self._tree(number).path
        return path.with_name(f"{path.name}.built")

    def _drop(self, number: int) -> None:
        self._record(number).unlink(missing_ok=True)
        _remove(self._tree(number).path)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _size(path: Path) -> int:
    """Bytes of a tree on the disk."""
    size = 0
    for folder, _folders, files in os.walk(path):
        for name in files:
            with suppress(OSError):
                size += (Path(folder) / name).lstat().st_blocks * 512
    return size


def _remove(path: Path) -> None:
    """Remove a tree, as far as it can be."""
    with suppress(OSError):
        remove(path)
