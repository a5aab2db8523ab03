# SPDX-License-Identifier: GPL-2.0-or-later
"""A git history from a Debian source package: its upstream release, a commit for every patch.

    apt-get source --download-only linux
    tools/patch_series.py linux_*.orig.tar.xz linux_*.debian.tar.xz --out DIR

Patches of `patches/series`, then of `patches-rt/series` where there is one. Real changes in a
real order: what bench_silent.py and a trial of `rtbisect bisect` want. Branch `series` is the tip,
tag `upstream` the release.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rtbisect.errors import InfrastructureError
from rtbisect.process.command import failure, run
from rtbisect.trees.plumbing import CHECKOUT_S, Git

WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (
        ("NAME", "Patch Series"),
        ("EMAIL", "series@lab.example.org"),
        ("DATE", "2000-01-01T00:00:00+00:00"),
    )
}


def unpack(archive: Path, into: Path) -> Path:
    """The folder that an archive holds."""
    into.mkdir()
    argv = ["tar", "--extract", "--no-same-owner", "--file", str(archive.resolve())]
    done = run(argv, cwd=into, timeout_s=CHECKOUT_S)
    if not done.ok:
        raise InfrastructureError(failure(done), "are these the archives of a source package?")
    found = sorted(into.iterdir())
    return found[0] if len(found) == 1 else into


def patches(debian: Path) -> list[Path]:
    found = []
    for folder in ("patches", "patches-rt"):
        series = debian / folder / "series"
        if series.is_file():
            lines = (line.split("#", 1)[0].strip() for line in series.read_text().splitlines())
            found += [debian / folder / line for line in lines if line]
    return found


def commit(git: Git, subject: str) -> None:
    git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", subject, timeout_s=CHECKOUT_S)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("upstream", type=Path)
    parser.add_argument("debian", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    # git works in the tree, where a path that is relative to here means nothing.
    asked.out = asked.out.absolute()
    if asked.out.exists():
        parser.error(f"{asked.out} exists: give a new folder")
    with tempfile.TemporaryDirectory(dir=asked.out.parent) as scratch:
        debian = unpack(asked.debian, Path(scratch, "debian"))
        tree = unpack(asked.upstream, Path(scratch, "upstream"))
        git = Git(cwd=tree, env=WHO)
        git("init", "--quiet", "--initial-branch=series")
        # What the tree itself ignores belongs to the release as well.
        git("add", "--all", "--force", timeout_s=CHECKOUT_S)
        commit(git, "Upstream release")
        git("tag", "upstream")
        left_out = 0
        for patch in patches(debian):
            done = git.try_("apply", "--index", "--whitespace=nowarn", str(patch))
            if done.ok:
                commit(git, patch.name)
            else:
                left_out += 1
                print(f"does not apply: {patch.name}: {done.stderr.splitlines()[:1]}")
        tree.rename(asked.out)
    count = Git(cwd=asked.out)("rev-list", "--count", "upstream..series").strip()
    print(f"{count} commits in {asked.out}, {left_out} patches left out")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InfrastructureError as error:
        sys.exit(str(error))
