# SPDX-License-Identifier: GPL-2.0-or-later
"""GitTree against real repositories, kind ones and hostile ones."""

import os
import shutil
import subprocess

import pytest

from helpers.repositories import ENV, history
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.trees.git import GitTree, GitTreeSettings
from rtbisect.trees.plumbing import heads, ls_remote


def test_resolve(repo, make):
    good, _, side, bad = history(repo)
    repo("tag", "-a", "-m", "t", "v1", good)
    tree = make(repo.path)
    assert tree.resolve("v1") == good
    assert tree.resolve("main") == bad
    assert tree.resolve("main^2") == side
    assert tree.resolve(good[:10]) == good
    for name in ("nowhere", "main:a.c", f"{good}..{bad}", "0" * 40):
        with pytest.raises(ConfigError, match="no commit"):
            tree.resolve(name)
    for name in ("--all", "-n1", "", "a b"):
        with pytest.raises(ConfigError, match="not a revision"):
            tree.resolve(name)


def test_a_short_sha_of_several_commits_asks_for_more_digits(repo, make):
    shas = set[str]()
    while len({sha[:4] for sha in shas}) == len(shas):
        made = [
            f"commit refs/heads/main\ncommitter P <p@example.org> {number} +0000\ndata 0\n"
            for number in range(len(shas), 2 * len(shas) + 500)
        ]
        repo("fast-import", "--quiet", "--force", stdin="".join(made).encode())
        shas = set(repo("rev-list", "main").split())
    short = next(sha[:4] for sha in shas if sum(other[:4] == sha[:4] for other in shas) > 1)
    with pytest.raises(ConfigError) as error:
        make(repo.path).resolve(short)
    assert "digits" in error.value.hint


def test_graph_keeps_merges_and_order(repo, make):
    good, one, side, bad = history(repo)
    graph = make(repo.path).graph(good, bad)
    assert {c.sha: c.parents for c in graph.commits} == {
        one: (good,),
        side: (good,),
        bad: (one, side),
    }
    assert graph.commits[-1].sha == bad
    assert {c.subject for c in graph.commits} == {"one", "side", "join"}


def test_graph_refuses_ends_that_make_no_range(repo, make):
    good, one, side, bad = history(repo)
    tree = make(repo.path)
    with pytest.raises(ConfigError, match="same commit"):
        tree.graph(good, good)
    with pytest.raises(ConfigError, match=f"merge base {good[:12]}"):
        tree.graph(side, one)
    with pytest.raises(ConfigError, match="exchange --good and --bad"):
        tree.graph(bad, good)
    repo("checkout", "-q", "--orphan", "other")
    other = repo.commit("other")
    with pytest.raises(ConfigError, match="no common history"):
        tree.graph(other, bad)
    assert tree.merge_base(one, side) == good


def test_foreign_subjects_come_out_printable(repo, make):
    good = repo.commit("start")
    raw = repo(
        "commit-tree", "-p", good, f"{good}^{{tree}}", stdin=b"evil \x1b[31m\xff\x01 tab\t end"
    )
    repo("update-ref", "refs/heads/evil", raw)
    tree = make(repo.path)
    graph = tree.graph(good, raw)
    assert graph.commits[0].subject.isprintable()
    assert graph.commits[0].subject.startswith("evil ?[31m")
    assert tree.describe(raw).subject == graph.commits[0].subject


def test_shallow_clone_is_refused(repo, make, tmp_path):
    history(repo)
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{repo.path}", str(tmp_path / "shallow")],
        check=True,
        env=ENV,
    )
    with pytest.raises(ConfigError, match="shallow"):
        make(tmp_path / "shallow").resolve("HEAD")


def test_a_partial_clone_is_refused_as_git_makes_one(repo, make, tmp_path):
    history(repo)
    subprocess.run(["git", "config", "uploadpack.allowFilter", "true"], cwd=repo.path, check=True)
    words = ["clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo.path}"]
    subprocess.run(["git", *words, str(tmp_path / "partial")], check=True, env=ENV)
    with pytest.raises(ConfigError, match="partial"):
        make(tmp_path / "partial").resolve("HEAD")


def test_what_is_no_repository_is_refused(repo, make, tmp_path):
    repo.commit("start")
    inside = repo.path / "sub"
    inside.mkdir()
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "away", tmp_path / "empty", inside):
        with pytest.raises(ConfigError, match=r"not there|not a git repository"):
            make(place).resolve("HEAD")


def test_url_is_fetched(repo, make):
    good, _, _, bad = history(repo)
    tree = make(f"file://{repo.path}")
    assert tree.resolve("main") == bad
    later = repo.commit("later")
    assert tree.resolve("main") == later
    shutil.rmtree(repo.path)
    assert tree.resolve(good) == good
    assert len(tree.graph(good, later)) == 4
    with pytest.raises(InfrastructureError, match="cannot be fetched"):
        tree.resolve("main")


def test_a_renamed_branch_does_not_break_a_url(repo, make):
    _, _, _, bad = history(repo)
    repo("branch", "topic", bad)
    tree = make(f"file://{repo.path}")
    assert tree.resolve("topic") == bad
    repo("branch", "-m", "topic", "other")
    repo("branch", "-m", "other", "topic/v2")
    assert tree.resolve("topic/v2") == bad
    with pytest.raises(ConfigError, match="no commit"):
        tree.resolve("topic")
    repo("branch", "-m", "topic/v2", "other")
    repo("branch", "-m", "other", "topic")
    assert tree.resolve("topic") == bad


def test_a_commit_that_was_named_outlives_its_branch(repo, make):
    good, *_ = history(repo)
    repo("checkout", "-q", "-b", "gone")
    lost = repo.commit("lost", a_c="lost\n")
    tree = make(f"file://{repo.path}")
    assert tree.resolve("gone") == lost
    place = tree.checkout(good)
    repo("checkout", "-q", "main")
    repo("branch", "-D", "gone")
    repo("tag", "later")
    tree.resolve("later")
    store = place.with_name("src.git")
    subprocess.run(["git", "gc", "-q", "--prune=now"], cwd=store, env=ENV, check=True)
    assert tree.resolve(lost) == lost
    assert (tree.checkout(lost) / "a.c").read_text() == "lost\n"


def test_replace_refs_do_not_change_history(repo, make):
    good, one, _, bad = history(repo)
    other = repo("commit-tree", "-p", good, f"{good}^{{tree}}", "-m", "other")
    repo("replace", one, other)
    tree = make(repo.path)
    assert one in {c.sha for c in tree.graph(good, bad).commits}
    assert tree.describe(one).subject == "one"


def test_revert_is_deterministic_and_kept(repo, make):
    good, one, side, bad = history(repo)
    tree = make(repo.path)
    made = tree.revert_on(bad, one)
    assert made == tree.revert_on(bad, one)
    place = tree.checkout(made)
    assert (place / "a.c").read_text().startswith("1\n")
    assert (place / "s.c").is_file()
    text = tree.describe(made)
    assert text.subject == 'Revert "one"'
    assert text.files == ("a.c",)
    assert tree.graph(bad, made).commits[0].parents == (bad,)
    store = place.with_name("src.git")
    refs = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname)"], cwd=store, env=ENV, capture_output=True,
        check=True, text=True,
    ).stdout  # fmt: skip
    assert refs.split() == [f"refs/rtbisect/revert/{made}"]
    assert side != good


def test_reverts_that_do_not_apply_are_none(repo, make):
    good, one, _, bad = history(repo)
    later = repo.commit("over it", a_c="again\n2\n3\n4\n5\n6\n7\n8\n9\n")
    empty = repo.commit("empty")
    tree = make(repo.path)
    assert tree.revert_on(later, one) is None
    assert tree.revert_on(bad, bad) is None
    assert tree.revert_on(bad, good) is None
    assert tree.revert_on(empty, empty) is None


def test_the_first_version_that_has_a_commit(repo, make):
    one = repo.commit("one", a_c="1")
    repo("tag", "v6.12-rc1")
    two = repo.commit("two", a_c="2")
    repo("tag", "not-a-version")
    repo.commit("three", a_c="3")
    repo("tag", "-a", "-m", "a version", "v6.12")
    last = repo.commit("last", a_c="4")
    repo("tag", "v7;x")
    tree = make(repo.path)
    # The last tag is none that a mail would print.
    assert [tree.describe(each).release for each in (one, two, last)] == ["v6.12-rc1", "v6.12", ""]


def test_tags_of_versions_name_commits(repo, make):
    one = repo.commit("one", a_c="1")
    repo("tag", "v6.12-rc1")
    two = repo.commit("two", a_c="2")
    three = repo.commit("three", a_c="3")
    repo("tag", "-a", "-m", "a version", "v6.12")
    repo("tag", "a-word-of-somebody")
    last = repo.commit("last", a_c="4")
    tree = make(repo.path)
    named = {one: "v6.12-rc1", two: "v6.12~1", three: "v6.12"}
    assert tree.tag_names((one, last, two, three)) == named
    assert all(tree.resolve(name) == sha for sha, name in named.items())
    assert tree.tag_names(("f" * 40,)) == {}


@pytest.mark.parametrize(
    "tag", ["v7;x", "v7-`id`", "v7'\"x", "v7-#regzbot", "v7-\u202e", "v7/x", "v" + "7" * 60]
)
def test_a_tag_that_a_mail_would_not_print_names_nothing(repo, make, tag):
    sha = repo.commit("one", a_c="1")
    repo("tag", tag)
    assert make(repo.path).tag_names((sha,)) == {}


def test_describe(repo, make):
    _, one, _, bad = history(repo)
    tree = make(repo.path)
    text = tree.describe(one)
    assert (text.sha, text.subject, text.files) == (one, "one", ("a.c",))
    assert (text.author, text.author_email) == ("Person 001", "person-001@example.org")
    assert text.date == "2026-01-01T00:00:00+00:00"
    assert tree.describe(bad).files == ("s.c",)
    with pytest.raises(ConfigError, match="is not in"):
        tree.describe("0" * 40)
    no_commit = repo("rev-parse", f"{one}^{{tree}}")
    with pytest.raises(ConfigError, match="is not in"):
        tree.head(no_commit)
    with pytest.raises(ConfigError, match="is not in"):
        tree.checkout("0" * 40)


def test_what_a_commit_says_that_it_repairs(repo, make):
    repo.commit("start")
    tag = '0123456789ab ("epoll: a lock that lends nothing")'
    tags = f"Fixes: {tag}\nFixes: {'x' * 500}\nSigned-off-by: P <p@example.org>"
    body = f"one more\n\nText.\n\n{tags}"
    first, second = make(repo.path).describe(repo.commit(body, a_c="1")).fixes
    assert first == tag
    assert len(second) <= 300
    assert make(repo.path).describe(repo.commit("none")).fixes == ()


def test_who_signed_a_commit_and_where_it_was_discussed(repo, make):
    repo.commit("start")
    tags = (
        "Signed-off-by: P <p@example.org>\nLink: https://patch.msgid.link/1@example.org\n"
        "Signed-off-by: Q <q@example.org>"
    )
    text = make(repo.path).describe(repo.commit(f"one\n\nText.\n\n{tags}", a_c="1"))
    assert text.signed_off == ("P <p@example.org>", "Q <q@example.org>")
    assert text.links == ("https://patch.msgid.link/1@example.org",)
    assert text.fixes == ()
    assert text.committer.startswith("Person")
    assert text.committer_email.endswith("@example.org")


def test_ls_remote(repo):
    sha = repo.commit("start")
    repo("branch", "feature/main")
    url = f"file://{repo.path}"
    assert heads(url) == {"main": sha, "feature/main": sha}
    assert ls_remote(url, "main") == sha
    assert ls_remote(url, "mai") is None
    for branch in ("-x", "ma*", ""):
        with pytest.raises(ConfigError):
            ls_remote(url, branch)
    with pytest.raises(InfrastructureError, match="ls-remote"):
        ls_remote(f"file://{repo.path}/away", "main")
    with pytest.raises(InfrastructureError):
        ls_remote("ext::sh -c touch% x".replace(" ", ""), "main")
    with pytest.raises(ConfigError):
        ls_remote("--upload-pack=touch", "main")


def test_a_path_that_is_no_text_is_one_that_every_file_takes(repo, tmp_path):
    state = tmp_path / "state/t"
    tree = GitTree(
        GitTreeSettings(name="t", repo=repo.path, worktree=state / "src", lock=state / "lock")
    )
    base = repo.commit("base", a_c="one\n")
    (repo.path / os.fsdecode(b"foo\xff.c")).write_text("x")
    repo("add", "-A")
    repo("commit", "-q", "-m", "odd")
    sha = repo("rev-parse", "HEAD")
    changes = tree.changes(tree.graph(base, sha).commits)[sha]
    assert [each.path.encode() for each in changes] == [rb"foo\udcff.c"]
