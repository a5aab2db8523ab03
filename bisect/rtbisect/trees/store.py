# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own object store beside the repository under test, which we only ever read.

A local repository is borrowed from through `objects/info/alternates`: no copy, and all
our refs, worktrees and reverts stay in our store. A URL is fetched into it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.process.command import encode, printable
from rtbisect.trees.plumbing import (
    FETCH_S,
    FULL_SHA,
    WALK_S,
    Git,
    checked_name,
    completing,
    is_partial,
    last_line,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Kept in `info/attributes`, which wins over the tree's own .gitattributes: a worktree
#: holds the bytes that were committed, nothing rewritten.
ATTRIBUTES = "* -text -filter -ident -working-tree-encoding\n"

MARK = "rtbisect-store"

#: Tags that worktrees see at most: with more they see none, and asking would take long.
MOST_TAGS = 100_000

_SHORT_SHA = re.compile(r"[0-9a-f]{4,63}")
#: Tags of versions that may be printed, and the way back from one: `v6.12.3~14^2`.
_NAME = re.compile(r"v[0-9][A-Za-z0-9._-]{0,40}(?:[~^][0-9]{0,7}){0,20}")


@dataclass(frozen=True, slots=True)
class Store:
    """A bare repository of ours."""

    path: Path
    #: The repository under test: a local path or a URL.
    source: Path | str
    #: The repository of a submodule: a folder of git's, of which single commits are checked out, so
    #: that its history may be cut off.
    part: bool = False

    @property
    def remote(self) -> bool:
        return isinstance(self.source, str) and not Path(self.source).exists()

    @property
    def git(self) -> Git:
        return Git(cwd=self.path, git_dir=self.path)

    def _origin(self) -> Git:
        path = Path(self.source)
        if not path.is_dir():
            raise ConfigError(f"{path} is not there", "give the path of a git repository or a URL")
        # A work tree that the repository of a submodule names may be gone.
        return Git(cwd=path, git_dir=path, work_tree=path) if self.part else Git(cwd=path)

    @property
    def source_git(self) -> Git:
        """Git where the branches and tags of the source are."""
        return self.git if self.remote else self._origin()

    def _objects(self) -> str:
        """Folder of the source's objects, after checks that we can live on it."""
        origin = self._origin()
        done = origin.try_("rev-parse", "--path-format=absolute", "--git-path", "objects")
        folder = done.stdout.removesuffix("\n")
        if not done.ok or not Path(folder).is_dir():
            raise ConfigError(f"{self.source} is not a git repository", "clone the tree there")
        if "\n" in folder or folder.startswith(('"', "#")):
            raise ConfigError(f"{printable(folder)} cannot be used", "rename the folder")
        if self.part:
            return folder
        if origin("rev-parse", "--is-shallow-repository").strip() == "true":
            raise ConfigError(
                f"{self.source} is a shallow clone: the history is cut off",
                "run `git fetch --unshallow` in it",
            )
        if is_partial(origin):
            raise ConfigError(
                f"{self.source} is a partial clone: file contents are missing",
                f"run `{completing(origin)}` in it",
            )
        return folder

    def mark_text(self) -> str:
        """What the mark says when the store is made for this source."""
        return f"1\n{self.source}\n{'' if self.remote else self._objects()}\n"

    def ready(self) -> bool:
        mark = self.path / MARK
        return mark.is_file() and mark.read_text("utf-8", "surrogateescape") == self.mark_text()

    def prepare(self) -> None:
        """Make the store, or make it again for another source. Hold the tree's lock."""
        wanted, mark = self.mark_text(), self.path / MARK
        if self.path.is_dir() and any(self.path.iterdir()) and not mark.is_file():
            raise ConfigError(
                f"{self.path} is not a git repository of ours", "move it, or choose another --state"
            )
        self.path.mkdir(parents=True, exist_ok=True)
        kind = "sha1"
        if not self.remote:
            kind = self._origin()("rev-parse", "--show-object-format").strip()
        mark.write_text("being made\n", "utf-8")
        self.git("init", "--quiet", "--bare", f"--object-format={kind}", "--template=")
        info = self.path / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(ATTRIBUTES, "utf-8")
        alternates = self.path / "objects" / "info" / "alternates"
        if self.remote:
            alternates.unlink(missing_ok=True)
        else:
            alternates.parent.mkdir(exist_ok=True)
            objects = wanted.split("\n")[2]
            alternates.write_text(objects + "\n", "utf-8", "surrogateescape")
        mark.write_text(wanted, "utf-8", "surrogateescape")

    def resolve(self, revision: str) -> str:
        """Full sha of a name in the source. Local names are read there, without a fetch."""
        checked_name(revision, "revision")
        git = self.git
        if self.remote:
            known = FULL_SHA.fullmatch(revision)
            if not (known and git.try_("cat-file", "-e", revision + "^{commit}").ok):
                self.fetch()
        else:
            git = self._origin()
        done = git.try_(
            "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
        )
        sha = done.stdout.strip()
        if not done.ok or not FULL_SHA.fullmatch(sha):
            if _SHORT_SHA.fullmatch(revision):
                listing = git.try_("rev-parse", f"--disambiguate={revision}").stdout.split()
                if len(listing) > 1:
                    raise ConfigError(
                        f"{revision!r} is short for {len(listing)} objects of {self.source}",
                        "give more of its digits",
                    )
            raise ConfigError(
                f"{printable(revision, 80)!r} is no commit in {self.source}",
                "fetch it there, or give a tag, branch or commit id that exists",
            )
        self.keep(sha)
        return sha

    def keep(self, sha: str) -> None:
        """Give a commit that a campaign names a ref of its own: its branch may be deleted or
        rewritten. Commits of a local repository are kept there.
        """
        if self.remote:
            self.git("update-ref", f"refs/rtbisect/named/{sha}", sha)

    def tag_names(self, shas: Sequence[str]) -> dict[str, str]:
        """See `ports.Tree`; by the tags of the source, of which odd ones name nothing."""
        # What describe --contains asks, which gives up at the first commit without a name.
        words = ("name-rev", "--tags", "--refs=refs/tags/v[0-9]*", *shas)
        done = self.source_git.try_(*words, timeout_s=WALK_S)
        rows = (line.partition(" ") for line in done.stdout.splitlines()) if done.ok else ()
        named = {sha: name.removeprefix("tags/").removesuffix("^0") for sha, _, name in rows}
        return {sha: name for sha, name in named.items() if _NAME.fullmatch(name)}

    def first_release(self, sha: str) -> str:
        """The first tag of a version that has a commit, "" where no tag of the source has it."""
        return re.split(r"[~^]", self.tag_names((sha,)).get(sha, ""))[0]

    def take_tags(self) -> None:
        """Give worktrees the tags of a local source as they are now, and no other ones: builds ask
        git for a version. Only refs; objects are borrowed. Hold the tree's lock.
        """
        if self.remote:
            return
        wanted, here = _tags(self._origin()), _tags(self.git)
        asked = "".join(f"{sha}\n" for sha in wanted.values()).encode()
        found = self.git("cat-file", "--batch-check=%(objectname)", stdin=asked, timeout_s=WALK_S)
        # The line of one that is not there says so, too.
        there = set(found.split("\n"))
        known = {name: sha for name, sha in wanted.items() if sha in there}
        if len(known) > MOST_TAGS:
            known = {}
        # A git that was killed may have left its locks; no name of a ref ends so.
        for lock in (self.path / "packed-refs.lock", *(self.path / "refs/tags").rglob("*.lock")):
            lock.unlink(missing_ok=True)
        gone = "".join(f"delete {name}\0\0" for name in here if name not in known)
        new = "".join(
            f"update {name}\0{sha}\0\0" for name, sha in known.items() if here.get(name) != sha
        )
        # First those that are gone: one of them may stand where another one wants a folder.
        for orders in filter(None, (gone, new)):
            words = ("update-ref", "--no-deref", "--stdin", "-z")
            self.git(*words, stdin=encode(orders), timeout_s=WALK_S)
        if new:
            # One file instead of one for each.
            self.git("pack-refs", timeout_s=WALK_S)

    def fetch(self) -> None:
        """Bring branches and tags of a URL, and forget those that it no longer has: one of them may
        stand where another one wants a folder. Refs of ours are not touched.
        """
        url = checked_name(str(self.source), "repository URL")
        done = self.git.try_(
            "fetch",
            "--quiet",
            "--force",
            "--prune",
            "--no-tags",
            "--no-write-fetch-head",
            "--end-of-options",
            url,
            "+refs/heads/*:refs/heads/*",
            "+refs/tags/*:refs/tags/*",
            timeout_s=FETCH_S,
        )
        if not done.ok:
            raise InfrastructureError(
                f"{printable(url)} cannot be fetched: {printable(last_line(done))}",
                "check the URL of the tree and the network",
            )


def _tags(git: Git) -> dict[str, str]:
    """Refs of the tags of a repository, with the objects that they name."""
    words = ("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
    rows = (line.split(" ", 1) for line in git(*words, timeout_s=WALK_S).split("\n") if line)
    return {name: sha for sha, name in rows}
