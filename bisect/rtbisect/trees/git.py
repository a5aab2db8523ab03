# SPDX-License-Identifier: GPL-2.0-or-later
"""A git repository under test: the port `Tree` on git's plumbing."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.model.code import WHOLE, Change, Checkout, Commit, CommitGraph, CommitHead, Narrowing
from rtbisect.model.finding import Finding
from rtbisect.model.report import CommitText
from rtbisect.process.command import printable, whole_text
from rtbisect.process.locks import hold
from rtbisect.trees.carry import Carried
from rtbisect.trees.lfs import LfsFiles
from rtbisect.trees.limited import alone, with_own_parents
from rtbisect.trees.merge import DATE, commit_tree, merge, parents_of, tree_id
from rtbisect.trees.overlay import Overlay
from rtbisect.trees.plumbing import FULL_SHA, GITLINK, WALK_S, Git, full_sha, last_line
from rtbisect.trees.series import UPSTREAM, series_of
from rtbisect.trees.store import Store
from rtbisect.trees.submodules import Submodules
from rtbisect.trees.worktree import Worktree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.report import SeriesState
    from rtbisect.trees.patches import Patch

#: Longest subject that is kept, in characters.
SUBJECT_LIMIT = 300

#: Tags of a commit that are read, and how many of each kind.
_TAGS = ("Fixes", "Signed-off-by", "Link")
MOST_TAGS = 16

#: When commits of ours were made, in seconds since 1970.
_MADE_TIME = f"{datetime.fromisoformat(DATE).timestamp():.0f}"

#: Seconds to wait for a checkout of another campaign.
LOCK_WAIT_S = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GitTreeSettings:
    """Paths of a tree: its source, its worktree and its lock."""

    name: str
    #: A local path, which is only read, or a URL.
    repo: Path | str
    #: Worktree of every checkout. Our object store lies next to it, with .git added to its name.
    worktree: Path
    #: Lock file of worktree, store and all numbered worktrees.
    lock: Path
    #: Files that are laid over each revision (trees/overlay.py), packed; b"" for none.
    overlay: bytes = b""
    #: What was not committed (trees/carry.py): the sha it was made on, and a diff; b"" for nothing.
    carry: tuple[str, bytes] = ("", b"")
    #: Revisions get their submodules, of a local repository.
    submodules: bool = False
    #: Contents that Git LFS keeps in a local repository are laid over their pointers.
    lfs: bool = False
    #: Commands and builds see the tags of a local repository.
    tags: bool = False


class GitTree:
    """Implements `ports.Tree`."""

    def __init__(self, settings: GitTreeSettings, number: int = 0) -> None:
        """`number` other than 0: a further worktree of the same store, beside the first one."""
        self._settings = settings
        # git records absolute paths with symbolic links resolved.
        place = settings.worktree.parent.resolve() / settings.worktree.name
        self._store = Store(place.with_name(place.name + ".git"), settings.repo)
        if number:
            # Paths of equal length: programs that hold their path are laid out alike in all.
            place = place.with_name(f"{place.name}-b{number:02}")
        self._worktree = Worktree(place, self._store)
        self._overlay = Overlay(settings.overlay) if settings.overlay else None
        base, diff = settings.carry
        self._carried = Carried(self._store.git, base, diff) if diff else None
        self._submodules = Submodules(self._store, self._worktree) if settings.submodules else None
        self._lfs = LfsFiles(self._store) if settings.lfs else None
        self._ready = False

    def _git(self) -> Git:
        """Git in our store, which is made at first use."""
        if not self._ready and not self._store.ready():
            with hold(self._settings.lock, wait_s=LOCK_WAIT_S, what=self._lock_name()):
                self._store.prepare()
                if self._settings.tags:
                    self._store.take_tags()
        self._ready = True
        return self._store.git

    def _lock_name(self) -> str:
        return f"the worktree of tree {self._settings.name}"

    def take_tags(self) -> None:
        """Let commands and builds see the tags that the repository has now."""
        self._git()
        with hold(self._settings.lock, wait_s=LOCK_WAIT_S, what=self._lock_name()):
            self._store.take_tags()

    def resolve(self, revision: str) -> str:
        self._git()
        return self._store.resolve(revision)

    def merge_base(self, one: str, other: str) -> str:
        done = self._git().try_("merge-base", full_sha(one), full_sha(other), timeout_s=WALK_S)
        if done.returncode == 1:
            raise ConfigError(
                f"{one[:12]} and {other[:12]} have no common history",
                "give two revisions of one tree",
            )
        if not done.ok:
            reason = f"git merge-base failed: {printable(last_line(done))}"
            raise InfrastructureError(reason, retryable=False)
        return done.stdout.strip()

    def graph(self, older: str, newer: str, narrowed: Narrowing = WHOLE) -> CommitGraph:
        git = self._git()
        if full_sha(older) == full_sha(newer):
            raise ConfigError(
                f"good and bad are the same commit {older[:12]}", "give two different revisions"
            )
        if not git.try_("merge-base", "--is-ancestor", older, newer, timeout_s=WALK_S).ok:
            self._refuse_range(older, newer)
        # Of commits that do not touch the paths git follows a parent that is equal to them there.
        limits = ["--parents", "--", *narrowed.paths] if narrowed.paths else []
        listing = git(
            "--literal-pathspecs",
            "rev-list",
            "--topo-order",
            "--reverse",
            "--no-commit-header",
            "--format=%x01%H%x00%P%x00%s",
            newer,
            *(["--first-parent"] if narrowed.first_parent else []),
            *(f"^{full_sha(good)}" for good in (older, *narrowed.goods)),
            *limits,
            timeout_s=WALK_S,
        )
        most = 1 if narrowed.first_parent else None
        # With --parents git puts them in front of the line, too.
        rows = (line.partition("\1")[2].split("\0", 2) for line in listing.split("\n") if line)
        commits = tuple(
            Commit(sha, tuple(parents.split())[:most], printable(subject, SUBJECT_LIMIT))
            for sha, parents, subject in rows
        )
        if narrowed.paths:
            commits = self._up_to(newer, commits, narrowed.paths)
        if not commits or commits[-1].sha != newer:
            raise InfrastructureError(
                f"git listed no history {older[:12]}..{newer[:12]}", "run git fsck", retryable=False
            )
        return CommitGraph(older, newer, commits)

    def _up_to(
        self, newer: str, commits: tuple[Commit, ...], paths: Sequence[str]
    ) -> tuple[Commit, ...]:
        """Commits that touch paths, and the newer end, which is measured."""
        if not commits:
            raise ConfigError(
                f"no commit of the range touches {printable(' '.join(paths), 200)}",
                "give paths from the top of the repository",
            )
        if commits[-1].sha == newer:
            return commits
        return (*commits, Commit(newer, (commits[-1].sha,), self.head(newer).subject))

    def alone(self, graph: CommitGraph, sha: str, paths: Sequence[str]) -> bool:
        """See ports.Tree."""
        return alone(self._git(), graph, full_sha(sha), paths)

    def with_own_parents(self, graph: CommitGraph, sha: str, narrowed: Narrowing) -> CommitGraph:
        """See ports.Tree."""
        return with_own_parents(self._git(), graph, full_sha(sha), narrowed, self.head)

    def within(self, spans: Sequence[str]) -> frozenset[str]:
        """Shas of commits and of ranges SHA..SHA."""
        shas = {full_sha(span) for span in spans if ".." not in span}
        for span in spans:
            if ".." in span:
                shas.update(self._git()("rev-list", span, "--", timeout_s=WALK_S).split())
        return frozenset(shas)

    def _refuse_range(self, older: str, newer: str) -> None:
        base = self.merge_base(older, newer)
        if base == newer:
            raise ConfigError(
                f"{newer[:12]} is older than {older[:12]}", "exchange --good and --bad"
            )
        raise ConfigError(
            f"good {older[:12]} is not an ancestor of bad {newer[:12]}",
            f"test their merge base {base[:12]} and give it as good if it is good",
        )

    def lacking(self, sha: str) -> Finding | None:
        """Why a revision cannot be put together: what of it the clone does not have, or a change
        that cannot be carried onto it. None where it can.
        """
        self._git()
        laid = self._laid(sha)
        if isinstance(laid, Finding):
            return laid
        return self._submodules.lacking(laid) if self._submodules else None

    def unfetched(self, sha: str) -> tuple[str, ...]:
        """Files of a revision that stay pointers of Git LFS: the clone lacks their contents."""
        self._git()
        return self._lfs.missing(full_sha(sha)) if self._lfs else ()

    def _laid(self, sha: str) -> str | Finding:
        """The commit whose files a worktree at `sha` has; why there is none."""
        return self._carried.onto(full_sha(sha)) if self._carried else full_sha(sha)

    def _as_laid(self, sha: str) -> str:
        """The same where `lacking` has told nothing."""
        laid = self._laid(sha)
        if isinstance(laid, Finding):
            raise InfrastructureError(
                f"the changes cannot be carried onto {sha[:12]}", "start again", retryable=False
            )
        return laid

    def restore(self, sha: str) -> Path:
        """Like checkout, but files that are not of the commit stay."""
        with self.held(sha, clean=False) as checkout:
            return checkout.path

    @property
    def path(self) -> Path:
        """Folder of the worktree that `checkout` fills."""
        return self._worktree.path

    def numbered(self, number: int) -> GitTree:
        """The same tree with a worktree of its own, 1 to 99."""
        return GitTree(self._settings, number)

    def settle(self) -> None:
        """Record the tracked files as they are now, for `settled`: a build may change them."""
        with hold(self._settings.lock, wait_s=LOCK_WAIT_S, what=self._lock_name()) as descriptor:
            inside = self._submodules
            if not (
                self._worktree.settle(descriptor) and (inside is None or inside.settle(descriptor))
            ):
                raise InfrastructureError(
                    f"git cannot read what was built in {self.path}", "look at the free space there"
                )

    def settled(self, sha: str) -> bool:
        """Give files of the commit the contents that they had at `settle`, and leave all others;
        False where the worktree is not at `sha` any more.
        """
        with hold(self._settings.lock, wait_s=LOCK_WAIT_S, what=self._lock_name()) as descriptor:
            inside, laid = self._submodules, self._as_laid(sha)
            if not (
                self._worktree.settled(laid, descriptor)
                and (inside is None or inside.settled(laid, descriptor))
            ):
                return False
            self._lay_over(clean=False)
        return True

    def _lay_over(self, *, clean: bool) -> None:
        """Overlay files that are copied into a worktree after each checkout."""
        if self._overlay is not None:
            self._overlay.lay(self._worktree.path, clean=clean)

    def checkout(self, sha: str) -> Path:
        """Like `held`, for who is the only one to use this worktree: nothing keeps it there."""
        with self.held(sha) as checkout:
            return checkout.path

    @contextmanager
    def held(
        self, sha: str, wait_s: float = LOCK_WAIT_S, *, clean: bool = True
    ) -> Iterator[Checkout]:
        """See ports.Tree; unless it is to be `clean`, files that are not of the commit stay.
        BusyError when somebody else uses the worktree for longer than `wait_s`; who only looks does
        not wait for a build.
        """
        git = self._git()
        if not git.try_("cat-file", "-e", full_sha(sha) + "^{commit}").ok:
            raise self._missing(sha)
        with hold(self._settings.lock, wait_s=wait_s, what=self._lock_name()) as descriptor:
            laid = self._as_laid(sha)
            if (inside := self._submodules) is not None:
                inside.clear_stale(laid)
            filled = inside.paths(laid) if inside is not None else ()
            self._worktree.put(laid, descriptor, clean=clean, filled=filled)
            if inside is not None:
                inside.put(laid, descriptor, clean=clean)
            if self._lfs is not None:
                self._lfs.lay(self._worktree.path, laid, clean=clean)
            self._lay_over(clean=clean)
            self._store.keep(sha)
            yield Checkout(self._worktree.path, descriptor)

    def changes(self, commits: Sequence[Commit]) -> dict[str, tuple[Change, ...]]:
        """Files that each commit changes against its first parent, by sha."""
        pairs = "".join(
            f"{full_sha(c.sha)} {full_sha(c.parents[0])}\n" for c in commits if c.parents
        )
        listing = self._git()(
            "diff-tree", "--stdin", "--always", "-r", "-z", "--name-status", "--no-renames",
            stdin=pairs.encode(), timeout_s=WALK_S,
        )  # fmt: skip
        return _parse_changes(listing)

    def foreign(self, sha: str) -> bool:
        """Whether a commit was made here of a patch that somebody has sent, or reverts a commit on
        top of one.
        """
        git, here = self._git(), full_sha(sha)
        while True:
            words = ("--no-commit-header", "--max-count=1", "--format=%ct %P")
            done = git.try_("rev-list", *words, here)
            committed_s, *parents = done.stdout.split() if done.ok else [""]
            if committed_s != _MADE_TIME:
                return False
            if not parents or not git.try_("rev-parse", "--verify", "--quiet", _revert(here)).ok:
                return True
            here = parents[0]

    def mending(self, culprit: str, head: str, message_id: str) -> tuple[str, ...]:
        """Commits of `head` behind `culprit` that say they mend or revert it, or close the report
        of that Message-ID; oldest first. Anybody may write such a line: it is a reason to test.
        """
        # In a stable tree they say it of the mainline commit that the culprit is a backport of.
        ids = (culprit, *UPSTREAM.findall(self._fields(culprit, "%b")[0])[:1])
        said = ("Fixes: ", "This reverts commit ")
        marks = (*(f"{word}{each[:12]}" for word in said for each in ids), message_id)
        listing = self._git()(
            "rev-list", "--reverse", "--no-merges", "--fixed-strings",
            *(f"--grep={mark}" for mark in marks if mark), f"{full_sha(culprit)}..{full_sha(head)}",
            timeout_s=WALK_S,
        )  # fmt: skip
        return tuple(listing.split())

    def tree_id(self, sha: str) -> str:
        """Id of the files of a commit: equal for equal files."""
        return tree_id(self._git(), full_sha(sha))

    def revert_on(self, tip: str, commit: str) -> str | None:
        """Merge by plumbing, without a worktree. None for merges, roots, conflicts, and
        when nothing is left to revert.
        """
        git = self._git()
        text = self.describe(full_sha(commit))
        above = parents_of(git, commit)
        if len(above) != 1:
            return None
        tree = merge(git, base=commit, ours=full_sha(tip), theirs=above[0]).tree
        if tree is None or tree == self.tree_id(tip):
            return None
        note = f'Revert "{text.subject}"\n\nThis reverts commit {commit}.\n'
        revert = commit_tree(git, tree, tip, note)
        git("update-ref", _revert(revert), revert)
        return revert

    def tag_names(self, shas: Sequence[str]) -> dict[str, str]:
        self._git()
        return self._store.tag_names([full_sha(sha) for sha in shas])

    def series(self, repair: CommitText, ends: Sequence[str]) -> tuple[SeriesState, ...]:
        return series_of(self._git(), self._store.source_git, repair, ends)

    def apply(self, base: str, patches: Sequence[Patch]) -> str:
        """A commit with `patches` on top of `base`, by plumbing, without a worktree and without any
        hook; ConfigError names the one that does not apply.
        """
        git, tip = self._git(), full_sha(base)
        if not patches:
            raise ConfigError("there is no patch", "give a mail or an mbox with diffs")
        with tempfile.TemporaryDirectory(prefix="rtbisect-index-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            git("read-tree", tip, env=index, timeout_s=WALK_S)
            for number, patch in enumerate(patches, 1):
                words = ("apply", "--cached", "--whitespace=nowarn", "-")
                done = git.try_(*words, stdin=patch.diff, env=index, timeout_s=WALK_S)
                if done.returncode < 0 or done.returncode > 128 or "unable to read" in done.stderr:
                    raise InfrastructureError(f"git apply failed on {tip[:12]}", "run git fsck")
                if not done.ok:
                    raise ConfigError(
                        f"patch {number} of {len(patches)} ({printable(patch.title, 80)}) does not"
                        f" apply to {tip[:12]}: {printable(last_line(done), 120)}",
                        "rebase it on the revision that the report names",
                    )
                tree = git("write-tree", env=index, timeout_s=WALK_S).strip()
                tip = commit_tree(git, tree, tip, f"{patch.title}\n")
        if self.tree_id(tip) == self.tree_id(base):
            raise ConfigError("the patches change nothing", "give those that do")
        git("update-ref", f"refs/rtbisect/patch/{tip}", tip)
        return tip

    def head(self, sha: str) -> CommitHead:
        """Subject, author and date of a commit; ConfigError when it is not there."""
        subject, author, date = self._fields(sha, "%s%x00%an <%ae>%x00%ad")
        changes = self._git()("diff-tree", "-r", "--root", "--ignore-submodules=none", sha)
        modes = {mode for line in changes.splitlines() for mode in line.lstrip(":").split()[:2]}
        return CommitHead(
            sha, printable(subject, SUBJECT_LIMIT), printable(author), printable(date),
            submodule=GITLINK in modes,
        )  # fmt: skip

    def _fields(self, sha: str, form: str) -> list[str]:
        """Fields of a commit in a `git log --format` whose fields are separated by NUL."""
        words = ("--no-commit-header", "--max-count=1", "--date=default", f"--format={form}")
        done = self._git().try_("rev-list", *words, full_sha(sha))
        fields = done.stdout.removesuffix("\n").split("\0")
        # For an object that is no commit git prints nothing and reports no error.
        if not done.ok or len(fields) != 1 + form.count("%x00"):
            raise self._missing(sha)
        return fields

    def _missing(self, sha: str) -> ConfigError:
        where = self._settings.repo
        return ConfigError(f"commit {sha[:12]} is not in {where}", "fetch it there")

    def describe(self, sha: str) -> CommitText:
        git = self._git()
        form = "%H%x00%s%x00%an%x00%ae%x00%aI%x00%cn%x00%ce"
        form += "".join(
            f"%x00%(trailers:key={key},valueonly,unfold,separator=%x1f)" for key in _TAGS
        )
        form += "%x00%b"
        words = self._fields(sha, form)
        full_id, subject, author, email, date, committer, committer_email, *tags, body = words
        fixes, signed_off, links = map(_tag_values, tags)
        upstream = UPSTREAM.search(body)
        above = parents_of(git, sha)
        listing = git(
            "diff-tree", "-r", "-z", "--root", "--name-only", "--no-commit-id", "--no-renames",
            # A merge is shown against its first parent, everything else against its parent.
            *above[: len(above) > 1], sha,
        )  # fmt: skip
        files = tuple(printable(name, 4096) for name in listing.split("\0") if name)
        return CommitText(
            sha=full_id,
            subject=printable(subject, SUBJECT_LIMIT),
            author=printable(author),
            author_email=printable(email),
            date=printable(date),
            files=files,
            fixes=fixes,
            committer=printable(committer),
            committer_email=printable(committer_email),
            signed_off=signed_off,
            links=links,
            upstream=upstream[1] if upstream else "",
            release=self._store.first_release(full_id),
        )


def _revert(sha: str) -> str:
    """The ref that keeps a revert of ours."""
    return f"refs/rtbisect/revert/{sha}"


def _tag_values(tags: str) -> tuple[str, ...]:
    """Values of one tag, those told first of which there are MOST_TAGS at most."""
    values = [tag for tag in tags.split("\x1f") if tag.strip()]
    return tuple(printable(tag, SUBJECT_LIMIT) for tag in values[:MOST_TAGS])


def _parse_changes(listing: str) -> dict[str, tuple[Change, ...]]:
    """Parse `git diff-tree --stdin -z --name-status`: a sha, then pairs of status and path."""
    by_sha: dict[str, list[Change]] = {}
    words = iter(listing.split("\0"))
    here: list[Change] = []
    for word in words:
        if FULL_SHA.fullmatch(word):
            here = by_sha.setdefault(word, [])
        elif word:
            here.append(Change(word[0], whole_text(next(words))))
    return {sha: tuple(changes) for sha, changes in by_sha.items()}
