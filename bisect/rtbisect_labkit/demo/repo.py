# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo repository: one kernel source from a tarball, made once, shared by all seeds."""

from __future__ import annotations

import contextlib
import lzma
import os
import shutil
import stat
import tarfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from rtbisect.errors import ConfigError
from rtbisect.process.command import decode, encode, failure, printable
from rtbisect.process.locks import hold
from rtbisect.trees.plumbing import CHECKOUT_S, Git
from rtbisect.trees.store import ATTRIBUTES
from rtbisect_labkit.demo.edits import TESTED, apply, load_catalogue
from rtbisect_labkit.demo.history import START, SourceFiles, data_command
from rtbisect_labkit.demo.people import FILES, email, name, replacement
from rtbisect_labkit.demo.plan import EPOCH

#: The source as it is.
BASE = "refs/demo/base"

#: Seconds to wait for another process that makes the same repository.
LOCK_WAIT_S = 1800.0

#: Level 0 saves ten seconds and costs 1.4 GB. No blob is like another, so none is tried as a base.
IMPORT = ("-c", "pack.compression=1", "fast-import", "--quiet", "--depth=0")


def check_tarball(tarball: Path) -> None:
    """ConfigError when the tree of all histories is not on this machine."""
    if not tarball.is_file():
        raise ConfigError(
            f"{tarball} is not there", "install the package linux-source-6.12, or give another"
        )


def make_repo(repo: Path, tarball: Path, say: Callable[[str], None]) -> str:
    """Sha of the start of all histories in `repo`, which is made from `tarball` when it is
    missing (about a minute, 0.4 GB). A repository that is there is used as it is.
    """
    with hold(repo.with_name(repo.name + ".lock"), wait_s=LOCK_WAIT_S, what=f"{repo}"):
        present = _start(repo)
        if present:
            return present
        if repo.exists():
            raise ConfigError(f"{repo} is in the way: no demo repository", "move it away")
        check_tarball(tarball)
        work = repo.with_name(repo.name + ".new")
        if work.exists():
            shutil.rmtree(work)
        try:
            start = _make(work, tarball, say)
            (work / "git").rename(repo)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return start


def _start(repo: Path) -> str | None:
    if not (repo / "HEAD").is_file():
        return None
    done = Git(cwd=repo, git_dir=repo).try_("rev-parse", "--verify", "--quiet", START)
    return done.stdout.strip() if done.ok else None


def _make(work: Path, tarball: Path, say: Callable[[str], None]) -> str:
    repo = work / "git"
    repo.mkdir(parents=True)
    git = Git(cwd=repo, git_dir=repo)
    git("init", "--quiet", "--bare", "--initial-branch=main", "--template=")
    (repo / "info").mkdir(exist_ok=True)
    (repo / "info" / "attributes").write_text(ATTRIBUTES, "utf-8")
    say(f"importing {tarball.name} into git")
    _import(git, tarball)
    git("read-tree", BASE)
    start = _commit_start(git, git("rev-parse", BASE).strip())
    (repo / "index").unlink()
    git("update-ref", "refs/heads/main", start)
    git("update-ref", START, start)
    return start


def _import(git: Git, tarball: Path) -> None:
    """Commit what the tarball holds as BASE. Its files never lie on a disk: to write and read
    80,000 of them takes longer than all else.
    """
    readable, writable = os.pipe()
    with ThreadPoolExecutor(1) as pool:
        fed = pool.submit(_feed, tarball, writable)
        try:
            done = git.try_(*IMPORT, timeout_s=CHECKOUT_S, stdin=readable)
        finally:
            # The feeder is not to wait for a git that has ended.
            os.close(readable)
    fed.result()
    if not done.ok:
        raise ConfigError(failure(done), f"give the tarball of {TESTED}")


def _feed(tarball: Path, writable: int) -> None:
    """Write the stream for git-fast-import(1); a reader that goes away ends it."""
    who = f"{name(1)} <{email(1)}> {EPOCH - 7200} +0000"
    head = f"feature done\ncommit {BASE}\nauthor {who}\ncommitter {who}\n"
    with contextlib.suppress(BrokenPipeError), open(writable, "wb") as stream:
        stream.write(head.encode() + data_command(b"Import of the source\n"))
        try:
            # tarfile's own reader takes a cut file for a whole one.
            with lzma.open(tarball) as plain, tarfile.open(fileobj=plain, mode="r|") as archive:
                for member in archive:
                    _feed_member(archive, member, stream)
        except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
            raise ConfigError(
                f"{tarball} is not a whole .tar.xz: {error}", f"give the tarball of {TESTED}"
            ) from error
        stream.write(b"done\n")


def _feed_member(archive: tarfile.TarFile, member: tarfile.TarInfo, stream: BinaryIO) -> None:
    path = member.name.partition("/")[2]
    if member.isdir() or not path:
        return
    if not (member.issym() or member.isreg()) or "\n" in path or path.startswith('"'):
        raise ConfigError(
            f"the tarball holds {printable(member.name)}, which is no plain file",
            f"give the tarball of {TESTED}",
        )
    if member.issym():
        mode, text = "120000", encode(member.linkname)
    else:
        mode = "100755" if member.mode & stat.S_IXUSR else "100644"
        source = archive.extractfile(member)
        text = source.read() if source else b""
    if path in FILES:
        # Comments in other files stay.
        text = encode(replacement(path, decode(text)))
    stream.write(f"M {mode} inline ".encode() + encode(path) + b"\n" + data_command(text))


def _commit_start(git: Git, base: str) -> str:
    """The commit on top of the import that every good revision is."""
    edit = load_catalogue().start
    files = SourceFiles(git, base, [edit.file])
    text = apply(files.texts[edit.file], [edit], files.release)
    blob = git("hash-object", "-w", "--stdin", stdin=text).strip()
    git("update-index", "--cacheinfo", f"{files.modes[edit.file]},{blob},{edit.file}")
    when = f"{EPOCH - 3600} +0000"
    identity = {
        "GIT_AUTHOR_NAME": name(1),
        "GIT_AUTHOR_EMAIL": email(1),
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_NAME": name(1),
        "GIT_COMMITTER_EMAIL": email(1),
        "GIT_COMMITTER_DATE": when,
    }
    tree = git("write-tree", timeout_s=CHECKOUT_S).strip()
    message = f"{edit.subject}\n".encode()
    return git("commit-tree", tree, "-p", base, stdin=message, env=identity).strip()
