# SPDX-License-Identifier: GPL-2.0-or-later
"""Demo repository and histories from a toy source that takes every change of the table."""

import re
import subprocess
import sys
import tarfile

import pytest

from rtbisect.errors import ConfigError
from rtbisect.trees.git import GitTree, GitTreeSettings
from rtbisect.trees.plumbing import Git
from rtbisect_labkit.demo.edits import FOLDER, apply, load_catalogue
from rtbisect_labkit.demo.history import SourceFiles, make_history
from rtbisect_labkit.demo.plan import plan
from rtbisect_labkit.demo.repo import make_repo
from rtbisect_labkit.demo.truth import load

#: Lines between the anchors, so that git sees separate hunks, as in the real files.
GAP = "".join(f"/* {n} */\n" for n in range(9))

RELEASE = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n"


def toy_source():
    """Files that hold every anchor once, and the Makefile and names of a kernel."""
    table = load_catalogue()
    files = {}
    for edit in (table.start, table.culprits["rcu-latency"]):
        files[edit.file] = GAP.join(change.find for change in edit.changes)
    pairs = table.build_pairs + table.boot_pairs
    for edit in [*table.harmless, *(pair.breaks for pair in pairs)]:
        text = files.setdefault(edit.file, f"{edit.file}\n")
        with_lock = text
        if edit.file == table.start.file:
            with_lock = apply(text.encode(), [table.start]).decode()
        for change in edit.changes:
            if change.find not in with_lock:
                files[edit.file] += GAP + change.find
        files[edit.file] += "" if files[edit.file].endswith("\n") else 'GPL");\n'
    for pair in pairs:
        broken = apply(files[pair.mends.file].encode(), [pair.breaks]).decode()
        for change in pair.mends.changes:
            if change.find not in broken:
                files[pair.mends.file] += GAP + change.find
    files["Makefile"] = RELEASE
    files["MAINTAINERS"] = "EPOLL\nM:\tAda Real <ada@kernel.test>\nF:\tfs/eventpoll.c\n"
    files[".mailmap"] = "Ada Real <ada@kernel.test>\n"
    files[".gitignore"] = "*.o\n.*\n"
    files["tools/kept.o"] = "ignored by git and still part of the source\n"
    return files


def pack(folder, files):
    tarball = folder / "linux-source-6.12.tar.xz"
    for name, text in files.items():
        path = folder / "linux-source-6.12" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with tarfile.open(tarball, "w:xz") as archive:
        archive.add(folder / "linux-source-6.12", "linux-source-6.12")
    return tarball


@pytest.fixture(scope="module")
def tarball(tmp_path_factory):
    return pack(tmp_path_factory.mktemp("source"), toy_source())


@pytest.fixture(scope="module")
def repo(tarball, tmp_path_factory):
    place = tmp_path_factory.mktemp("demo") / "demo.git"
    make_repo(place, tarball, lambda _line: None)
    return place


def blob(git, sha, file):
    return git("cat-file", "blob", f"{sha}:{file}")


def test_the_repository_is_made_once(repo, tarball, tmp_path):
    said = []
    start = make_repo(repo, tarball, said.append)
    assert said == []
    assert make_repo(tmp_path / "demo.git", tarball, said.append) == start
    assert len(said) == 1
    assert {p.name for p in tmp_path.iterdir()} == {"demo.git", "demo.git.lock"}
    git = Git(cwd=repo, git_dir=repo)
    assert "Real" not in blob(git, start, "MAINTAINERS") + blob(git, start, ".mailmap")
    assert "F:\tfs/eventpoll.c" in blob(git, start, "MAINTAINERS")
    assert blob(git, start, "tools/kept.o").startswith("ignored")
    assert "rwlock_t lock" in blob(git, start, "fs/eventpoll.c")
    assert "spinlock_t lock" in blob(git, f"{start}^", "fs/eventpoll.c")


def test_what_stands_in_the_way_is_kept(tarball, tmp_path):
    (tmp_path / "demo.git").mkdir()
    (tmp_path / "demo.git" / "thesis").write_text("x")
    with pytest.raises(ConfigError, match="in the way"):
        make_repo(tmp_path / "demo.git", tarball, print)
    with pytest.raises(ConfigError, match="not there"):
        make_repo(tmp_path / "other.git", tmp_path / "away.tar.xz", print)


def linked(tmp_path, _whole):
    with tarfile.open(tmp_path / "linked.tar.xz", "w:xz") as archive:
        member = tarfile.TarInfo("linux/two")
        member.type, member.linkname = tarfile.LNKTYPE, "linux/one"
        archive.addfile(member)
    return (tmp_path / "linked.tar.xz").read_bytes()


@pytest.mark.parametrize(
    ("contents", "names"),
    [
        (lambda *_: b"rubbish", "not a whole"),
        (lambda _, whole: whole[:-40], "not a whole"),
        (linked, "linux/two"),
        (lambda *_: b"", "not a whole"),
    ],
)
def test_a_tarball_that_is_none_leaves_nothing(tarball, tmp_path, contents, names):
    (tmp_path / "other.tar.xz").write_bytes(contents(tmp_path, tarball.read_bytes()))
    with pytest.raises(ConfigError, match=names):
        make_repo(tmp_path / "other.git", tmp_path / "other.tar.xz", print)
    assert not (tmp_path / "other.git").exists()
    assert not (tmp_path / "other.git.new").exists()


def test_another_release_is_refused_by_name(tmp_path):
    files = toy_source() | {"Makefile": RELEASE.replace("117", "999")}
    files["fs/eventpoll.c"] = files["fs/eventpoll.c"].replace("spinlock_t lock;", "rwlock_t lock;")
    with pytest.raises(ConfigError, match=r"6\.12\.999 .*6\.12\.117"):
        make_repo(tmp_path / "demo.git", pack(tmp_path, files), print)


@pytest.mark.parametrize(("seed", "size", "hard"), [(1, 64, False), (2, 24, True), (3, 12, False)])
def test_same_plan_same_shas_elsewhere(repo, tarball, tmp_path, seed, size, hard):
    made = plan(seed, size, hard=hard)
    one = make_history(repo, made, tmp_path / "one.json")
    again = make_history(repo, made, tmp_path / "again.json")
    make_repo(tmp_path / "demo.git", tarball, lambda _line: None)
    other = make_history(tmp_path / "demo.git", made, tmp_path / "other.json")
    assert (one.good, one.bad) == (again.good, again.bad) == (other.good, other.bad)
    assert load(tmp_path / "one.json") == load(tmp_path / "other.json")


def states(git, shas):
    """Commits whose files hold a break without its mend, by looking into the trees."""
    table = load_catalogue()
    kinds = {"build": table.build_pairs, "boot": table.boot_pairs}
    paths = sorted({pair.breaks.file for pairs in kinds.values() for pair in pairs})
    found = {name: set() for name in kinds}
    for sha in shas:
        texts = SourceFiles(git, sha, paths).texts
        for name, pairs in kinds.items():
            for pair in pairs:
                text = texts[pair.breaks.file].decode()
                mended = pair.mends.changes[0].put
                if pair.breaks.changes[0].put in text and not (mended and mended in text):
                    found[name].add(sha)
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hard", [False, True])
def test_truth_is_in_the_trees(repo, tmp_path, seed, hard):
    refs = make_history(repo, plan(seed, 48, hard=hard), tmp_path / "truth.json")
    truth = load(tmp_path / "truth.json")
    git = Git(cwd=repo, git_dir=repo)
    assert (truth.good, truth.bad) == (refs.good, refs.bad)
    shas = git("rev-list", f"{refs.good}..{refs.bad}").split()
    assert len(shas) == 48
    found = states(git, shas)
    assert found == {"build": set(truth.build_failures), "boot": set(truth.boot_failures)}
    assert git("fsck", "--full", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("kind", ["epoll-spinlock", "rcu-latency", "nothing"])
def test_the_culprit_is_where_the_behaviour_changes(repo, tmp_path, kind):
    refs = make_history(repo, plan(11, 40, kind), tmp_path / "truth.json")
    truth = load(tmp_path / "truth.json")
    git = Git(cwd=repo, git_dir=repo)
    slow = set()
    for sha in git("rev-list", f"{refs.good}..{refs.bad}").split():
        spin = "spinlock_t lock;" in blob(git, sha, "fs/eventpoll.c")
        late = "jiffies_till_first_fqs = 2 * d" in blob(git, sha, "kernel/rcu/tree.c")
        if spin or late:
            slow.add(sha)
    if kind == "nothing":
        assert not slow
        return
    below = git("rev-list", f"{truth.culprit}..{refs.bad}", "--ancestry-path").split()
    assert slow == {truth.culprit, *below}
    patch = FOLDER / "patches" / {"e": "eventpoll-rwlock", "r": "rcu-latency"}[kind[0]]
    reverse = ["--reverse"] if kind[0] == "e" else []
    work = tmp_path / "work"
    work.mkdir()
    where = Git(cwd=work, git_dir=repo, work_tree=work, env={"GIT_INDEX_FILE": str(work / "i")})
    where("read-tree", f"{truth.culprit}^")
    where("apply", "--cached", *reverse, f"{patch}.patch")
    assert where("write-tree") == git("rev-parse", f"{truth.culprit}^{{tree}}")


@pytest.mark.parametrize("seed", range(2))
def test_merges_are_what_git_would_merge(repo, tmp_path, seed):
    refs = make_history(repo, plan(seed, 64), tmp_path / "truth.json")
    git = Git(cwd=repo, git_dir=repo)
    rows = git("rev-list", "--merges", "--parents", f"{refs.good}..{refs.bad}").splitlines()
    assert len(rows) >= 2
    for merge, one, other in (row.split() for row in rows):
        done = git.try_("merge-tree", "--write-tree", one, other)
        assert done.ok, done.stdout
        assert done.stdout == git("rev-parse", f"{merge}^{{tree}}")


def test_names_tell_nothing(repo, tmp_path):
    seen: dict[str, str] = {}
    for kind in ("epoll-spinlock", "rcu-latency", "nothing"):
        refs = make_history(repo, plan(5, 30, kind), tmp_path / f"{kind}.json")
        assert re.fullmatch(r"refs/demo/5-30-[0-9a-f]{6}/good", refs.good_ref)
        assert refs.bad_ref == refs.good_ref.removesuffix("good") + "bad"
        git = Git(cwd=repo, git_dir=repo)
        seen[refs.bad_ref] = refs.bad
        # Another kind of the same seed moves no ref of an earlier one.
        assert all(git("rev-parse", ref).strip() == sha for ref, sha in seen.items())
        assert git("rev-parse", refs.bad_ref).strip() == refs.bad
        people = git("log", "--format=%an <%ae>%n%cn <%ce>", refs.bad).splitlines()
        assert all(who.endswith("@example.org>") for who in people)
        words = git("for-each-ref", "--format=%(refname)") + git("log", "--format=%B", refs.bad)
        assert not any(word in words for word in ("culprit", "demo history", kind))


def test_a_tree_can_be_made_of_it(repo, tmp_path):
    refs = make_history(repo, plan(1, 64), tmp_path / "truth.json")
    tree = GitTree(
        GitTreeSettings(
            name="demo",
            repo=repo,
            worktree=tmp_path / "state" / "src",
            lock=tmp_path / "state" / "lock",
        )
    )
    graph = tree.graph(tree.resolve(refs.good_ref), tree.resolve(refs.bad_ref))
    assert len(graph) == 64
    place = tree.checkout(refs.bad)
    assert (place / "tools" / "kept.o").is_file()
    truth = load(tmp_path / "truth.json")
    if truth.culprit:
        assert tree.revert_on(refs.bad, truth.culprit) is not None


def test_the_helper_for_a_compile_check(repo):
    from pathlib import Path

    helper = Path(__file__).parents[3] / "tools" / "demo_all_edits.py"
    done = subprocess.run(
        [sys.executable, str(helper), str(repo), "all-edits"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    git = Git(cwd=repo, git_dir=repo)
    built = {edit.file for edit in load_catalogue().area("epoll", "rcu", "built")}
    changed = git("diff", "--name-only", "main", "refs/heads/all-edits").split()
    assert set(changed) == built
