# SPDX-License-Identifier: GPL-2.0-or-later
"""A branch whose commits claim to mend a report is tested until boots decide, and not for ever."""

import json
from types import SimpleNamespace

import pytest

from helpers.mail_world import USE, WHO, World, needs_tools
from helpers.report_cases import rcu
from rtbisect.campaign.ab_test import AnswerDraft
from rtbisect.cli import report as command
from rtbisect.mail.fixes import FOLLOWED, MOST_OPEN
from rtbisect.model.campaign import Level
from rtbisect.store.campaigns import CampaignStore

pytestmark = needs_tools


class Branch:
    """A report that has left, and a branch whose tests answer `level`."""

    def __init__(self, world):
        self.world = world
        self.level = Level.UNDECIDED
        self.tested = []
        self.name = world.campaign(rcu(), newer=world.sha)
        world("report", "propose", self.name, "--by", WHO, "--use-case", USE)
        world("report", "approve", self.name, "--by", WHO)
        world("mail", "send", "--site", str(world.site))

    def commit(self, message):
        (self.world.tree / "kernel/rcu/tree.c").write_text(f"int x; /* {message} */\n")
        self.world._git("commit", "-qam", f"rcu: something\n\n{message}")

    def once(self, _state, request, _progress):
        self.tested.append(request.newer)
        return SimpleNamespace(id="check-1")

    def write_answer(self, *_question):
        return AnswerDraft(
            path=self.world.root / "a.eml", text="", level=self.level, judgement=None,
            partly=False, mailable=True,
        )  # fmt: skip

    def follow(self):
        """Its level, or why it was not tested."""
        _, told = self.world("report", "follow", "--site", str(self.world.site))
        (row,) = told["reports"]
        return row["level"] or row["note"]

    @property
    def path(self):
        return CampaignStore(self.world.state).get(self.name).draft().folder / FOLLOWED


@pytest.fixture
def branch(tmp_path, capsys, monkeypatch):
    made = Branch(World(tmp_path, capsys))
    monkeypatch.setattr(command.session, "once", made.once)
    monkeypatch.setattr(command.ab_test, "write_answer", made.write_answer)
    made.commit(f"Fixes: {made.world.sha[:12]}")
    return made


def test_what_stays_open_is_tested_again_when_the_branch_has_moved(branch):
    assert branch.follow() == "open"
    assert branch.follow() == "tested before"
    branch.commit("Nothing of it.")
    branch.level = Level.REGRESSED
    assert branch.follow() == "better"
    assert len(set(branch.tested)) == 2
    assert CampaignStore(branch.world.state).get(branch.name).report.state == "fixed"


def test_what_is_decided_is_tested_once(branch):
    branch.level = Level.PASS
    assert branch.follow() == "same"
    branch.commit("Nothing of it.")
    assert branch.follow() == "tested before"


def test_what_stays_open_is_not_tested_for_ever(branch):
    for number in range(MOST_OPEN):
        assert branch.follow() == "open"
        branch.commit(f"Nothing of it, {number}.")
    assert branch.follow() == "tested before"
    # Another commit that claims it is another question.
    branch.commit(f"Fixes: {branch.world.sha[:12]} again")
    assert branch.follow() == "open"


@pytest.mark.parametrize("damaged", [False, True])
def test_what_an_older_program_tested_may_have_stayed_open(branch, damaged):
    branch.follow()
    commits = json.loads(branch.path.read_text())["commits"]
    branch.path.write_text("[" if damaged else json.dumps(commits))
    branch.level = Level.PASS
    assert branch.follow() == "same"
    assert branch.follow() == "tested before"
