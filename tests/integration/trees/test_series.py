# SPDX-License-Identifier: GPL-2.0-or-later
"""Which series of a real repository have a repair, and where it applies."""

import pytest

from helpers.repositories import ENV
from rtbisect.model.report import Standing
from rtbisect.trees import series

LINES = "".join(f"{number}\n" for number in range(1, 10))
BROKEN = LINES.replace("5\n", "five\n")


@pytest.fixture
def kernel(repo):
    """Mainline with releases v6.1 to v6.5, broken since v6.1 and mended behind v6.5; a branch for
    each, with a stable release.
    """
    repo.commit("start", a_c=LINES)
    repo.broken = repo.commit("break", a_c=BROKEN)
    for minor in range(1, 6):
        repo.commit(f"Linux 6.{minor}", Makefile=f"SUBLEVEL = {minor}\n")
        repo("tag", f"v6.{minor}")
    repo.repair = repo.commit(f'mend\n\nFixes: {repo.broken[:12]} ("break")', a_c=LINES)
    for minor in range(1, 6):
        stable(repo, f"6.{minor}", "other", b_c=f"{minor}\n")
    return repo


def stable(repo, version, subject, **files):
    """A commit of a series, and its release; the tree is left at mainline."""
    name = f"linux-{version}.y"
    known = repo("branch", "--list", name)
    repo("checkout", "-q", *(() if known else ("-b",)), name, *(() if known else (f"v{version}",)))
    made = repo.commit(subject, **files)
    count = len(repo("tag", "--list", f"v{version}.*").split())
    repo("tag", "-a", "-m", "release", f"v{version}.{count + 1}")
    repo("checkout", "-q", "main")
    return made


def look(tree, repair, *ends):
    return {each.name: each for each in tree.series(tree.describe(repair), ends)}


def standings(tree, repair):
    return {name: each.standing.value for name, each in look(tree, repair).items()}


def test_series_that_have_a_repair_and_those_that_lack_it(kernel, make):
    kernel("branch", "linux-6.6.y")
    picked = stable(kernel, "6.5", f"mend\n\ncommit {kernel.repair} upstream.\n", a_c=LINES)
    auto = stable(kernel, "6.4", f"mend\n\n[ Upstream commit {kernel.repair} ]\n", a_c=LINES)
    stable(kernel, "6.3", "own\n\nas by hand", a_c=LINES)
    stable(kernel, "6.1", "own", a_c=BROKEN.replace("five", "cinq"))
    found = look(make(kernel.path), kernel.repair)
    assert list(found) == [f"linux-6.{minor}.y" for minor in (6, 5, 4, 3, 2, 1)]
    told = {name: (each.standing, each.commit, each.files) for name, each in found.items()}
    assert told == {
        "linux-6.6.y": (Standing.HAS, kernel.repair, ()),
        "linux-6.5.y": (Standing.HAS, picked, ()),
        "linux-6.4.y": (Standing.HAS, auto, ()),
        "linux-6.3.y": (Standing.ALREADY_THERE, "", ()),
        "linux-6.2.y": (Standing.APPLIES, "", ()),
        "linux-6.1.y": (Standing.CONFLICTS, "", ("a.c",)),
    }
    assert found["linux-6.5.y"].tip == kernel("rev-parse", "linux-6.5.y")
    assert (found["linux-6.5.y"].release, found["linux-6.6.y"].release) == ("v6.5.2", "")
    assert found["linux-6.1.y"].date == "2026-01-02T00:00:00+00:00"
    assert kernel("status", "--porcelain") == ""


def test_a_tree_without_series_has_none(repo, make):
    repo.commit("start", a_c="1\n")
    repair = repo.commit("mend", a_c="2\n")
    repo("tag", "v6.1")
    assert make(repo.path).series(make(repo.path).describe(repair), ()) == ()


def test_what_is_called_like_a_series_and_is_none_is_left_out(kernel, make):
    for name in (
        "linux-6.9.y-rt",
        "wip/linux-6.9.y",
        "linux-6.y",
        "linux-6.9.y;reboot",
        "linux-٦.9.y",
    ):
        kernel("branch", name)
    for name in ("v6.9.1-rc1", "v6.9.1-rt2", "v6.9"):
        kernel("tag", name)
    kernel("tag", "v6.9.1", "main^{tree}")
    assert set(standings(make(kernel.path), kernel.repair)) == {
        f"linux-6.{n}.y" for n in range(1, 6)
    }


def test_a_backport_of_a_backport_names_the_mainline_commit(kernel, make):
    """The repair was found in one series; others know it by the name that it has in mainline."""
    mended = stable(kernel, "6.5", f"mend\n\ncommit {kernel.repair} upstream.\n", a_c=LINES)
    again = stable(kernel, "6.4", f"mend\n\n(cherry picked from commit {mended})\n", a_c=LINES)
    auto = stable(kernel, "6.3", f"mend\n\n[ Upstream commit {kernel.repair} ]\n", a_c=LINES)
    found = look(make(kernel.path), mended)
    assert [found[f"linux-6.{minor}.y"].commit for minor in (5, 4, 3, 2)] == [
        mended,
        again,
        auto,
        "",
    ]
    assert found["linux-6.2.y"].standing is Standing.APPLIES


def test_who_only_speaks_of_a_repair_does_not_have_it(kernel, make):
    stable(
        kernel, "6.2", f"other\n\nNot like commit {kernel.repair} upstream.\nsee {kernel.repair}"
    )
    assert standings(make(kernel.path), kernel.repair)["linux-6.2.y"] == "applies"


def test_a_repair_that_was_taken_back_is_not_there(kernel, make):
    said = "mend\n\ncommit {} upstream.\n"
    taken = stable(kernel, "6.2", said.format(kernel.repair), a_c=LINES)
    revert = stable(kernel, "6.2", f"Revert it\n\nThis reverts commit {taken[:12]}.", a_c=BROKEN)
    found = look(make(kernel.path), kernel.repair)["linux-6.2.y"]
    assert (found.standing, found.commit) == (Standing.REVERTED, taken)
    stable(kernel, "6.2", f"Reapply it\n\nThis reverts commit {revert}.", a_c=LINES)
    found = look(make(kernel.path), kernel.repair)["linux-6.2.y"]
    assert (found.standing, found.commit) == (Standing.HAS, taken)


def test_a_series_without_the_fault_needs_no_repair(kernel, make):
    kernel("checkout", "-q", "-b", "linux-5.9.y", f"{kernel.broken}^")
    kernel.commit("other", b_c="b\n")
    kernel("checkout", "-q", "main")
    told = standings(make(kernel.path), kernel.repair)
    assert (told["linux-5.9.y"], told["linux-6.1.y"]) == ("unaffected", "applies")
    kernel("checkout", "-q", "linux-5.9.y")
    kernel.commit(f"break\n\n[ Upstream commit {kernel.broken} ]", a_c=BROKEN)
    kernel("checkout", "-q", "main")
    assert standings(make(kernel.path), kernel.repair)["linux-5.9.y"] == "applies"


def test_the_ends_of_a_campaign_are_of_one_series(kernel, make):
    end = kernel("rev-parse", "v6.2.1^{commit}")
    found = look(make(kernel.path), kernel.repair, end, kernel.repair)
    assert [name for name, each in found.items() if each.tested] == ["linux-6.2.y"]
    found = look(make(kernel.path), kernel.repair, kernel("rev-parse", "v6.3"))
    assert [name for name, each in found.items() if each.tested] == ["linux-6.3.y"]


def test_tags_tell_of_a_series_without_a_branch_and_of_one_that_was_not_pulled(kernel, make):
    newest = kernel("rev-parse", "linux-6.2.y")
    kernel("branch", "-D", "linux-6.2.y")
    kernel("tag", "v6.2.10", newest)
    found = look(make(kernel.path), kernel.repair)["linux-6.2.y"]
    assert (found.tip, found.release) == (newest, "v6.2.10")


def test_what_git_does_not_tell_in_time_is_unknown(kernel, make, monkeypatch):
    monkeypatch.setattr(series, "LIMIT_S", 0.0)
    assert set(standings(make(kernel.path), kernel.repair).values()) == {"unknown"}


def test_more_commits_than_are_read_may_hide_a_repair(kernel, make, monkeypatch):
    stable(kernel, "6.2", f"mend\n\ncommit {kernel.repair} upstream.\n", a_c=LINES)
    stable(kernel, "6.2", "other", b_c="c\n")
    monkeypatch.setattr(series, "MOST_COMMITS", 1)
    assert standings(make(kernel.path), kernel.repair)["linux-6.2.y"] == "unknown"


def test_the_series_that_live_are_looked_at(kernel, make, monkeypatch):
    monkeypatch.setattr(series, "MOST_SERIES", 1)
    monkeypatch.setitem(ENV, "GIT_COMMITTER_DATE", "2026-02-01T00:00:00+00:00")
    stable(kernel, "6.1", "newest", b_c="c\n")
    assert list(standings(make(kernel.path), kernel.repair)) == ["linux-6.1.y"]


def test_series_of_a_remote_of_the_clone_and_of_a_url(kernel, make, tmp_path):
    wanted = standings(make(kernel.path), kernel.repair)
    kernel("clone", "-q", str(kernel.path), str(tmp_path / "clone"))
    assert standings(make(tmp_path / "clone", "clone"), kernel.repair) == wanted
    url = make(f"file://{kernel.path}", "url")
    url.resolve("main")
    assert standings(url, kernel.repair) == wanted


def test_names_of_conflicting_files_are_harmless_and_few(kernel, make, monkeypatch):
    odd = [f"{letter}\x1b\n.c" for letter in "xyz"]
    repair = kernel.commit("mend more", **dict.fromkeys(odd, "mended\n"))
    stable(kernel, "6.2", "own", **dict.fromkeys(odd, "own\n"))
    monkeypatch.setattr(series, "MOST_FILES", 2)
    found = look(make(kernel.path), repair)["linux-6.2.y"]
    assert (found.standing, found.files) == (Standing.CONFLICTS, ("x??.c", "y??.c"))


def test_a_merge_is_not_picked(kernel, make):
    kernel("checkout", "-q", "-b", "side")
    kernel.commit("more", b_c="b\n")
    kernel("checkout", "-q", "main")
    kernel("merge", "-q", "--no-ff", "-m", "join", "side")
    merge = kernel("rev-parse", "main")
    assert set(standings(make(kernel.path), merge).values()) == {"unknown"}
