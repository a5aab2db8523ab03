# SPDX-License-Identifier: GPL-2.0-or-later
import re
from dataclasses import replace

import pytest

from helpers.findings import words
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Untestable
from rtbisect.model.result import TestedRevision as Revision
from rtbisect.process.command import run
from rtbisect.report.bisect_log import bisect_log


def git(folder, *words, stdin=None):
    return run(["git", *words], cwd=folder, timeout_s=30, stdin=stdin, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """good - a - b - c - m - z, and x - y from good merged by m; y is tested good."""
    git(tmp_path, "init", "-q", "-b", "main")
    tree = git(tmp_path, "mktree", stdin=b"")
    shas = {}

    def commit(name, *parents):
        words = [word for parent in parents for word in ("-p", shas[parent])]
        shas[name] = git(tmp_path, "commit-tree", tree, "-m", f"change {name}", *words)
        return Commit(shas[name], tuple(shas[p] for p in parents), f"change {name}")

    commit("good")
    commits = [
        commit("a", "good"),
        commit("b", "a"),
        commit("c", "b"),
        commit("x", "good"),
        commit("y", "x"),
        commit("m", "c", "y"),
        commit("z", "m"),
    ]
    git(tmp_path, "update-ref", "refs/heads/main", shas["z"])
    git(tmp_path, "checkout", "-q", "main")
    return tmp_path, shas, CommitGraph(shas["good"], shas["z"], tuple(commits))


def searched(shas, **probability):
    return tuple(Revision(shas[name], f"change {name}", 2, p) for name, p in probability.items())


def replay(folder, text):
    log = folder / "bisect.txt"
    log.write_text(text, encoding="ascii")
    return git(folder, "bisect", "replay", str(log))


def test_git_replays_the_log_to_the_first_bad_commit(repository):
    folder, shas, graph = repository
    found = searched(shas, good=0.0, z=1.0, a=0.01, b=0.001, y=0.0, m=0.999, c=0.98)
    text = bisect_log(graph, found, shas["c"])
    assert f"{shas['c']} is the first bad commit" in replay(folder, text)
    assert f"# first bad commit: [{shas['c']}] change c" in text


def test_an_unfinished_search_replays_too(repository):
    folder, shas, graph = repository
    text = bisect_log(graph, searched(shas, good=0.0, z=1.0, y=0.02, c=0.6), None)
    assert "Bisecting" in replay(folder, text)
    assert f"# unsure (bad with probability 0.60): [{shas['c']}] change c" in text
    assert "first bad" not in text


def test_only_sure_revisions_are_marked(repository):
    _, shas, graph = repository
    found = searched(shas, a=0.049, b=0.051, c=0.951, m=0.949)
    marked = re.findall(r"^git bisect (\w+) (\w+)$", bisect_log(graph, found, None), re.MULTILINE)
    expected = [("bad", "z"), ("bad", "c"), ("good", "good"), ("good", "a")]
    assert marked == [(word, shas[name]) for word, name in expected]


def test_skipped_revisions_are_comments(repository):
    folder, shas, graph = repository
    skipped = Revision(shas["b"], "change b", 0, 0.5, Finding.of(Untestable.NO_BUILD))
    text = bisect_log(graph, (skipped,), None)
    assert f"# skip ({words(skipped.skipped)}): [{shas['b']}] change b" in text
    assert "Bisecting" in replay(folder, text)


def test_foreign_subjects_become_one_line_of_ascii():
    evil = "na\u00efve\ngit bisect reset\x1b[31m \u202e" + "x" * 300
    graph = CommitGraph("g" * 40, "b" * 40, (Commit("b" * 40, ("g" * 40,), evil),))
    text = bisect_log(graph, (), None)
    assert all(" " <= c <= "~" or c == "\n" for c in text)
    assert "\ngit bisect reset" not in text
    assert max(map(len, text.splitlines())) < 200
    other = replace(graph, commits=(Commit("b" * 40, ("g" * 40,), ""),))
    assert f"# bad: [{'b' * 40}]\n" in bisect_log(other, (), None)
