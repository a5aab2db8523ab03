# SPDX-License-Identifier: GPL-2.0-or-later
"""Which program is started in the tree of each revision, by where one stands."""

import pytest

from helpers.repositories import Repo
from rtbisect.campaign.resolve import command_words
from rtbisect.errors import ConfigError
from rtbisect.trees.overlay import pack


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "home/.config/git").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def made(repo, home):
    made = Repo(repo)
    made.commit("start", bench_sh="1\n", sub__bench_sh="2\n", sub__other_sh="3\n")
    (repo / "bench").write_text("mine\n")
    return made


@pytest.mark.parametrize(
    ("stands", "program", "started"),
    [
        (".", "./bench.sh", "./bench.sh"),
        (".", "sub/bench.sh", "sub/bench.sh"),
        (".", "{repo}/sub/bench.sh", "./sub/bench.sh"),
        (".", "{link}/bench.sh", "./bench.sh"),
        ("sub", "./bench.sh", "./sub/bench.sh"),
        ("sub", "../bench.sh", "./bench.sh"),
        ("sub", "./sub/other.sh", "./sub/other.sh"),
        ("..", "./sub/other.sh", "./sub/other.sh"),
        (".", "./bench", "{repo}/bench"),
    ],
)
def test_a_committed_script_is_that_of_each_revision(
    tmp_path, repo, made, monkeypatch, stands, program, started
):
    (tmp_path / "link").symlink_to(repo)
    monkeypatch.chdir(repo / stands)
    places = {"repo": repo, "link": tmp_path / "link"}
    words = command_words((program.format(**places), "-x"), repo)
    assert words == (started.format(**places), "-x")


def test_what_a_build_makes_is_named_from_the_top_of_a_repository_elsewhere(
    tmp_path, repo, made, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert command_words(("./out/new",), repo, built=True) == ("./out/new",)
    for program, built in (("./new", False), ("../new", True), ("./bench", True)):
        with pytest.raises(ConfigError):
            command_words((program,), repo, built=built)


@pytest.mark.parametrize("by", ["usual", "named", "repository"])
def test_what_its_owner_ignores_everywhere_is_that_of_each_revision(
    repo, made, home, monkeypatch, by
):
    monkeypatch.chdir(repo)
    assert command_words(("./bench",), repo, built=True) == (str(repo / "bench"),)
    (repo / "sub/more").write_text("x\n")
    whole, _ = pack(repo, [repo / "sub"])
    if by != "usual":
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    if by == "repository":
        made("config", "core.excludesFile", "~/of-this-one")
    places = {"usual": ".config/git/ignore", "named": "mine", "repository": "of-this-one"}
    place = home / places[by]
    place.write_text("bench\nmore\n")
    assert command_words(("./bench",), repo, built=True) == ("./bench",)
    assert pack(repo, [repo / "sub"])[0] != whole
