# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo repository: one kernel source from a tarball, made once, shared by all seeds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from rtbisect.errors import ConfigError
from rtbisect.process.command import failure, run
from rtbisect.process.locks import hold
from rtbisect.trees.plumbing import CHECKOUT_S, Git
from rtbisect.trees.store import ATTRIBUTES
from rtbisect_labkit.demo.edits import TESTED, apply, load_catalogue
from rtbisect_labkit.demo.history import START, SourceFiles
from rtbisect_labkit.demo.people import FILES, email, name, replacement
from rtbisect_labkit.demo.plan import EPOCH

#: Seconds to wait for another process that makes the same repository.
LOCK_WAIT_S = 1800.0

#: Compression 1: level 0 saves ten seconds and costs 1.4 GB. With a threshold of one byte
#: `git add` writes everything straight into one pack instead of 80000 loose files.
IMPORT = ("-c", "core.bigFileThreshold=1", "-c", "core.compression=1", "-c", "pack.compression=1")


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
    source, repo = work / "src", work / "git"
    source.mkdir(parents=True)
    say(f"unpacking {tarball.name}")
    words = ["tar", "--extract", "--file", str(tarball), "--directory", str(source)]
    words += ["--strip-components=1", "--no-same-owner", "--no-same-permissions"]
    done = run(words, cwd=work, timeout_s=CHECKOUT_S)
    if not done.ok:
        raise ConfigError(failure(done), f"give the tarball of {TESTED}")
    _rename(source)
    repo.mkdir()
    bare = Git(cwd=repo, git_dir=repo)
    bare("init", "--quiet", "--bare", "--initial-branch=main", "--template=")
    (repo / "info").mkdir(exist_ok=True)
    (repo / "info" / "attributes").write_text(ATTRIBUTES, "utf-8")
    say("importing the source into git")
    git = Git(cwd=source, git_dir=repo, work_tree=source)
    git(*IMPORT, "add", "--all", "--force", ".", timeout_s=CHECKOUT_S)
    base = _commit(bare, "Import of the source", None, EPOCH - 7200)
    start = _commit_start(bare, base)
    (repo / "index").unlink()
    bare("update-ref", "refs/demo/base", base)
    bare("update-ref", "refs/heads/main", start)
    bare("update-ref", START, start)
    return start


def _rename(source: Path) -> None:
    """Example people in the files that list people. Comments in the source stay."""
    for file in FILES:
        path = source / file
        if path.is_file():
            text = path.read_text("utf-8", "surrogateescape")
            path.write_text(replacement(file, text), "utf-8", "surrogateescape")


def _commit_start(git: Git, base: str) -> str:
    """The commit on top of the import that every good revision is."""
    edit = load_catalogue().start
    files = SourceFiles(git, base, [edit.file])
    text = apply(files.texts[edit.file], [edit], files.release)
    blob = git("hash-object", "-w", "--stdin", stdin=text).strip()
    git("update-index", "--cacheinfo", f"{files.modes[edit.file]},{blob},{edit.file}")
    return _commit(git, edit.subject, base, EPOCH - 3600)


def _commit(git: Git, subject: str, parent: str | None, when: int) -> str:
    tree = git("write-tree", timeout_s=CHECKOUT_S).strip()
    above = () if parent is None else ("-p", parent)
    identity = {
        "GIT_AUTHOR_NAME": name(1),
        "GIT_AUTHOR_EMAIL": email(1),
        "GIT_AUTHOR_DATE": f"{when} +0000",
        "GIT_COMMITTER_NAME": name(1),
        "GIT_COMMITTER_EMAIL": email(1),
        "GIT_COMMITTER_DATE": f"{when} +0000",
    }
    return git("commit-tree", tree, *above, stdin=f"{subject}\n".encode(), env=identity).strip()
