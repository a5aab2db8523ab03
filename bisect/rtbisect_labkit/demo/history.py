# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a planned history into the demo repository: one stream for `git fast-import`."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InternalError
from rtbisect.trees.plumbing import WALK_S, Git, blobs
from rtbisect_labkit.demo.edits import TESTED, apply
from rtbisect_labkit.demo.people import email, name, sign_off
from rtbisect_labkit.demo.truth import Truth, save

if TYPE_CHECKING:
    from rtbisect_labkit.demo.plan import Plan, PlannedCommit

#: Every good revision: the source with the names replaced and the rwlock put back.
START = "refs/demo/start"


@dataclass(frozen=True, slots=True)
class DemoRefs:
    """Ends of a history. The refs tell neither kind nor culprit."""

    #: Full shas.
    good: str
    bad: str
    repo: Path
    good_ref: str
    bad_ref: str


def make_history(repo: Path, plan: Plan, truth: Path) -> DemoRefs:
    """Make the history of `plan` in `repo` and write the answer to `truth`.

    The same plan on the same source gives the same shas. ConfigError when the source is
    not the one that the edits were written for.
    """
    git = Git(cwd=repo, git_dir=repo)
    good = _start(git)
    base = SourceFiles(git, good, sorted({step.edit.file for step in plan.steps if step.edit}))
    stem = f"refs/demo/{plan.name}"
    stream = _stream(plan, base, good, f"{stem}/bad")
    shas = _import(git, stream, len(plan.steps))
    git("update-ref", f"{stem}/good", good)
    save(truth, _truth(plan, good, shas))
    return DemoRefs(good, shas[-1], repo, f"{stem}/good", f"{stem}/bad")


def _start(git: Git) -> str:
    done = git.try_("rev-parse", "--verify", "--quiet", f"{START}^{{commit}}")
    if not done.ok:
        raise ConfigError(f"{git.cwd} is no demo repository", "make it with `rtbisect demo`")
    return done.stdout.strip()


class SourceFiles:
    """Contents and modes of some files of one commit, read in one go."""

    def __init__(self, git: Git, commit: str, paths: list[str]) -> None:
        self.release = release(git, commit)
        self.modes = self._modes(git, commit, paths)
        missing = [path for path in paths if path not in self.modes]
        if missing:
            raise ConfigError(
                f"{missing[0]} is not in the source, which is {self.release}",
                f"use {TESTED}, which the demo is made for",
            )
        contents = blobs(git, [f"{commit}:{path}" for path in paths])
        self.texts = dict(zip(paths, contents, strict=True))

    @staticmethod
    def _modes(git: Git, commit: str, paths: list[str]) -> dict[str, str]:
        listing = git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths)
        rows = (row.split("\t", 1) for row in listing.split("\0") if row)
        return {row[1]: row[0].split(" ", 1)[0] for row in rows}


def release(git: Git, commit: str) -> str:
    """Version by the top Makefile, such as 6.12.117; "unknown" when there is none."""
    done = git.try_("cat-file", "blob", f"{commit}:Makefile")
    words = dict(
        re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)$", done.stdout, re.MULTILINE)
    )
    if not done.ok or len(words) != 3:
        return "unknown"
    return f"{words['VERSION']}.{words['PATCHLEVEL']}.{words['SUBLEVEL']}"


def _stream(plan: Plan, base: SourceFiles, good: str, ref: str) -> bytes:
    """Marks are indices + 1. A merge takes its first parent's tree and the files that
    changed only on the other side, with the changes of both sides in them.
    """
    out = [b"feature done\n"]
    ancestors: list[frozenset[int]] = []
    for index, step in enumerate(plan.steps):
        earlier = frozenset[int]().union(*(ancestors[p] | {p} for p in step.parents if p >= 0))
        ancestors.append(earlier)
        if step.edit:
            files = [step.edit.file]
        else:
            first = step.parents[0]
            own = ancestors[first] | {first} if first >= 0 else frozenset[int]()
            files = sorted({edit.file for i in earlier - own if (edit := plan.steps[i].edit)})
        out.append(_commit_command(step, index, ref, good))
        for file in files:
            before = (plan.steps[i].edit for i in sorted(earlier | {index}))
            edits = [edit for edit in before if edit and edit.file == file]
            text = apply(base.texts[file], edits, base.release)
            out.append(f"M {base.modes[file]} inline {file}\n".encode() + data_command(text))
        out.append(b"\n")
    out.append(b"done\n")
    return b"".join(out)


def data_command(text: bytes) -> bytes:
    return b"data %d\n" % len(text) + text + b"\n"


def _commit_command(step: PlannedCommit, index: int, ref: str, good: str) -> bytes:
    message = step.subject + "\n"
    if step.body:
        message += f"\n{step.body}\n{sign_off(step.author)}\n"
        if step.committer != step.author:
            message += f"{sign_off(step.committer)}\n"
    mark = [f":{parent + 1}" if parent >= 0 else good for parent in step.parents]
    lines = [
        f"commit {ref}",
        f"mark :{index + 1}",
        f"author {name(step.author)} <{email(step.author)}> {step.when} +0000",
        f"committer {name(step.committer)} <{email(step.committer)}> {step.when} +0000",
    ]
    words = [f"from {mark[0]}", *(f"merge {parent}" for parent in mark[1:])]
    head = "\n".join(lines).encode() + b"\n" + data_command(message.encode())
    return head + "\n".join(words).encode() + b"\n"


def _import(git: Git, stream: bytes, count: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        marks = Path(folder) / "marks"
        git(
            "fast-import",
            "--quiet",
            "--force",
            "--done",
            "--date-format=raw",
            f"--export-marks={marks}",
            stdin=stream,
            timeout_s=WALK_S,
        )
        rows = [line.split() for line in marks.read_text("ascii").splitlines()]
    shas = {int(row[0][1:]): row[1] for row in rows}
    if sorted(shas) != list(range(1, count + 1)):
        raise InternalError(f"git fast-import made {len(shas)} of {count} commits")
    return [shas[mark] for mark in sorted(shas)]


def _truth(plan: Plan, good: str, shas: list[str]) -> Truth:
    return Truth(
        kind=plan.kind,
        seed=plan.seed,
        commits=plan.commits,
        hard=plan.hard,
        good=good,
        bad=shas[-1],
        culprit=None if plan.culprit is None else shas[plan.culprit],
        culprit_set=tuple(shas[i] for i in plan.culprit_set),
        build_failures=tuple(shas[i] for i in plan.build_failures),
        boot_failures=tuple(shas[i] for i in plan.boot_failures),
    )
