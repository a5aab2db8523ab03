# SPDX-License-Identifier: GPL-2.0-or-later
"""One commit with every harmless change of built code, for a single compile check.

usage: demo_all_edits.py REPO BRANCH [--spinlock | --rcu]

REPO is a demo repository. BRANCH is made on top of the start of all histories; with
--spinlock or --rcu the change of that culprit is in it, and the one that resembles it is not.
Prints the files that changed, as objects for make: `make $(demo_all_edits.py REPO BRANCH)`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bisect"))

from rtbisect.errors import RtbisectError
from rtbisect.trees.plumbing import Git
from rtbisect_labkit.demo.edits import apply, load_catalogue
from rtbisect_labkit.demo.history import START, SourceFiles

WITH = {"--spinlock": "epoll-spinlock", "--rcu": "rcu-latency"}


def all_edits(repo: Path, branch: str, kind: str) -> list[str]:
    """Make the branch; gives the files that changed."""
    table = load_catalogue()
    edits = [e for e in table.area("epoll", "rcu", "built") if not kind or e.twin_of != kind]
    edits += [table.culprits[kind]] if kind else []
    index = {"GIT_INDEX_FILE": str(repo / "all-edits.index")}
    git = Git(cwd=repo, git_dir=repo, env=index)
    files = sorted({edit.file for edit in edits})
    base = SourceFiles(git, START, files)
    git("read-tree", START)
    for file in files:
        text = apply(base.texts[file], [e for e in edits if e.file == file], base.release)
        blob = git("hash-object", "-w", "--stdin", stdin=text).strip()
        git("update-index", "--cacheinfo", f"{base.modes[file]},{blob},{file}")
    tree = git("write-tree").strip()
    commit = git("commit-tree", tree, "-p", START, stdin=b"All changes of built code\n").strip()
    git("update-ref", f"refs/heads/{branch}", commit)
    (repo / "all-edits.index").unlink()
    return files


def main() -> int:
    words = [word for word in sys.argv[1:] if word not in WITH]
    kinds = [WITH[word] for word in sys.argv[1:] if word in WITH]
    if len(words) != 2 or len(kinds) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        files = all_edits(Path(words[0]).resolve(), words[1], kinds[0] if kinds else "")
    except RtbisectError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    objects = [f"{file[:-2]}.o" for file in files if file.endswith(".c")]
    print("\n".join(objects))
    return 0


if __name__ == "__main__":
    sys.exit(main())
