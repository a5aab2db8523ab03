# SPDX-License-Identifier: GPL-2.0-or-later
"""Revisions, commit graphs and built kernels."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from rtbisect.model.formats import kept_as


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit."""

    sha: str
    parents: tuple[str, ...]
    #: Foreign text: bytes of the tree, decoded, never trusted.
    subject: str = ""


@dataclass(frozen=True, slots=True)
class CommitHead:
    """A commit as people know it, harmless to print."""

    #: Full sha.
    commit: str
    subject: str
    #: Name and address of the author.
    author: str
    #: Author date as git shows it, in the time zone of the author.
    date: str
    #: It moves a submodule to another commit, or adds or removes one; not told of a merge.
    submodule: bool = False


def with_ends(document: dict[str, Any]) -> dict[str, Any]:
    """A kept graph, request or report whose ends are named as in the search of a regression."""
    kept = {name: part for name, part in document.items() if name not in ("good", "bad")}
    return kept | {"older": document["good"], "newer": document["bad"]}


@kept_as("CommitGraph", with_ends)
@dataclass(frozen=True, slots=True)
class CommitGraph:
    """The candidates `older..newer`, every commit of all parents."""

    #: Full sha of an ancestor of all candidates, which is none itself.
    older: str
    #: Full sha of the last candidate.
    newer: str
    #: In topological order, parents before children. A parent outside is a boundary commit: an
    #: ancestor of the older end, or this itself, which by definition lacks the sought change.
    commits: tuple[Commit, ...]

    def __len__(self) -> int:
        return len(self.commits)

    @property
    def ends(self) -> tuple[str, str]:
        """The older end and the newer one."""
        return self.older, self.newer

    def parents_of(self, sha: str | None) -> tuple[str, ...]:
        """Parents of a candidate; () for a root, and for what is no candidate."""
        return next((commit.parents for commit in self.commits if commit.sha == sha), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """Which commits of a range are no candidates."""

    #: Full shas of further revisions that lack the sought change, as all that they are made of.
    goods: tuple[str, ...] = ()
    #: Merges stand for the branches that they bring in.
    first_parent: bool = False
    #: From the top of the repository; where there are any, only commits that change what is there
    #: are candidates, with the merges between them and the newer end.
    paths: tuple[str, ...] = ()
    #: A change outside of the paths is told as such (`CommandRequest.own_parents`).
    own_parents: bool = False


#: Every commit of all parents is a candidate.
WHOLE = Narrowing()


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a commit changes against its first parent."""

    #: git's letter: A, M, D, T.
    status: str
    path: str


#: Builds of a revision with another code layout that a search may have. Those after them are kept
#: for the proof: a search names a commit because of the layouts that it has seen.
SEARCH_LAYOUTS = 7
PROOF_LAYOUTS = range(SEARCH_LAYOUTS + 1, SEARCH_LAYOUTS + 13)
#: In the place of a layout: the same sources without PREEMPT_RT, for a factor of the proof.
WITHOUT_RT = -1


#: Variant of a build whose functions have a new order at each boot: linked anew, with a seed.
RELINKED = "relinked"


def layout_variant(layout: int) -> str:
    """Variant of a build with another code layout; 0 is the kernel as it is configured."""
    if layout == WITHOUT_RT:
        return "without-rt"
    return f"layout-{layout}" if layout else ""


def variant_beside(variant: str, layout: int) -> str:
    """Variant of a build with another layout, where that with layout 0 has one, too."""
    return "+".join(filter(None, (variant, layout_variant(layout))))


#: A linker takes 0 for a seed that it draws by itself (lld), and reads 31 bits.
HIGHEST_SEED = (1 << 31) - 1


def seed_of(name: str) -> int:
    """The seed of the code layout of a run: another for each name, the same for the same."""
    return 1 + zlib.crc32(name.encode()) % HIGHEST_SEED


@dataclass(frozen=True, slots=True)
class Checkout:
    """A revision's files."""

    path: Path
    #: Descriptor of the lock that keeps them there, for children to hold too; None where nobody
    #: else moves them.
    lock: int | None = None


class BuildStatus(StrEnum):
    """How a build ended."""

    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What to build: one revision with one configuration."""

    revision: str
    #: For people; `base` is a make target, as x86_64_defconfig.
    config_name: str
    base: str
    #: Texts of Kconfig fragments; later ones win.
    fragments: tuple[str, ...]
    #: Modules of our own, built against the same tree: pairs of file name and source text.
    modules: tuple[tuple[str, str], ...] = ()
    #: Another way to build the same sources, see `layout_variant`; "" for the usual one.
    variant: str = ""
    #: From nothing: no record of an earlier build, no objects that it left.
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A build with its functions in the order of a seed."""

    #: The kernel and its GNU build id, as in `Build`; "" where there is none.
    kernel: str = ""
    build_id: str = ""
    #: Why there is none, one printable line; "" where there is one, and where compiling it again
    #: for the link gives another kernel.
    error: str = ""
    #: Seconds that the link took.
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a kernel."""

    name: str
    #: Code that the kernel frees after booting is or calls it, so it may have left something that
    #: lasts.
    at_boot: bool = False


#: `Build.config_name` of a revision of a command: its files as they are, or built by `run --build`.
AS_COMMITTED, BY_COMMAND = "command", "run --build"


@kept_as("Build")
@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A build, also a failed one: then the artefacts are ""."""

    revision: str
    config_name: str
    status: BuildStatus
    #: Hash over the allocated ELF sections of vmlinux, the modules and the boot line: two builds
    #: with equal signatures are the same kernel.
    signature: str = ""
    #: sha256 names in the artefact store, so below: `modules` is a tar.gz.
    kernel: str = ""
    modules: str = ""
    config: str = ""
    #: The first line that the compiler prints for --version.
    compiler: str = ""
    #: The release as `uname -r` says it.
    release: str = ""
    #: Why it failed, one printable line.
    first_error: str = ""
    #: Seconds that the build took; 0 for one that was reused.
    seconds: float = 0.0
    #: An earlier build of the same was recorded, and is taken.
    reused: bool = False
    #: The variant that was asked for, see `BuildRequest.variant`.
    variant: str = ""
    #: The source files that it was made from, a path a line.
    files: str = ""
    #: Marks of functions (kernel/functions.py).
    functions: str = ""
    #: vmlinux, packed with gzip; "" for one that is too large.
    vmlinux: str = ""
    #: Somebody has sent the revision as a patch.
    foreign: bool = False
    #: A line for each program that made it (kernel/toolchain.py); "" where nobody knows.
    tools: str = ""
    #: GNU build id of vmlinux in hex, by which a running kernel is known; "" where nobody knows.
    build_id: str = ""

    @property
    def ok(self) -> bool:
        return self.status is BuildStatus.OK

    @property
    def of_command(self) -> bool:
        """Whether this is a build of a command that `run` measures, and of no kernel."""
        return self.config_name in (AS_COMMITTED, BY_COMMAND)

    @property
    def made(self) -> bool:
        """Something was built, well or not."""
        return not self.reused and self.config_name != AS_COMMITTED
