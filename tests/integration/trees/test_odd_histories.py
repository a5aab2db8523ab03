# SPDX-License-Identifier: GPL-2.0-or-later
"""Histories as they come: whichever way a clone shows them, the commits are what is searched."""

import pytest

from helpers.repositories import Repo


def branch(repo, name, *subjects, start="main"):
    repo("checkout", "-q", "-b", name, start)
    return [repo.commit(subject, **{f"{name}_{subject}": "1\n"}) for subject in subjects]


def line(repo):
    """Seven commits in a row, by number."""
    return [repo.commit(f"{number}", **{f"file{number}": "1\n"}) for number in range(7)]


def octopus(repo):
    good = repo.commit("good", good="1\n")
    sides = [branch(repo, name, "one", "two", start=good) for name in ("a", "b", "c")]
    repo("checkout", "-q", "main")
    repo("merge", "-q", "-m", "octopus", "a", "b", "c")
    return good, repo("rev-parse", "HEAD"), {sha for side in sides for sha in side}


def two_roots(repo):
    good = repo.commit("good", good="1\n")
    repo("checkout", "-q", "--orphan", "other")
    other = [repo.commit(f"other {n}", **{f"other{n}": "1\n"}) for n in range(2)]
    repo("checkout", "-q", "main")
    repo("merge", "-q", "--allow-unrelated-histories", "-m", "join", "other")
    return good, repo("rev-parse", "HEAD"), set(other)


def replaced(repo):
    shas = line(repo)
    repo("replace", shas[4], shas[1])
    repo("replace", "--graft", shas[5], shas[0])
    return shas[2], shas[6], set(shas[3:6])


def grafted(repo):
    shas = line(repo)
    (repo.path / ".git/info/grafts").write_text(f"{shas[5]} {shas[0]}\n")
    return shas[2], shas[6], set(shas[3:6])


def left_out_of_archives(repo):
    attributes = "file6 export-ignore\nversion export-subst\n"
    good = repo.commit("good", _gitattributes=attributes, version="$Format:%H$\n")
    shas = line(repo)
    return good, shas[6], set(shas[:6])


def one_commit(repo):
    shas = line(repo)
    return shas[5], shas[6], set()


@pytest.mark.parametrize(
    "history", [octopus, two_roots, replaced, grafted, left_out_of_archives, one_commit]
)
def test_candidates_are_the_commits_and_a_checkout_has_their_files(tmp_path, make, history):
    repo = Repo(tmp_path / "repo")
    good, bad, between = history(repo)
    tree = make(repo.path)
    graph = tree.graph(good, tree.resolve(bad))
    assert {commit.sha for commit in graph.commits} == between | {bad}
    assert graph.commits[-1].sha == bad
    plain = ("-c", "core.useReplaceRefs=false")
    for commit in graph.commits:
        text = repo(*plain, "cat-file", "-p", commit.sha).partition("\n\n")[0]
        own = [row.split()[1] for row in text.splitlines() if row.startswith("parent ")]
        assert list(commit.parents) == own
    names = set(repo(*plain, "ls-tree", "-r", "--name-only", bad).split())
    top = tree.checkout(bad)
    assert {path.name for path in top.iterdir()} == names | {".git"}
