# SPDX-License-Identifier: GPL-2.0-or-later
"""How git is run: without hooks, filters and helpers of anybody, and never elsewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.process.command import Completed, encode, failure, printable, run

#: Time limits in seconds: of a short query, a walk of the history, a checkout of a kernel, a fetch.
QUICK_S = 120.0
WALK_S = 900.0
CHECKOUT_S = 1800.0
FETCH_S = 4 * 3600.0

#: Every setting through which a repository or a user could make git run a program or
#: change bytes on their way between the object store and the worktree.
SAFE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.untrackedCache=false",
    # 0: as many workers as there are processors, since a kernel has 80,000 files.
    "checkout.workers=0",
    "core.quotePath=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
)

#: Replacement refs would show another history than the one that is built; `ext::` and
#: remote helpers would run programs.
SAFE_ENV = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}

#: The mode of a submodule in a tree and in an index.
GITLINK = "160000"

_PARTIAL = r"^(extensions\.partialclone|remote\..*\.promisor)$"
FULL_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git in one directory."""

    cwd: Path
    #: GIT_DIR and work tree; if given, git does not search for them.
    git_dir: Path | None = None
    work_tree: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def try_(
        self,
        *words: str,
        timeout_s: float = QUICK_S,
        stdin: bytes | int | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Completed:
        """Run and give the result, whatever it is. A timeout is an InfrastructureError."""
        options = [word for setting in SAFE for word in ("-c", setting)]
        # Discovery must not climb out of a folder that turns out to be no repository.
        places = {"GIT_CEILING_DIRECTORIES": str(self.cwd.parent)}
        if self.git_dir is not None:
            places["GIT_DIR"] = str(self.git_dir)
        if self.work_tree is not None:
            places["GIT_WORK_TREE"] = str(self.work_tree)
        done = run(
            ["git", *options, *words],
            cwd=self.cwd,
            timeout_s=timeout_s,
            stdin=stdin,
            env=SAFE_ENV | places | dict(self.env) | dict(env or {}),
            pass_fds=pass_fds,
        )
        if done.timed_out:
            raise InfrastructureError(_short(done, words), f"look at the disk below {self.cwd}")
        return done

    def __call__(
        self,
        *words: str,
        timeout_s: float = QUICK_S,
        stdin: bytes | int | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> str:
        """Run, insist on success, give standard output (utf-8/surrogateescape)."""
        done = self.try_(*words, timeout_s=timeout_s, stdin=stdin, env=env, pass_fds=pass_fds)
        if not done.ok:
            place = self.git_dir or self.cwd
            full = "No space left on device" in done.stderr
            hint = f"make room at {place}" if full else f"run git fsck in {place}"
            raise InfrastructureError(_short(done, words), hint, retryable=False)
        return done.stdout


def _short(done: Completed, words: Sequence[str]) -> str:
    """The failure without our settings in front of the git command."""
    return failure(replace(done, argv=("git", *words)))


def last_line(done: Completed) -> str:
    """The last line that git printed on why it failed."""
    return done.stderr.strip().split("\n")[-1]


def blobs(git: Git, names: Sequence[str]) -> Iterator[bytes]:
    """Contents of objects that are there, by their names, read in one go."""
    asked = "".join(f"{name}\n" for name in names).encode()
    listing, start = encode(git("cat-file", "--batch", stdin=asked, timeout_s=WALK_S)), 0
    for _ in names:
        head = listing.index(b"\n", start)
        end = head + 1 + int(listing[start:head].rsplit(b" ", 1)[1])
        yield listing[head + 1 : end]
        start = end + 1


def is_partial(git: Git) -> bool:
    """Whether a clone lacks objects that git would fetch once asked for them (git-config(1))."""
    return git.try_("config", "--get-regexp", _PARTIAL).ok


def completing(git: Git) -> str:
    """What makes a partial clone a full one: `--refetch` takes what is there as missing, and the
    keys say for good that git may find an object missing and fetch it (git-fetch(1)).
    """
    found = git("config", "-z", "--get-regexp", _PARTIAL).removesuffix("\0").split("\0")
    pairs = [entry.partition("\n") for entry in found]
    remotes = {
        key.removeprefix("remote.").removesuffix(".promisor") if key.startswith("remote.") else name
        for key, _, name in pairs
    }
    fetched = [f"git fetch --refetch --no-filter {shlex.quote(each)}" for each in sorted(remotes)]
    unset = [f"git config --unset {shlex.quote(key)}" for key, _, _ in pairs]
    return " && ".join(fetched + unset)


def full_sha(sha: str) -> str:
    """The sha itself; ConfigError when it is not a full one."""
    if not FULL_SHA.fullmatch(sha):
        raise ConfigError(f"{printable(sha, 80)!r} is not a full commit id", "resolve it first")
    return sha


def checked_name(name: str, what: str) -> str:
    """A revision, branch or URL that cannot be taken for an option or for two arguments."""
    if not name or name.startswith("-") or not name.isprintable() or " " in name:
        raise ConfigError(
            f"{printable(name, 80)!r} is not a {what}",
            f"give a {what} that does not start with '-' and has no blanks",
        )
    return name


def heads(url: str) -> dict[str, str]:
    """Branches of a remote repository: name to sha. InfrastructureError when it is away."""
    return {ref.removeprefix("refs/heads/"): sha for sha, ref in _ls_remote(url, "refs/heads/*")}


def ls_remote(url: str, branch: str) -> str | None:
    """Head of `branch` at `url` (a path works too), None when there is no such branch."""
    ref = f"refs/heads/{checked_name(branch, 'branch name')}"
    if set(branch) & set("*?["):
        raise ConfigError(f"{branch!r} is not a branch name", "patterns are not allowed")
    return next((sha for sha, name in _ls_remote(url, ref) if name == ref), None)


def _ls_remote(url: str, pattern: str) -> list[tuple[str, str]]:
    checked_name(url, "repository URL")
    git = Git(cwd=Path("/"))
    done = git.try_("ls-remote", "--quiet", "--end-of-options", url, pattern)
    if not done.ok:
        raise InfrastructureError(
            _short(done, ("ls-remote", printable(url))),
            "check the URL of the tree and the network",
        )
    rows = (line.split("\t", 1) for line in done.stdout.split("\n") if "\t" in line)
    return [(row[0], row[1]) for row in rows]
