# SPDX-License-Identifier: GPL-2.0-or-later
"""How many commits of a range cannot change the kernel, and do they?

    make bench-silent ARGS="--site site.yaml --build-config demo --repo DIR --good A --bad B"
    make bench-silent ARGS="--config FILE --repo DIR --good A --bad B"

The first builds every silent commit and its parent, and compares the kernels. The second is for
configurations whose kernels take an hour: it only reads what the compiler would read
(tools/preprocess_only.sh), and compares all objects of B with those of B without its silent
commits at once. Exit code 1: some commit was taken to be silent and is not. See patch_series.py
for ranges of real changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.config.paths import state_dir
from rtbisect.config.site_file import load_site
from rtbisect.errors import InfrastructureError, RtbisectError
from rtbisect.kernel import confined
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.products import closure
from rtbisect.kernel.sandbox import FRAGMENTS, OUT, SRC, Sandbox
from rtbisect.kernel.settings import REPRODUCIBLE, BuildSettings
from rtbisect.kernel.workspace import Workspace
from rtbisect.model.code import BuildRequest
from rtbisect.process.command import failure
from rtbisect.search.equal_kernels import Closure, silent_pairs
from rtbisect.store.artefacts import ArtefactStore
from rtbisect.trees.git import GitTree, GitTreeSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.code import Build, CommitGraph

HERE = Path(__file__).resolve().parent
#: Seconds for all objects of a large configuration.
READ_S = 4 * 3600.0
#: Seconds until another run of this program lets go of the folder.
LOCK_S = 10.0
#: Objects and linker scripts are what a kernel is made of.
PRODUCTS = (".o", ".lds", ".so")


class Range:
    """The commits of good..bad in a repository."""

    def __init__(self, state: Path, repo: Path, good: str, bad: str) -> None:
        worktree = state / "silent" / "src"
        lock = worktree.with_suffix(".lock")
        lock.parent.mkdir(parents=True, exist_ok=True)
        self.tree = GitTree(
            GitTreeSettings(name="silent", repo=repo.resolve(), worktree=worktree, lock=lock)
        )
        self.good, self.bad = self.tree.resolve(good), self.tree.resolve(bad)
        self.graph: CommitGraph = self.tree.graph(self.good, self.bad)

    def silent(self, files: frozenset[str]) -> tuple[tuple[str, str], ...]:
        changes = self.tree.changes(self.graph.commits)
        return silent_pairs(self.graph, changes, Closure.of(files))


def say(words: Mapping[str, object], out: Path | None) -> None:
    line = json.dumps(words)
    print(line, flush=True)
    if out:
        with out.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")


def built(asked: argparse.Namespace, state: Path, commits: Range) -> int:
    """Every silent commit and its parent built, with the builder of campaigns."""
    site = load_site(asked.site)
    target = site.target(asked.build_config)
    store = ArtefactStore(state / "artefacts")
    settings = BuildSettings(root=state / "silent" / "build", machine_lock=state / "silent.lock")
    builder = KernelBuilder(settings, store)
    pattern = BuildRequest(
        revision="",
        config_name=target.defconfig,
        base=target.base,
        fragments=site.fragment_texts(target),
    )
    known: dict[str, Build] = {}

    def build(sha: str) -> Build:
        if sha not in known:
            request = replace(pattern, revision=sha)
            with commits.tree.held(sha) as source:
                known[sha] = builder.build(source, request, lambda _line: None)
        return known[sha]

    ends = [build(commits.good), build(commits.bad)]
    if not all(end.ok for end in ends):
        raise InfrastructureError(f"an end does not build: {[e.first_error for e in ends]}", "")
    pairs = commits.silent(frozenset().union(*(builder.files(end) for end in ends)))
    checked = wrong = 0
    for sha, parent in pairs:
        one, other = build(parent), build(sha)
        if one.ok and other.ok:
            checked += 1
            wrong += one.signature != other.signature
        text = commits.tree.describe(sha).subject
        words = {"commit": sha, "subject": text, "equal": one.signature == other.signature}
        say(words | {"built": one.ok and other.ok, "seconds": round(other.seconds, 1)}, asked.out)
    size = len(commits.graph.commits)
    share = round(len(pairs) / size, 3)
    total = {"commits": size, "silent": len(pairs), "share": share, "checked": checked}
    say(total | {"wrong": wrong}, asked.out)
    return int(wrong > 0)


class Reader:
    """What the compiler would read of a tree, in the sandbox of the builder."""

    def __init__(self, root: Path, config: Path) -> None:
        self._space = Workspace(root, "objects")
        self._config = config.read_text(encoding="utf-8", errors="surrogateescape")
        self._compiler = (HERE / "preprocess_only.sh").read_text(encoding="utf-8")

    def objects(self, source: Path) -> dict[str, str]:
        """What all objects would be made of: path to hash."""
        with self._space.hold(LOCK_S) as lock:
            self._space.open(source, fresh=True)
            self._space.put(self._space.fragments, "config", self._config)
            self._space.put(self._space.fragments, "compiler.sh", self._compiler)
            self._make(source, lock)
            return self._products()

    def files(self) -> frozenset[str]:
        """Files of the source that they were made from."""
        return closure(self._space.out)

    def _make(self, source: Path, lock: int) -> None:
        # Ours, and keys of a distribution that nobody else has.
        words = ["--set-str", "LOCALVERSION", "", "-d", "LOCALVERSION_AUTO"]
        words += ["--set-str", "SYSTEM_TRUSTED_KEYS", "", "-d", "MODULE_SIG"]
        words += ["-d", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT", "-e", "DEBUG_INFO_NONE"]
        words += ["-d", "DEBUG_INFO_BTF"]
        make = ["make", "-C", SRC, f"O={OUT}", f"CC=/bin/sh {FRAGMENTS}/compiler.sh"]
        # Nothing links in the end, as there is nothing in the objects: -k makes all the others.
        every = [f"-j{os.cpu_count() or 1}", "-k", "vmlinux", "modules"]
        space = self._space
        box = Sandbox(
            source=source,
            out=space.out,
            modules=space.modules,
            fragments=space.fragments,
            ccache=space.ccache,
            env=REPRODUCIBLE,
            uid=space.uid,
        )
        for argv in (
            ["cp", f"{FRAGMENTS}/config", f"{OUT}/.config"],
            [f"{SRC}/scripts/config", "--file", f"{OUT}/.config", *words],
            [*make, "olddefconfig"],
            [*make, *every],
        ):
            done = confined.run(
                box,
                argv,
                cwd=space.root,
                timeout_s=READ_S,
                log=space.log,
                pass_fds=(lock,),
            ).done
            if done.timed_out or not (done.ok or argv[-1] == every[-1]):
                raise InfrastructureError(failure(done), f"see {space.log}")
        if not space.has("vmlinux.a"):
            raise InfrastructureError("make left no vmlinux.a", f"see {space.log}")

    def _products(self) -> dict[str, str]:
        found = {}
        for path in sorted(self._space.out.rglob("*")):
            if path.suffix in PRODUCTS and path.is_file() and not path.is_symlink():
                name = str(path.relative_to(self._space.out))
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found


def without(commits: Range, pairs: tuple[tuple[str, str], ...]) -> tuple[str, list[str]]:
    """The bad end without its silent commits, and those that later commits hold fast."""
    tip, kept = commits.bad, []
    for sha, _parent in reversed(pairs):
        found = commits.tree.revert_on(tip, sha)
        if found is None:
            kept.append(sha)
        tip = found or tip
    return tip, kept


def read(asked: argparse.Namespace, state: Path, commits: Range) -> int:
    """All silent commits at once, by what the compiler would read."""
    reader = Reader(state / "silent" / "build", asked.config)
    before = reader.objects(commits.tree.checkout(commits.bad))
    files = reader.files()
    pairs = commits.silent(files)
    tip, kept = without(commits, pairs)
    after = reader.objects(commits.tree.checkout(tip))
    unlike = sorted(path for path in before | after if before.get(path) != after.get(path))
    size = len(commits.graph.commits)
    words: dict[str, object] = {"commits": size, "silent": len(pairs)}
    words |= {"share": round(len(pairs) / size, 3), "checked": len(pairs) - len(kept)}
    words |= {"objects": len(before), "files": len(files), "unlike": len(unlike)}
    words |= {"unlike objects": unlike[:40]}
    words |= {"silent commits": [commits.tree.describe(sha).subject for sha, _p in pairs]}
    say(words, asked.out)
    return int(bool(unlike))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--good", required=True)
    parser.add_argument("--bad", required=True)
    parser.add_argument("--site", type=Path)
    parser.add_argument("--build-config", default="demo")
    parser.add_argument("--config", type=Path, help="a whole configuration; reads only")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--out", type=Path, help="a file that gets the lines as well")
    asked = parser.parse_args()
    if (asked.site is None) == (asked.config is None):
        parser.error("give either --site or --config")
    state = state_dir(asked.state)
    commits = Range(state, asked.repo, asked.good, asked.bad)
    return (built if asked.site else read)(asked, state, commits)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RtbisectError as error:
        sys.exit(str(error))
