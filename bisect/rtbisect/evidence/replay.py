# SPDX-License-Identifier: GPL-2.0-or-later
"""A finished campaign judged again without its tree and without what it measured.

A campaign is its journal: run over it again, the pipeline comes to the same answer and does
nothing. What it asks beside the journal are questions to the tree and to what was measured, whose
answers are kept by the `Recording` ones and given by the `Replayed` ones.
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

    from rtbisect.model.campaign import CampaignRequest
    from rtbisect.model.code import Build, Commit
    from rtbisect.model.finding import Finding
    from rtbisect.model.lab import Run
    from rtbisect.model.ports import Left, Note, Subject, Tree
    from rtbisect.model.report import Report, ReportInput
    from rtbisect.model.subject import RunOrder, Traits


@kept_as("Answers")
@dataclass
class Answers:
    """Recorded answers of the tree and of the subject."""

    #: Texts of commits, keyed by sha; likewise `changes`.
    described: dict[str, CommitText] = field(default_factory=dict)
    changes: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    #: Files of the tree that a build was made from, by `sha/variant`.
    files: dict[str, list[str]] = field(default_factory=dict)
    #: Functions of a culprit whose code its parent does not have, by `parent..culprit`, each
    #: `sha/variant`; None where nobody knows.
    changed: dict[str, tuple[Function, ...] | None] = field(default_factory=dict)


def _build_key(build: Build) -> str:
    return f"{build.revision}/{build.variant}"


def _refuse(missing: str) -> NoReturn:
    raise ConfigError(
        f"the journal does not have {missing}",
        "it is not finished, was ended by a version that asked for less, or is not all here",
    )


class _IdleTree:
    """The tree of a finished campaign: it refuses all that its subclasses do not answer."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        _refuse(f"what the tree is asked ({name})")


class RecordingTree(_IdleTree):
    """ports.Tree that keeps what the real one answers; it does nothing else."""

    def __init__(self, tree: Tree, answers: Answers) -> None:
        super().__init__(answers)
        self._tree = tree

    def changes(self, commits: Sequence[Commit]) -> Mapping[str, tuple[Change, ...]]:
        changes = self._tree.changes(commits)
        self._answers.changes |= changes
        return changes

    def describe(self, sha: str) -> CommitText:
        self._answers.described[sha] = self._tree.describe(sha)
        return self._answers.described[sha]


class _IdleSubject:
    """What a subject is in a finished campaign: nothing is built and nothing runs."""

    def __init__(self, traits: Traits, answers: Answers) -> None:
        self.traits, self._answers = traits, answers

    def build(self, sha: str, layout: int, note: Note) -> Build:  # noqa: ARG002
        _refuse("a build (build)")

    def run(self, build: Build, order: RunOrder, note: Note) -> Run:  # noqa: ARG002
        _refuse(f"boot {order.run_id}")

    def width(self) -> int:
        _refuse("how many devices there were")

    def leave(self) -> None:
        """Nothing is open."""


class RecordingSubject(_IdleSubject):
    """ports.Subject that keeps what the real one answers."""

    def __init__(self, subject: Subject, answers: Answers) -> None:
        super().__init__(subject.traits, answers)
        self._subject = subject

    def files(self, build: Build) -> frozenset[str]:
        files = self._subject.files(build)
        self._answers.files[_build_key(build)] = sorted(files)
        return files

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        functions = self._subject.changed(parent, culprit)
        self._answers.changed[f"{_build_key(parent)}..{_build_key(culprit)}"] = functions
        return functions


class ReplayedTree(_IdleTree):
    """ports.Tree that answers from what was kept."""

    def changes(self, commits: Sequence[Commit]) -> Mapping[str, tuple[Change, ...]]:
        known = self._answers.changes
        return {each.sha: known[each.sha] for each in commits if each.sha in known}

    def describe(self, sha: str) -> CommitText:
        if sha not in self._answers.described:
            _refuse(f"the text of commit {sha[:12]}")
        return self._answers.described[sha]


class ReplayedSubject(_IdleSubject):
    """ports.Subject that answers from what was kept."""

    def files(self, build: Build) -> frozenset[str]:
        return frozenset(self._answers.files.get(_build_key(build), ()))

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        return self._answers.changed.get(f"{_build_key(parent)}..{_build_key(culprit)}")


class NoMailer:
    """ports.Mailer that writes nothing."""

    def draft(self, report: ReportInput, story: Sequence[Finding]) -> Report:  # noqa: ARG002
        _refuse("the draft")


class Silence:
    """ports.Progress and ports.Screen for a run in which nothing happens."""

    def begin(self, request: CampaignRequest) -> None:
        """Nothing begins."""

    def shows(self, finding: Finding) -> bool:  # noqa: ARG002
        """Nothing is shown, nor are words of it wanted."""
        return True

    def say(self, line: str) -> None:
        """Nothing is said."""

    def tell(self, finding: Finding) -> None:
        """Nothing is told."""

    def step(self, what: str | Finding, done: int, total: int, left: Left | None) -> None:
        """Nothing is shown."""
