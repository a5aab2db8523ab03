# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign as test data: what was recorded of it writes what it wrote, of every ending."""

import json
import secrets
from dataclasses import replace

import pytest

import record_campaign
from helpers.campaigns import as_kept, sha, world
from helpers.recorded import Screen, rewritten
from helpers.report_parts import settings
from rtbisect.campaign import ab_test, assemble, session
from rtbisect.config.site_file import SiteFiles
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import CampaignKind, CampaignRequest, Level, Limits, Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Newer
from rtbisect.model.lab import RunStatus
from rtbisect.report.draft import DraftMailer
from rtbisect.report.input_file import read_input
from rtbisect.store import codec
from rtbisect.store.journal import StoreJournal
from rtbisect.store.replies import KeptReply, Replies, ReplyState
from rtbisect.words.voice import voice_of_request

BAD = 5
#: Takes the culprit back, see `boots`.
MENDED = sha(10**6)
PATCH = b"""\
Subject: [PATCH] take it back

--- a/x
+++ b/x
@@ -1 +1 @@
-1
+2
"""
ASKED_BY = "<fix@kernel.example.org>"


class Ran:
    """Campaigns of one store on the fake lab."""

    def __init__(self, here, monkeypatch):
        self.world, self.store = here, here.store
        here.mailer = DraftMailer(settings(here.store.state / "reports"))
        monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)
        monkeypatch.setattr(SiteFiles, "of_campaign", lambda *_words: None)
        monkeypatch.setattr(assemble, "assemble", self._assembled)

    def _assembled(self, _state, _site, request, journal, _screen):
        self.world.request = request
        setup, parts = self.world.open()
        return setup, replace(parts, journal=journal)

    def carry_out(self, name):
        """What the campaign told, its answer and its report."""
        request, screen = self.store.get(name).request, Screen()
        journal = StoreJournal(self.store.database, name, wall_clock=lambda: 0.0)
        setup, parts = assemble.assemble(self.store.state, None, request, journal, screen)
        screen.begin(request)
        spoken = assemble.SpokenProgress(screen, voice_of_request(request))
        result, report = session.run_pipeline(setup, replace(parts, progress=spoken))
        self.store.finish(name, result, report)
        return screen.lines, result, report

    def recorded(self, *words):
        document = record_campaign.recorded(self.store.state, self.world.campaign, (), *words)
        return json.loads(json.dumps(document))


ENDINGS = {
    Outcome.CULPRIT: lambda state: world(state, BAD),
    Outcome.NO_REGRESSION: lambda state: world(state, None),
    # The budget ends before the search has.
    Outcome.INCONCLUSIVE: lambda state: world(state, BAD, limits=Limits(max_boots=14)),
}


@pytest.mark.parametrize("outcome", ENDINGS, ids=str)
def test_a_recorded_campaign_writes_what_it_wrote(outcome, tmp_path, monkeypatch):
    ran = Ran(ENDINGS[outcome](tmp_path / "state"), monkeypatch)
    told, result, report = ran.carry_out(ran.world.campaign)
    assert result.outcome is outcome
    found = rewritten(ran.recorded(), tmp_path / "again", monkeypatch)
    assert (found.told, found.result) == (told, result)
    assert (report is None) is (outcome is Outcome.NO_REGRESSION)
    if report is not None:
        assert (found.report.eml, found.report.story) == (report.eml, report.story)


def compared(here, newer, site="s"):
    """A campaign that compares the bad end with something on top of it: its name."""
    here.reverts[(here.graph.newer, "a patch")] = newer
    request = CampaignRequest(
        kind=CampaignKind.CHECK, site=site, tree="t", older=here.graph.newer, newer=newer
    )
    return here.store.create(request.kind, as_kept(request), "now")


@pytest.mark.parametrize(
    ("newer", "script", "outcome"),
    [
        (MENDED, {}, Outcome.NO_REGRESSION),
        (sha(9), {sha(9): [RunStatus.BOOT_FAILED] * 9}, Outcome.INCONCLUSIVE),
    ],
)
def test_a_recorded_comparison_tells_what_it_told(newer, script, outcome, tmp_path, monkeypatch):
    ran = Ran(world(tmp_path / "state", BAD, script=script), monkeypatch)
    ran.world.campaign = compared(ran.world, newer)
    told, result, report = ran.carry_out(ran.world.campaign)
    assert (result.outcome, report) == (outcome, None)
    found = rewritten(ran.recorded(), tmp_path / "again", monkeypatch)
    assert (found.told, found.result, found.report) == (told, result, None)


def asked_by_mail(store, campaign, check):
    """A reply whose command is what the check answers, behind one with another command."""
    replies = Replies(store.state)
    for key, newer in (("other", sha(7)), ("this", MENDED)):
        question = ab_test.Question(
            replace(check.request, newer=newer), Finding.of(Newer.SERIES, title="mend it", others=2)
        )
        reply = KeptReply(
            key=key, message_id=f"<{key}@kernel.example.org>", campaign=campaign,
            sender="zo@kernel.example.org", subject="Re: it", at="2026-01-02T03:04:05+00:00",
            asked=(("invalid", ""), ("test", "")), state=ReplyState.DONE,
        )  # fmt: skip
        replies.put(replace(reply, asked=json.dumps(reply.asked)), PATCH)
        replies.keep_question(key, 1, codec.to_json(ab_test.Question, question).encode())


@pytest.mark.parametrize("how", ["mail", "patch", "revision"])
def test_the_answer_to_a_patch_is_written_again(how, tmp_path, monkeypatch):
    ran = Ran(world(tmp_path / "state", BAD), monkeypatch)
    _told, _result, report = ran.carry_out(ran.world.campaign)
    name = compared(ran.world, MENDED)
    ran.carry_out(name)
    check = ran.store.get(name)
    if how == "mail":
        asked_by_mail(ran.store, ran.world.campaign, check)
    what = {
        "mail": Finding.of(Newer.SERIES, title="mend it", others=2),
        "patch": Finding.of(Newer.PATCH, title="take it back"),
        "revision": None,
    }[how]
    question = ab_test.Question(check.request, what)
    tested = ab_test.tested_by(
        read_input(report.folder), question, name, check.result, check.summary, names=()
    )
    assert tested.judgement.level is Level.REGRESSED
    text = ab_test.answer_mail(
        ran.world.mailer, read_input(report.folder), tested,
        "<this@kernel.example.org>" if how == "mail" else "", "2026-01-02T03:04:05+00:00",
    )  # fmt: skip
    document = ran.recorded((name,), PATCH if how == "patch" else b"")
    found = rewritten(document, tmp_path / "again", monkeypatch)
    assert found.answers == {name: text}
    kept = found.report.folder / f"answer-{name}.eml"
    assert kept.read_text("ascii") == text


def test_what_cannot_be_recorded_is_said_in_a_line(tmp_path, monkeypatch):
    ran = Ran(world(tmp_path / "state", BAD), monkeypatch)
    with pytest.raises(ConfigError, match="is not finished"):
        ran.recorded()
    ran.carry_out(ran.world.campaign)
    name = compared(ran.world, MENDED)
    with pytest.raises(ConfigError, match=f"{name} is not finished"):
        ran.recorded((name,))
    ran.carry_out(name)
    with pytest.raises(ConfigError, match="has no patch"):
        ran.recorded((name,), b"Subject: hello\n\nno diff\n")


def test_the_state_directory_has_another_name(tmp_path, monkeypatch):
    ran = Ran(world(tmp_path / "state", None), monkeypatch)
    ran.world.campaign = compared(ran.world, MENDED, site=str(tmp_path / "state/site.yaml"))
    ran.carry_out(ran.world.campaign)
    document = ran.recorded()
    assert str(tmp_path) not in json.dumps(document)
    assert document["setup"]["request"]["site"] == f"{record_campaign.PLACE}/site.yaml"
