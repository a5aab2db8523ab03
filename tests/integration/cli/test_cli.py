# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line as a child process: commands, words, revisions and suites that are none.

Real git repositories and site files, no kernels and no QEMU.
"""

import os
import re

import click
import pytest

from helpers.command_line import bisect, git, site_text
from rtbisect.campaign import resolve
from rtbisect.cli import app
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError
from rtbisect.mail import commands as asked_by_mail
from rtbisect.model.campaign import CampaignRequest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nosuch",), "No such command 'nosuch'"),
        (("nosuch\x1b[2J\nx",), "No such command"),
        (("status", "--nosuch"), "No such option '--nosuch'"),
        (("bisect", "rt", "--good", "a"), "Missing option '--bad'"),
        (("bisect", "rt", "--good", "a", "--bad", "b", "--seed", "x"), "--seed"),
        (("try", "--tree", "rt"), "Missing argument 'REVISION'"),
    ],
)
def test_wrong_words_are_one_line_with_the_help_to_read(cli, words, said):
    code = 130 if words[:1] == ("try",) else 2
    line = cli.refused(code, *words)
    assert said in line
    assert "--help`" in line


@pytest.mark.parametrize("words", [(), ("config",), ("report",)], ids=" ".join)
def test_a_group_alone_asks_for_a_command(cli, words):
    done = cli.run(*words)
    help_of = " ".join(("rtbisect", *words, "--help"))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"rtbisect: Missing command; see `{help_of}`\n"


def commands():
    """Every command as words, groups too."""
    found = [()]
    for name, one in app.main.commands.items():
        found.append((name,))
        if isinstance(one, click.Group):
            found += [(name, inner) for inner in one.commands]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_help_has_an_example_and_fits_a_terminal(cli, words):
    done = cli.run(*words, "--help", env={"COLUMNS": "300"})
    assert (done.code, done.err) == (0, "")
    assert re.search(r"Example: rtbisect|Example: git bisect run rtbisect", done.out)
    assert max(len(line) for line in done.out.splitlines()) <= 100


@pytest.mark.parametrize(
    "revision",
    ["nosuch", "-x", "--upload-pack=x", "a\nb", "\x1b[2Jx", b"\xff\xfe", "v1..main", "", " "],
)
def test_a_revision_that_is_none(cli, revision):
    text = revision if isinstance(revision, str) else os.fsdecode(revision)
    line = cli.refused(2, "bisect", "rt", f"--good={text}", "--bad=main")
    assert "is no commit in" in line or "is not a revision" in line


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("v1", "v1", "good and bad are the same commit"),
        ("main", "v1", "is older than"),
        ("alone", "main", "have no common history"),
    ],
)
def test_ends_that_are_no_range(cli, good, bad, said):
    line = cli.refused(2, *bisect(good, bad))
    assert said in line
    if good == "main":
        assert "exchange --good and --bad" in line
    assert cli.run("status", "--json").data["campaigns"] == []


def test_check_of_a_tip_against_itself(cli):
    assert "same commit" in cli.refused(2, "check", "rt", "--base", "main")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--suite", "noise"), "unknown suite 'noise'; there are: ipi, osnoise, rcu"),
        (("--suite", "rcu", "--metric", "p51"), "unknown metric 'p51' of suite rcu; there are:"),
        (("--metric", "p50_us"), "--metric needs --suite; give both"),
    ],
)
def test_a_suite_or_metric_that_is_none(cli, words, said):
    assert said in cli.refused(2, *bisect("v1", "main"), *words)
    assert said in cli.refused(130, "try", "main", "--tree", "rt", *words)


def test_a_shallow_clone_is_refused(cli, repo, tmp_path):
    git(tmp_path, "clone", "--quiet", "--depth=2", "--branch=main", f"file://{repo[0]}", "cut")
    cli.site.write_text(site_text(tmp_path / "cut"))
    line = cli.refused(2, *bisect("HEAD~1", "main"))
    assert "shallow" in line
    assert "--unshallow" in line


def test_a_repository_that_is_gone(cli, tmp_path):
    cli.site.write_text(site_text(tmp_path / "gone"))
    assert "is not there" in cli.refused(2, *bisect("v1", "main"))


def test_head_of_a_url_means_nothing(tmp_path):
    place = tmp_path / "site.yaml"
    place.write_text(site_text("https://git.example.org/linux.git"))
    with pytest.raises(ConfigError, match="says nothing about"):
        resolve.ends_of_tree(tmp_path, load_site(place), "rt", ("HEAD~3",), "v1", None, None)


def test_a_good_end_beside_the_bad_one_gives_way_to_their_merge_base(cli, repo):
    """As `run` does; the newer end stays what it is."""
    _where, shas = repo
    site = load_site(cli.site)
    for good, given in (("side", shas["s"]), ("v1", "")):
        found = resolve.ends_of_tree(cli.state, site, "rt", (good,), "main", None, None)
        assert found == resolve.SearchEnds(shas["b"], shas["d"], given)


def test_a_search_that_a_reply_asks_for_has_the_merge_base_of_its_own_ends(cli, repo):
    _where, shas = repo
    reported = CampaignRequest(
        kind="bisect",
        site=str(cli.site),
        tree="rt",
        older="a",
        newer="b",
        extra=(("given", "f" * 40),),
    )
    for ends, extra in (("side main", (("given", shas["s"]),)), ("v1 main", ())):
        found = asked_by_mail._bisection_request(cli.state, load_site(cli.site), reported, ends)
        assert (found.older, found.newer, found.extra) == (shas["b"], shas["d"], extra)


def test_head_of_try_is_that_of_the_checkout(cli, repo, tmp_path, monkeypatch):
    where, shas = repo
    git(where, "worktree", "add", "--quiet", "--detach", str(tmp_path / "w"), shas["s"])
    try:
        monkeypatch.chdir(tmp_path / "w")
        site = load_site(cli.site)
        found = [
            resolve.one_revision(cli.state, site, "rt", name, None, None)
            for name in ("HEAD", "HEAD~1", "main")
        ]
        assert found == [shas["s"], shas["b"], shas["d"]]
        monkeypatch.chdir(tmp_path)
        assert resolve.one_revision(cli.state, site, "rt", "HEAD", None, None) == shas["d"]
    finally:
        git(where, "worktree", "remove", "--force", str(tmp_path / "w"))


def test_try_maps_errors_so_that_git_stops(cli):
    assert "no commit" in cli.refused(130, "try", "nosuch", "--tree", "rt")
    assert "No such option" in cli.refused(130, "--nosuch", "try", "main")
    assert "--limit nan" in cli.refused(130, "try", "main", "--tree", "rt", "--limit", "nan")
    with cli.store.writer():
        line = cli.refused(133, "try", "main", "--tree", "rt", "--limit", "0.2")
        assert "in use" in line


def test_try_without_any_limit_is_refused_before_it_costs(cli):
    line = cli.refused(130, "try", "main", "--tree", "rt", "--suite", "rcu")
    assert "has no limit; give one with --limit" in line


def test_a_tree_that_is_called_try_is_no_try(cli):
    assert "unknown tree" in cli.refused(2, "check", "try")


def test_a_server_is_asked_by_its_url_alone(cli):
    done = cli.run("lab", "check", "https://lava.example.org x")
    assert (done.code, "is no address of a server" in done.err) == (2, True)
    done = cli.run("lab", "check", "http://127.0.0.1:9", "--json")
    assert (done.code, done.data["usable"]) == (3, False)
    assert set(done.data["claims"][0]) == {"claim", "holds", "said"}
