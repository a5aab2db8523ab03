# SPDX-License-Identifier: GPL-2.0-or-later
"""What is not committed in a work tree, brought onto other revisions as a cherry-pick would."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import encode, printable
from rtbisect.trees.merge import commit_tree, merge
from rtbisect.trees.plumbing import WALK_S, Git, full_sha, last_line

#: Most bytes of a diff, with all that is binary in it.
MOST_BYTES = 256 << 20

#: The repository of a person is only read.
_READ_ONLY = {"GIT_OPTIONAL_LOCKS": "0"}


def changed_names(repo: Path) -> tuple[str, ...]:
    """Files that git knows and that are changed in the work tree; () of a bare repository."""
    git = Git(cwd=repo, env=_READ_ONLY)
    if git("rev-parse", "--is-inside-work-tree").strip() != "true":
        return ()
    # `git status` also works on a branch without a commit, where `git diff HEAD` fails.
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no")
    changed = git(*_as_its_owner(git), *words, "--ignore-submodules=dirty", timeout_s=WALK_S)
    # Two letters for its state, and a blank.
    return tuple(entry[3:] for entry in changed.split("\0") if entry)


def uncommitted_diff(repo: Path) -> tuple[str, bytes]:
    """HEAD, and what the work tree has changed since; "" and b"" for nothing."""
    if not changed_names(repo):
        return "", b""
    git = Git(cwd=repo, env=_READ_ONLY)
    head = full_sha(git("rev-parse", "--verify", "HEAD^{commit}").strip())
    words = ("diff", "--no-renames", "--no-ext-diff", "--binary", "--full-index", "--no-color")
    readable = ("--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=dirty")
    # Nor what a configuration of the clone makes of a diff: `git apply` has to read it.
    plain = ("--submodule=short", "-U3", "--inter-hunk-context=0", "-O/dev/null")
    diff = encode(
        git(*_as_its_owner(git), *words, *readable, *plain, "HEAD", "--", timeout_s=WALK_S)
    )
    if len(diff) > MOST_BYTES:
        raise ConfigError(
            f"what is not committed has more than {MOST_BYTES >> 20} MB", "commit what is large"
        )
    return head, diff


def _as_its_owner(git: Git) -> tuple[str, ...]:
    """So that a work tree is compared with its HEAD as its owner does, for whom lines that end in
    CRLF may be no change, and large files of Git LFS stand for their pointers. The filter for these
    is given here: `git lfs install` writes it into a configuration that is not read. Files that are
    pointers still pass it as they are. Where git-lfs is not installed files are compared as they
    are, also in a clone that names its filter.
    """
    listing = git.try_("config", "-z", "--show-scope", "--get-all", "core.autocrlf").stdout
    scopes, values = listing.split("\0")[::2], listing.split("\0")[1::2]
    own = [value for scope, value in zip(scopes, values, strict=False) if scope != "command"]
    installed = shutil.which("git-lfs") is not None
    settings = (
        f"core.autocrlf={own[-1] if own else 'false'}",
        f"filter.lfs.process={'git-lfs filter-process' if installed else ''}",
        "filter.lfs.clean=",
        f"filter.lfs.required={'true' if installed else 'false'}",
    )
    return tuple(word for setting in settings for word in ("-c", setting))


@dataclass(frozen=True)
class Carried:
    """Changes on the revision that they were made on."""

    git: Git
    #: Full sha, and the diff to it.
    base: str
    diff: bytes
    #: For each revision its commit with the changes, or why there is none.
    _known: dict[str, str | Finding] = field(default_factory=dict)

    def onto(self, sha: str) -> str | Finding:
        """The commit that has the files of `sha` and the changes; a finding where they conflict."""
        if sha not in self._known:
            self._known[sha] = self._merged(sha)
        return self._known[sha]

    def _merged(self, sha: str) -> str | Finding:
        merged = merge(self.git, base=self.base, ours=full_sha(sha), theirs=self._changed)
        if merged.tree is None:
            first = printable((*merged.conflicts, "?")[0], 200)
            return Finding.of(Commands.NOT_CARRIED, first=first)
        return commit_tree(self.git, merged.tree, sha, "what was not committed\n")

    @cached_property
    def _changed(self) -> str:
        """The commit with the changes on the revision that they were made on."""
        with tempfile.TemporaryDirectory(prefix="rtbisect-index-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self.git("read-tree", self.base, env=index, timeout_s=WALK_S)
            words = ("apply", "--cached", "--whitespace=nowarn", "-")
            done = self.git.try_(*words, stdin=self.diff, env=index, timeout_s=WALK_S)
            if not done.ok:
                raise InfrastructureError(
                    f"the changes do not apply to {self.base[:12]}, on which they were made:"
                    f" {printable(last_line(done), 120)}",
                    "run git fsck",
                    retryable=False,
                )
            tree = self.git("write-tree", env=index, timeout_s=WALK_S).strip()
        return commit_tree(self.git, tree, self.base, "what was not committed\n")
