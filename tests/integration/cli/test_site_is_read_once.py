# SPDX-License-Identifier: GPL-2.0-or-later
"""A command reads its site file once: all that it does follows from one and the same."""

import builtins
import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.mail_world import USE, WHO, World
from helpers.report_cases import BOARD, rcu
from helpers.results import culprit_result
from rtbisect.campaign import assemble, labs, session
from rtbisect.model.campaign import CampaignRequest
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore


@pytest.fixture
def world(tmp_path, capsys, monkeypatch):
    """A site whose lab takes every job, and campaigns that blame the newest commit at once."""
    found = World(tmp_path, capsys)
    found._git("commit", "-q", "--allow-empty", "-m", "rcu: Scan less")
    found.newest = found._git("rev-parse", "HEAD")
    found.place = found.site

    def answered(setup, _parts, _further):
        return culprit_result(setup.request.newer, 0.9), None

    lab = SimpleNamespace(preflight=lambda _request: None, leave=lambda: None)
    monkeypatch.setattr(assemble, "MACHINE_LOCK", tmp_path / "machine.lock")
    monkeypatch.setattr(assemble.KernelBuilder, "preflight", lambda _builder: None)
    monkeypatch.setattr(labs, "lab_of", lambda *_words: lab)
    monkeypatch.setattr(session, "run_pipeline", answered)
    monkeypatch.setenv("RTBISECT_SITE", str(found.place))
    return found


@pytest.fixture
def opened(world, monkeypatch):
    """What was opened of the site file."""
    found = []
    for where in (builtins, io):
        kept = where.open

        def counting(file, *words, kept=kept, **more):
            if isinstance(file, (str, Path)) and Path(file) == world.place:
                found.append(file)
            return kept(file, *words, **more)

        monkeypatch.setattr(where, "open", counting)
    return found


def test_the_count_sees_a_second_one(world, opened):
    world.place.read_bytes()
    with open(str(world.place)):  # noqa: PTH123  (as a library does)
        assert len(opened) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("bisect", "stable-rt", "--good", "HEAD~1", "--bad", "HEAD"),
        ("check", "stable-rt", "--base", "HEAD~1"),
        ("try", "linux-6.12.y-rt", "--tree", "stable-rt", "--suite", "rcu", "--limit", "900"),
        ("config", "check"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_reads_the_site_file_once(world, opened, words):
    code, data = world(*words)
    assert "error" not in data, data
    assert code in (0, 1, 125)
    assert len(opened) == 1


def test_a_campaign_that_goes_on_reads_it_once(world, opened):
    asked = CampaignRequest(
        kind="bisect", site=str(world.place), tree="stable-rt", older=world.sha, newer=world.newest
    )
    store = CampaignStore(world.state)
    name = store.create("bisect", codec.to_json(CampaignRequest, asked), "2026-01-02T03:04:05Z")
    code, data = world("resume", name)
    assert (code, data["culprit"]) == (0, world.newest)
    # The answer has what git says of the commit, and git knows the tree by the site.
    assert [each["subject"] for each in data["commits"]] == ["rcu: Scan less"]
    assert len(opened) == 1


def test_a_command_of_ones_own_reads_none(world, opened):
    words = ("--good", "HEAD~1", "--bad", "HEAD", "--pass-fail", "--", "true")
    code, data = world("run", "--json", "--repo", str(world.tree), *words)
    assert (code, len(data["commits"])) == (0, 1)
    assert opened == []


def test_who_answers_for_a_mail_reads_it_once(world, opened):
    name = world.campaign(rcu(), device=BOARD)
    for words in (
        ("propose", name, "--by", WHO, "--use-case", USE),
        ("approve", name, "--by", WHO),
    ):
        opened.clear()
        code, data = world("report", *words)
        assert code == 0, data
        assert len(opened) == 1
