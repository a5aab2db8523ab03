# SPDX-License-Identifier: GPL-2.0-or-later
"""How the stable series of a tree stand to a repair: who has it, and where it applies.

All of it is read from what the repository has; nothing is fetched, and no worktree is touched.
How a backport names its mainline commit: Documentation/process/stable-kernel-rules.rst.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.errors import InfrastructureError, RtbisectError
from rtbisect.model.report import SeriesState, Standing
from rtbisect.process.command import printable, whole_text
from rtbisect.trees.merge import merge, parents_of, tree_id
from rtbisect.trees.plumbing import QUICK_S, WALK_S, Git

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbisect.model.report import CommitText
    from rtbisect.process.command import Completed

#: Series that are looked at: those whose last commits are the newest, because a long-term series
#: has a smaller number than many that have ended.
MOST_SERIES = 8
#: Commits of a series whose messages are read, newest first: twice what a long-term series gets in
#: six years.
MOST_COMMITS = 60_000
#: Conflicting files that are named, and Fixes: tags that are followed.
MOST_FILES = 10
MOST_FIXES = 4
#: Seconds for all series together; those that are not done by then are UNKNOWN.
LIMIT_S = 600.0

#: How a backport names its mainline commit; so below what `git cherry-pick -x` adds.
UPSTREAM = re.compile(
    r"^(?:commit|\[ Upstream commit) ([0-9a-f]{40})(?: upstream\.?| \])\s*$", re.MULTILINE
)
_PICKED = re.compile(r"^\(cherry picked from commit ([0-9a-f]{40,64})\)\s*$", re.MULTILINE)
_REVERTED = re.compile(r"\bThis reverts commit ([0-9a-f]{12,64})")
#: Hex digits that identify a commit.
_SHORT = 12
#: How deep a chain of reverts of reverts is followed.
_MOST_TURNS = 4

_VERSION = "([0-9]{1,3})[.]([0-9]{1,4})"
_BRANCH = re.compile(rf"refs/(?:heads|remotes/[^/]+)/linux-{_VERSION}[.]y")
_TAG = re.compile(rf"refs/tags/v{_VERSION}[.]([0-9]{{1,5}})")
_RELEASE = re.compile(rf"v{_VERSION}(?:[.][0-9]{{1,5}})?")
_REFS = ("refs/heads/linux-*", "refs/remotes/*/linux-*", "refs/tags/v*")
#: Of an annotated tag, the second of each pair tells of its commit.
_FIELDS = ("objectname", "committerdate:unix", "committerdate:iso8601-strict")
_FORMAT = "%00".join(
    ["%(refname)"] + [f"%({star}{each})" for each in _FIELDS for star in ("", "*")]
)

_FIXED = re.compile(r"[0-9a-f]{8,64}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tip:
    """A branch or a tag of a series."""

    version: tuple[int, int]
    sha: str
    #: When it was committed, in seconds since 1970 and in ISO 8601, by the clock of its committer.
    date_s: int
    date: str
    #: The last part of the number of its release; None of a branch.
    patch: int | None


@dataclass(frozen=True, slots=True)
class _HurriedGit(Git):
    """Git that answers until a moment of the monotonic clock, and then never again."""

    until_s: float = 0.0

    def try_(self, *words: str, timeout_s: float = QUICK_S, **options: Any) -> Completed:
        left_s = self.until_s - time.monotonic()
        if left_s <= 0:
            raise InfrastructureError("git took too long", f"look at the disk below {self.cwd}")
        # A bare super() does not know the class that slots make of this one.
        return Git.try_(self, *words, timeout_s=min(timeout_s, left_s), **options)


def series_of(
    store: Git, source: Git, repair: CommitText, ends: Sequence[str]
) -> tuple[SeriesState, ...]:
    """How the series that `source` knows stand to a repair, the highest number first. `ends` are
    full shas that the campaign has measured. The objects of all are in `store`.
    """
    until_s = time.monotonic() + LIMIT_S
    look = _Look(_hurried(store, until_s), _hurried(source, until_s), repair, tuple(ends))
    listing = source("for-each-ref", f"--format={_FORMAT}", *_REFS, timeout_s=WALK_S)
    found = [tip for line in listing.split("\n") if (tip := _tip(line)) is not None]
    releases = {tip.sha: _release(tip) for tip in found if tip.patch is not None}
    return tuple(look.state(tip, releases.get(tip.sha, "")) for tip in _newest(found))


def _hurried(git: Git, until_s: float) -> _HurriedGit:
    return _HurriedGit(git.cwd, git.git_dir, git.work_tree, git.env, until_s)


def _tip(line: str) -> _Tip | None:
    """Of a line of `git for-each-ref`; None for any other ref, and for one without a commit."""
    name, *fields = line.split("\0")
    match = _BRANCH.fullmatch(name) or _TAG.fullmatch(name)
    if match is None or len(fields) != 2 * len(_FIELDS):
        return None
    pairs = zip(fields[::2], fields[1::2], strict=True)
    sha, date_s, date = (of_commit or plain for plain, of_commit in pairs)
    if not date_s:
        return None
    major, minor, *patch = map(int, match.groups())
    return _Tip(
        version=(major, minor), sha=sha, date_s=int(date_s), date=date,
        patch=patch[0] if patch else None,
    )  # fmt: skip


def _release(tip: _Tip) -> str:
    major, minor = tip.version
    return f"v{major}.{minor}.{tip.patch}"


def _newest(found: Iterable[_Tip]) -> list[_Tip]:
    """The tip of each series that lives: its last release, or a branch that goes on after it."""
    last: dict[tuple[int, int], _Tip] = {}
    # A branch that nobody has pulled since is older than the tags beside it.
    for tip in sorted(found, key=lambda each: (each.patch is None, each.patch or 0)):
        known = last.get(tip.version)
        if known is None or tip.patch is not None or tip.date_s >= known.date_s:
            last[tip.version] = tip
    alive = sorted(last.values(), key=lambda each: each.date_s)[-MOST_SERIES:]
    return sorted(alive, key=lambda each: each.version, reverse=True)


@dataclass(frozen=True, slots=True)
class _Look:
    """Looks at one series after another."""

    git: Git
    source: Git
    repair: CommitText
    ends: tuple[str, ...]

    def state(self, tip: _Tip, release: str) -> SeriesState:
        """UNKNOWN where git does not tell: a mail without a series is better than none."""
        try:
            standing, commit, files = self._standing(tip.sha)
            tested = any(self._is_of(end, tip) for end in self.ends)
        except RtbisectError:
            standing, commit, files, tested = Standing.UNKNOWN, "", (), False
        major, minor = tip.version
        return SeriesState(
            name=f"linux-{major}.{minor}.y",
            tip=tip.sha,
            date=tip.date,
            release=release,
            standing=standing,
            commit=commit,
            files=files,
            tested=tested,
        )

    def _standing(self, tip: str) -> tuple[Standing, str, tuple[str, ...]]:
        """And the commit that is the repair there, or the files that conflict."""
        held, commit = self._held(
            tip, [each for each in (self.repair.sha, self.repair.upstream) if each]
        )
        if held is not None:
            return held, commit, ()
        if self._unaffected(tip):
            return Standing.UNAFFECTED, "", ()
        above = parents_of(self.git, self.repair.sha)
        if len(above) != 1:
            return Standing.UNKNOWN, "", ()
        merged = merge(self.git, base=above[0], ours=tip, theirs=self.repair.sha)
        if merged.tree is None:
            names = merged.conflicts[:MOST_FILES]
            return (
                Standing.CONFLICTS,
                "",
                tuple(printable(whole_text(name), 4096) for name in names),
            )
        same = merged.tree == tree_id(self.git, tip)
        return Standing.ALREADY_THERE if same else Standing.APPLIES, "", ()

    def _held(self, tip: str, ids: Sequence[str]) -> tuple[Standing | None, str]:
        """Whether a series has a commit, by its id in any tree, and which one it is there. None: it
        lacks it.
        """
        known = [each for each in ids if self._commit(each)]
        range_ = (tip, *(f"^{each}" for each in known))
        commits = self.git("rev-list", f"--max-count={MOST_COMMITS}", *range_, timeout_s=WALK_S)
        here = [each for each in known if self._has(tip, each)]
        for sha, message in self._saying(commits, ids):
            if {*UPSTREAM.findall(message), *_PICKED.findall(message)} & set(ids):
                here.append(sha)
        gone = self._taken_back(commits, here)
        for sha in here:
            if sha not in gone:
                return Standing.HAS, sha
        if here:
            return Standing.REVERTED, here[0]
        return (Standing.UNKNOWN if commits.count("\n") >= MOST_COMMITS else None), ""

    def _taken_back(
        self, commits: str, shas: Sequence[str], turns: int = _MOST_TURNS
    ) -> frozenset[str]:
        """Those of `shas` that one of `commits` reverts, which is not reverted itself."""
        reverts = {
            sha: {
                each
                for each in shas
                for said in _REVERTED.findall(message)
                if each.startswith(said)
            }
            for sha, message in self._saying(commits, [each[:_SHORT] for each in shas])
        }
        reverts = {sha: undone for sha, undone in reverts.items() if undone}
        if not reverts or not turns:
            return frozenset()
        void = self._taken_back(commits, tuple(reverts), turns - 1)
        return frozenset().union(*(undone for sha, undone in reverts.items() if sha not in void))

    def _saying(self, commits: str, words: Sequence[str]) -> list[tuple[str, str]]:
        """Those of `commits`, a line each, with one of `words` in their message, and that."""
        if not commits or not words:
            # Without any commit git would take its own.
            return []
        listing = self.git(
            "log", "-z", "--no-walk=unsorted", "--stdin", "--fixed-strings", "--format=%H%n%B",
            *(f"--grep={each}" for each in words),
            stdin=commits.encode(), timeout_s=WALK_S,
        )  # fmt: skip
        rows = (each.partition("\n") for each in listing.split("\0") if each)
        return [(sha, message) for sha, _, message in rows]

    def _unaffected(self, tip: str) -> bool:
        """Whether a series has none of the commits that the repair says it fixes."""
        named = [_FIXED.match(tag) for tag in self.repair.fixes[:MOST_FIXES]]
        fixed = [self._commit(match[0]) if match else "" for match in named]
        return bool(fixed) and all(
            each and not self._has(tip, each) and self._held(tip, [each])[0] is None
            for each in fixed
        )

    def _is_of(self, sha: str, tip: _Tip) -> bool:
        """Whether a commit is of a series itself: its first release, or one since."""
        words = ("describe", "--tags", "--abbrev=0", "--match=v[0-9]*", sha)
        done = self.source.try_(*words, timeout_s=WALK_S)
        match = _RELEASE.fullmatch(done.stdout.strip()) if done.ok else None
        near = match is not None and (int(match[1]), int(match[2])) == tip.version
        return near and self._has(tip.sha, sha)

    def _has(self, tip: str, sha: str) -> bool:
        return self.git.try_("merge-base", "--is-ancestor", sha, tip, timeout_s=WALK_S).ok

    def _commit(self, name: str) -> str:
        """The full sha of a commit, "" where there is none."""
        done = self.git.try_("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return done.stdout.strip() if done.ok else ""
