# SPDX-License-Identifier: GPL-2.0-or-later
"""A tree in memory, for tests of everything above the port `Tree`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rtbisect.errors import ConfigError
from rtbisect.model.code import WHOLE, Change, Checkout, Commit, CommitGraph, Narrowing
from rtbisect.model.report import CommitText, SeriesState


@dataclass(slots=True, kw_only=True)
class FakeTree:
    """Implements `ports.Tree` for one graph."""

    commits: CommitGraph
    #: Folder that is used as the worktree; its file REVISION holds the sha.
    folder: Path
    #: Shas by name.
    names: Mapping[str, str] = field(default_factory=dict)
    #: Shas of reverts by (tip, commit).
    reverts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: What `describe` gives, by sha, in place of its own.
    texts: Mapping[str, CommitText] = field(default_factory=dict)
    #: What `changes` gives, by sha.
    changed: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    #: What `tag_names` gives.
    tags: Mapping[str, str] = field(default_factory=dict)
    #: What `series` gives, by the sha of the repair.
    standing: Mapping[str, tuple[SeriesState, ...]] = field(default_factory=dict)
    #: Log of all checkouts, as shas in order.
    checkouts: list[str] = field(default_factory=list)

    def _known(self) -> dict[str, Commit]:
        known = {self.commits.older: Commit(self.commits.older, (), "good")}
        return known | {commit.sha: commit for commit in self.commits.commits}

    def _ancestors(self, sha: str) -> set[str]:
        known, seen, todo = self._known(), set[str](), [sha]
        while todo:
            here = todo.pop()
            if here not in seen:
                seen.add(here)
                todo.extend(known[here].parents if here in known else ())
        return seen

    def resolve(self, revision: str) -> str:
        sha = self.names.get(revision, revision)
        if sha not in self._known() and sha not in self.reverts.values():
            raise ConfigError(f"{revision!r} is no commit", "give one that exists")
        return sha

    def graph(self, older: str, newer: str, narrowed: Narrowing = WHOLE) -> CommitGraph:
        if older == newer:
            raise ConfigError(f"good and bad are the same commit {older[:12]}")
        above = self._ancestors(newer)
        if older not in above:
            raise ConfigError(f"good {older[:12]} is not an ancestor of bad {newer[:12]}")
        below = set().union(*map(self._ancestors, (older, *narrowed.goods)))
        inside = tuple(c for c in self.commits.commits if c.sha in above - below)
        return CommitGraph(older, newer, inside)

    def merge_base(self, one: str, other: str) -> str:
        shared = self._ancestors(one) & self._ancestors(other)
        order = [self.commits.older, *(commit.sha for commit in self.commits.commits)]
        common = [sha for sha in order if sha in shared]
        if not common:
            raise ConfigError(f"{one[:12]} and {other[:12]} have no common history")
        return common[-1]

    def checkout(self, sha: str) -> Path:
        self.resolve(sha)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "REVISION").write_text(sha + "\n", "utf-8")
        self.checkouts.append(sha)
        return self.folder

    def alone(self, graph: CommitGraph, sha: str, paths: Sequence[str]) -> bool:  # noqa: ARG002
        """All commits do."""
        return True

    def with_own_parents(
        self,
        graph: CommitGraph,
        sha: str,  # noqa: ARG002
        narrowed: Narrowing,  # noqa: ARG002
    ) -> CommitGraph:
        """A fake has no commits between those of its graph."""
        return graph

    @contextmanager
    def held(self, sha: str) -> Iterator[Checkout]:
        yield Checkout(self.checkout(sha))

    def revert_on(self, tip: str, commit: str) -> str | None:
        return self.reverts.get((tip, commit))

    def changes(self, commits: Sequence[Commit]) -> dict[str, tuple[Change, ...]]:
        return {c.sha: self.changed[c.sha] for c in commits if c.sha in self.changed}

    def describe(self, sha: str) -> CommitText:
        if sha in self.texts:
            return self.texts[sha]
        commit = self._known().get(sha)
        subject = commit.subject if commit else "a revert"
        return CommitText(
            sha=sha,
            subject=subject,
            author="Person 001",
            author_email="person-001@example.org",
            date="2026-01-01T00:00:00+00:00",
            files=(),
        )

    def tag_names(self, shas: Sequence[str]) -> dict[str, str]:
        return {sha: self.tags[sha] for sha in shas if sha in self.tags}

    def series(self, repair: CommitText, _ends: Sequence[str]) -> tuple[SeriesState, ...]:
        return self.standing.get(repair.sha, ())
