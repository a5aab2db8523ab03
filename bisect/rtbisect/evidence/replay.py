# SPDX-License-Identifier: GPL-2.0-or-later
"""A finished campaign judged again without its tree, its builder and its lab.

A campaign is its journal: run over it again, the pipeline comes to the same answer and does
nothing. What it asks beside the journal are questions to the tree and the builder, whose answers
are kept by the `Heard` ones and given by the `Told` ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from rtbisect.errors import ConfigError
from rtbisect.model.code import Change, Function  # noqa: TC001  (pydantic reads the annotations)
from rtbisect.model.formats import kept_as
from rtbisect.model.report import CommitText  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rtbisect.model.code import Build, Commit
    from rtbisect.model.lab import DeviceType, Run, RunRequest
    from rtbisect.model.ports import Builder, Note, Tree
    from rtbisect.model.report import Report, ReportInput


@kept_as("Answers")
@dataclass
class Answers:
    """What tree and builder have answered: `changes` by commit, `files` and `changed` by builds."""

    described: dict[str, CommitText] = field(default_factory=dict)
    changes: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    changed: dict[str, tuple[Function, ...] | None] = field(default_factory=dict)


def _name(build: Build) -> str:
    return f"{build.revision}/{build.variant}"


def _asks(what: str) -> NoReturn:
    raise ConfigError(
        f"the journal does not have {what}",
        "the campaign is not finished, or not all of it is here",
    )


class RecordingTree:
    """ports.Tree that keeps what the real one answers; it does nothing else."""

    def __init__(self, tree: Tree, answers: Answers) -> None:
        self._tree, self._answers = tree, answers

    def changes(self, commits: Sequence[Commit]) -> Mapping[str, tuple[Change, ...]]:
        found = self._tree.changes(commits)
        self._answers.changes |= found
        return found

    def describe(self, sha: str) -> CommitText:
        self._answers.described[sha] = self._tree.describe(sha)
        return self._answers.described[sha]

    def __getattr__(self, name: str) -> Any:
        _asks(f"what the tree is asked ({name})")


class RecordingBuilder:
    """ports.Builder that keeps what the real one answers."""

    def __init__(self, builder: Builder, answers: Answers) -> None:
        self._builder, self._answers = builder, answers

    def files(self, build: Build) -> frozenset[str]:
        found = self._builder.files(build)
        self._answers.files[_name(build)] = sorted(found)
        return found

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        found = self._builder.changed(parent, culprit)
        self._answers.changed[f"{_name(parent)}..{_name(culprit)}"] = found
        return found

    def __getattr__(self, name: str) -> Any:
        _asks(f"a build ({name})")


class ReplayedTree:
    """ports.Tree that answers from what was kept."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def changes(self, commits: Sequence[Commit]) -> Mapping[str, tuple[Change, ...]]:
        known = self._answers.changes
        return {each.sha: known[each.sha] for each in commits if each.sha in known}

    def describe(self, sha: str) -> CommitText:
        if sha not in self._answers.described:
            _asks(f"the text of commit {sha[:12]}")
        return self._answers.described[sha]

    def __getattr__(self, name: str) -> Any:
        _asks(f"what the tree is asked ({name})")


class ReplayedBuilder:
    """ports.Builder that answers from what was kept."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def files(self, build: Build) -> frozenset[str]:
        return frozenset(self._answers.files.get(_name(build), ()))

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        return self._answers.changed.get(f"{_name(parent)}..{_name(culprit)}")

    def __getattr__(self, name: str) -> Any:
        _asks(f"a build ({name})")


class NoLab:
    """ports.Lab that boots nothing."""

    def run(self, request: RunRequest, note: Note) -> Run:  # noqa: ARG002
        _asks(f"boot {request.run_id}")

    def width(self, device_type: DeviceType) -> int:
        _asks(f"how many devices of {device_type.name} there were")


class NoMailer:
    """ports.Mailer that writes nothing."""

    def draft(self, report: ReportInput, story: str) -> Report:  # noqa: ARG002
        _asks("the draft")


class Silence:
    """ports.Progress for a run in which nothing happens."""

    def say(self, line: str) -> None:
        """Nothing is said."""

    def step(self, what: str, done: int, total: int, left_s: float | None) -> None:
        """Nothing is shown."""


def place_in(folder: Path, name: str) -> Path:
    """A file of a bundle; ConfigError where it is no plain file right there."""
    place = folder / name
    if place.is_symlink() or not place.is_file() or place.parent.resolve() != folder.resolve():
        raise ConfigError(f"{folder} has no file {name}", "it is no bundle, or not a whole one")
    return place
