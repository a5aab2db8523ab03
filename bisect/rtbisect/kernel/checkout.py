# SPDX-License-Identifier: GPL-2.0-or-later
"""What the builder asks git about a checked-out source: read only, plumbing only."""

from __future__ import annotations

from pathlib import Path

from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.trees.plumbing import Git


def tree_id(source: Path, revision: str) -> str:
    """Id of the revision's tree object; InternalError when `source` shows another tree."""
    wanted = _rev_parse(source, f"{revision}^{{tree}}")
    shown = _rev_parse(source, "HEAD^{tree}")
    if wanted != shown:
        raise InternalError(f"{source} is not checked out at {revision[:12]}")
    return wanted


def check_still(source: Path, tree: str) -> None:
    """InfrastructureError when `source` shows another tree than at the beginning of a build."""
    if _rev_parse(source, "HEAD^{tree}") != tree:
        raise InfrastructureError(
            f"{source} was moved to another revision while it was built",
            "let nobody but rtbisect use this worktree, then run `rtbisect resume`",
        )


def listing(source: Path, tree: str) -> str:
    """All files of a tree: `mode type id<TAB>path`, ended by NUL."""
    return Git(source)("ls-tree", "-r", "-z", "--full-tree", tree)


def check_readable(source: Path) -> None:
    """The sandbox reads the source as somebody else; ConfigError when that is forbidden."""
    makefile = source / "Makefile"
    if not makefile.is_file():
        raise ConfigError(f"{source} has no Makefile", "is it a kernel tree?")
    if not source.stat().st_mode & 0o001 or not makefile.stat().st_mode & 0o004:
        raise ConfigError(
            f"{source} cannot be read by the user that builds",
            "check it out with umask 022",
        )


def _rev_parse(source: Path, name: str) -> str:
    done = Git(source).try_("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    if not done.ok:
        raise ConfigError(f"{source} does not know {name}", "is it a git work tree of the kernel?")
    return done.stdout.strip()
