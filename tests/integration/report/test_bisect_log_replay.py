# SPDX-License-Identifier: GPL-2.0-or-later
"""The bisect log of a campaign, replayed by git itself; drafts, read by git mailinfo."""

import subprocess
from dataclasses import replace
from email import message_from_bytes
from email.policy import default

import pytest

from helpers.findings import said
from helpers.report_cases import CASES
from helpers.report_epoll import EPOLL, epoll
from helpers.report_mails import NOTICES, PUBLIC
from helpers.report_parts import GOLDEN, settings
from helpers.repositories import ENV
from rtbisect.model import result
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.report.draft import DraftMailer


class Repo:
    def __init__(self, path):
        self.path = path
        path.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words, stdin=None):
        done = subprocess.run(
            ["git", *words], cwd=self.path, env=ENV, input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, subject, *parents):
        """A commit of the empty tree; git's plumbing needs no worktree for it."""
        tree = self.git("mktree", stdin=b"")
        words = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", tree, *words, stdin=subject.encode())

    def left(self):
        """Commits that git still suspects: one when it has found the culprit."""
        goods = self.git("for-each-ref", "--format=%(objectname)", "refs/bisect/good-*").split()
        return self.git("rev-list", "refs/bisect/bad", "--not", *goods).split()


@pytest.fixture
def history(tmp_path):
    """g -- a -- b -------- m -- c -- d -- n -- e, with side s1 -- s2 into m and t1 into n.

    Side s starts at g; side t starts at a, so it is older than the culprit on main.
    """
    repo = Repo(tmp_path / "repo")
    shas = {}

    def add(name, *parents, subject=None):
        shas[name] = repo.commit(subject or f"commit {name}", *(shas[p] for p in parents))

    add("g")
    add("a", "g")
    add("b", "a", subject="tick: \u00b5s and \u202egit bisect reset")
    add("s1", "g")
    add("s2", "s1")
    add("m", "b", "s2")
    add("t1", "a")
    add("c", "m")
    add("d", "c")
    add("n", "d", "t1")
    add("e", "n")
    repo.git("update-ref", "refs/heads/main", shas["e"])
    repo.git("reset", "-q", "--hard")
    return repo, shas


def graph_of(repo, shas):
    lines = repo.git(
        "rev-list", "--topo-order", "--reverse", "--parents", shas["e"], f"^{shas['g']}"
    ).splitlines()
    subject = {sha: repo.git("show", "-s", "--format=%s", sha) for sha in shas.values()}
    commits = tuple(
        Commit(words[0], tuple(words[1:]), subject[words[0]]) for words in map(str.split, lines)
    )
    return CommitGraph(shas["g"], shas["e"], commits)


def seen(shas, **probabilities):
    return tuple(
        result.TestedRevision(shas[name], f"commit {name}", 4, p)
        for name, p in probabilities.items()
    )


def draft_log(tmp_path, repo, shas, culprit, found):
    report = replace(
        epoll(),
        older=shas["g"],
        newer=shas["e"],
        graph=graph_of(repo, shas),
        result=replace(EPOLL, culprit=culprit, tested=found),
    )
    DraftMailer(settings(tmp_path / "drafts")).draft(report, "")
    return tmp_path / "drafts" / report.campaign / "bisect.log"


@pytest.mark.parametrize(
    ("culprit", "probabilities"),
    [
        ("d", {"g": 0.0, "e": 1.0, "c": 0.001, "d": 0.999, "t1": 0.001}),
        ("s2", {"g": 0.0, "e": 1.0, "s1": 0.0, "s2": 1.0, "b": 0.02, "m": 1.0}),
        ("m", {"g": 0.0, "e": 1.0, "b": 0.0, "s2": 0.0, "m": 1.0, "c": 0.99}),
        ("t1", {"g": 0.0, "e": 1.0, "d": 0.0, "t1": 1.0, "a": 0.0}),
    ],
)
def test_replay_ends_at_the_culprit(history, tmp_path, culprit, probabilities):
    repo, shas = history
    log = draft_log(tmp_path, repo, shas, shas[culprit], seen(shas, **probabilities))
    repo.git("bisect", "replay", str(log))
    assert repo.git("rev-parse", "refs/bisect/bad") == shas[culprit]
    assert repo.left() == [shas[culprit]]


def test_replay_of_an_open_search_ends_at_a_range_with_the_culprit(history, tmp_path):
    repo, shas = history
    found = (
        *seen(shas, g=0.0, e=1.0, n=0.999, b=0.01, d=0.6),
        result.TestedRevision(shas["c"], "commit c", 0, 0.5, said("build failed")),
    )
    repo.git("bisect", "replay", str(draft_log(tmp_path, repo, shas, None, found)))
    left = repo.left()
    assert {shas["c"], shas["d"]} <= set(left)
    assert shas["e"] not in left
    assert shas["b"] not in left


def test_a_subject_cannot_steer_the_replay(history, tmp_path):
    repo, shas = history
    found = seen(shas, g=0.0, e=1.0, c=0.001, d=0.999)
    evil = f"x\ngit bisect good {shas['d']}\ngit bisect start"
    graph = graph_of(repo, shas)
    report = replace(
        epoll(),
        graph=replace(graph, commits=tuple(replace(c, subject=evil) for c in graph.commits)),
        result=replace(EPOLL, culprit=shas["d"], tested=found),
    )
    DraftMailer(settings(tmp_path / "drafts")).draft(report, "")
    repo.git("bisect", "replay", str(tmp_path / "drafts" / report.campaign / "bisect.log"))
    assert repo.left() == [shas["d"]]


@pytest.mark.parametrize("name", sorted({*CASES, *NOTICES, *PUBLIC}))
def test_git_mailinfo_reads_the_golden_mails(name, tmp_path):
    repo = Repo(tmp_path / "repo")
    eml = (GOLDEN / f"{name}.eml").read_bytes()
    told = repo.git("mailinfo", "-b", "msg", "patch", stdin=eml)
    fields = dict(line.split(": ", 1) for line in told.splitlines())
    assert fields["Author"] == "rtbisect"
    assert fields["Email"] == "rtbisect@lab.example.org"
    subject = message_from_bytes(eml, policy=default)["Subject"]
    # It takes away what marks an answer.
    assert " ".join(str(subject).split()).replace("Re: ", "") == fields["Subject"]
    text = (repo.path / "msg").read_text("ascii")
    assert text.strip() == eml.decode().split("\n\n", 1)[1].strip()
    assert (repo.path / "patch").read_bytes() == b""
