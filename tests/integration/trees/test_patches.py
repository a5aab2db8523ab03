# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches of mails on a real tree, kind ones and hostile ones."""

import pytest

from rtbisect.errors import ConfigError
from rtbisect.trees.git import GitTree, GitTreeSettings
from rtbisect.trees.mime import UnreadableError
from rtbisect.trees.patches import MOST, MOST_BYTES, Patch, patches_of


@pytest.fixture
def tree(repo, tmp_path):
    state = tmp_path / "state/t"
    return GitTree(
        GitTreeSettings(name="t", repo=repo.path, worktree=state / "src", lock=state / "lock")
    )


def series(repo, base):
    return repo("format-patch", "--stdout", "--cover-letter", f"{base}..HEAD").encode() + b"\n"


def test_a_series_becomes_commits_in_its_order(repo, tree):
    base = repo.commit("base", a_c="one\n")
    repo.commit("first: change", a_c="two\n")
    repo.commit("second: add", b_c="new\n")
    found = patches_of(series(repo, base))
    assert [each.title for each in found] == ["first: change", "second: add"]
    made = tree.apply(base, found)
    store = tree._store.git
    assert store("rev-parse", f"{made}^{{tree}}").strip() == repo("rev-parse", "HEAD^{tree}")
    assert tree.describe(made).subject == "second: add"
    assert store("rev-parse", f"{made}~2").strip() == base
    # Nothing of it is in the repository that is only read.
    assert repo("rev-list", "--all", "--count") == "3"
    assert tree.apply(base, found) == made


def test_a_reply_with_a_patch_in_its_text(repo, tree):
    base = repo.commit("base", a_c="one\n")
    mail = b"""Subject: Re: [PATCH v2] epoll: fix it
Content-Type: text/plain

Try this:

diff --git a/a.c b/a.c
--- a/a.c
+++ b/a.c
@@ -1 +1 @@
-one
+three
--\x20
A signature
"""
    (patch,) = patches_of(mail)
    assert patch.title == "epoll: fix it"
    made = tree.apply(base, (patch,))
    assert tree._store.git("show", f"{made}:a.c") == "three\n"


def test_a_line_that_looks_like_a_signature_is_part_of_the_patch(repo, tree):
    base = repo.commit("base", a_c="a\n- \nb\n", b_c="one\n")
    repo.commit("next", a_c="a\nb\n", b_c="two\n")
    (patch,) = patches_of(series(repo, base).split(b"\n\nFrom ")[-1].join([b"From ", b""]))
    assert b"\n-- \n" in patch.diff
    made = tree.apply(base, (patch,))
    assert tree._store.git("rev-parse", f"{made}^{{tree}}").strip() == repo(
        "rev-parse", "HEAD^{tree}"
    )


def test_what_would_be_applied_in_part_is_refused(repo):
    many = b"From x\nSubject: [PATCH]\n\ndiff --git a/x b/x\n\n" * (MOST + 1)
    with pytest.raises(ConfigError, match="too many"):
        patches_of(many)
    with pytest.raises(ConfigError, match="too large"):
        patches_of(b"Subject: x\n\ndiff --git a/x b/x\n" + b"+x\n" * MOST_BYTES)
    with pytest.raises(ConfigError, match="binary"):
        patches_of(b"Subject: x\n\ndiff --git a/x b/x\nGIT binary patch\nliteral 9\n")


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 3000,
        b"Subject: [PATCH " + b"1" * 5000 + b"/2] x\n\ndiff --git a/x b/x\n",
        b"Content-Disposition: inline; filename*=idna''x%ff\n\ndiff --git a/x b/x\n",
    ],
)
def test_what_breaks_parsers_is_told(data):
    why = None
    try:
        found = patches_of(data)
    except UnreadableError as error:
        found, why = (), error.why
    assert why or all(each.title for each in found)


def test_a_commit_of_a_patch_is_known_as_one(repo, tree):
    base = repo.commit("base", a_c="one\n")
    repo.commit("next", a_c="two\n")
    made = tree.apply(base, patches_of(repo("diff", base, "HEAD").encode() + b"\n"))
    assert tree.foreign(made)
    assert not tree.foreign(base)
    revert = tree.revert_on(repo("rev-parse", "HEAD"), repo("rev-parse", "HEAD"))
    assert not tree.foreign(revert)
    assert tree.foreign(tree.revert_on(made, made))


def test_a_plain_diff(repo, tree):
    base = repo.commit("base", a_c="one\n")
    repo.commit("next", a_c="two\n")
    (patch,) = patches_of(repo("diff", base, "HEAD").encode() + b"\n")
    made = tree.apply(base, (patch,))
    assert tree._store.git("show", f"{made}:a.c") == "two\n"


def diff(old, new, lines, place):
    head = f"diff --git a/{new[2:]} {new}\n--- {old}\n+++ {new}\n@@ -{place} +1 @@\n"
    return (head + lines).encode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (diff("a/a.c", "b/a.c", "-other\n+x\n", "1"), "does not apply"),
        (diff("a/../x", "b/../x", "+x\n", "0,0"), "does not apply"),
        (diff("/dev/null", "b/.git/x", "+x\n", "0,0"), "does not apply"),
        (b"diff --git a/a.c b/a.c\nnonsense\n", "does not apply"),
        (b"\0\xff", "does not apply"),
    ],
)  # fmt: skip
def test_what_does_not_apply_is_told(repo, tree, change, said):
    base = repo.commit("base", a_c="one\n")
    with pytest.raises(ConfigError, match=said) as caught:
        tree.apply(base, (Patch("bad", change),))
    assert str(caught.value).isprintable()


def test_nothing_is_no_patch(repo, tree):
    base = repo.commit("base", a_c="one\n")
    assert patches_of(b"") == ()
    assert patches_of(b"Subject: [PATCH 0/2] cover\n\nText.\n") == ()
    assert patches_of(b"From x Thu Jan  1 00:00:00 1970\nSubject: x\n\nText.\n") == ()
    with pytest.raises(ConfigError, match="no patch"):
        tree.apply(base, ())


def numbered(*marks):
    return b"".join(
        f"From x\nSubject: [PATCH{mark}] a\n\ndiff --git a/x b/x\n\n".encode() for mark in marks
    )


@pytest.mark.parametrize(
    "marks", [(" 2/3",), (" 1/2", " 1/2"), (" 1/2", " 2/2", " v2 1/2", " v2 2/2"), (" 1/2", " 2/3")]
)
def test_a_series_is_there_whole_or_not_at_all(marks):
    with pytest.raises(ConfigError, match="of a series of"):
        patches_of(numbered(*marks))


@pytest.mark.parametrize("marks", [(" 2/2", " 1/2"), ("", ""), (" 0/1", " 1/1")])
def test_a_series_that_is_whole(marks):
    data = numbered(*marks).replace(b" 0/1] a\n\ndiff --git a/x b/x\n", b" 0/1] a\n\nText.\n")
    assert patches_of(data)
