# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns that ran, recorded by `tools/record_campaign.py`: what they wrote is written again.

The one change to what was recorded is its origin, which NAME.origin.json says: data of an emulator
may not be mailed, and then a mail says little else. Its `facts` take the place of those of each
boot, its `device` that of the set-up's, and `synthetic` of the windows of the workload.
"""

import json
import lzma
import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from helpers.campaigns import ROOT, StillClock
from helpers.report_parts import GOLDEN, settings
from rtbisect.campaign import ab_test, assemble, session
from rtbisect.evidence.replay import Answers, ReplayedSubject, ReplayedTree
from rtbisect.model.campaign import CampaignRequest
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.model.ports import Ports
from rtbisect.model.report import Report
from rtbisect.model.result import Result
from rtbisect.model.setup import Setup
from rtbisect.report.campaign_screen import CampaignScreen
from rtbisect.report.draft import DraftMailer, keep
from rtbisect.report.input_file import read_input
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import JournalStep, StoreJournal, add_steps
from rtbisect.words.voice import voice_of_request

CAMPAIGNS = ROOT / "tests/data/campaigns"
GOLDENS = GOLDEN.parent / "recorded"
NAMES = sorted(place.name.partition(".")[0] for place in CAMPAIGNS.glob("*.json.xz"))
#: Those whose mails may leave; one of a repair whose tree has no series that could be asked.
_OF_MACHINES = {place.name.partition(".")[0] for place in CAMPAIGNS.glob("*.origin.json")}
NO_REQUEST = "stall-fix"
MAILABLE = sorted(_OF_MACHINES - {NO_REQUEST})


class RecordedTree(ReplayedTree):
    """Of campaigns that were recorded before series were looked at."""

    def tag_names(self, _shas):
        return {}

    def series(self, _repair, _ends):
        return ()


class Screen:
    """Keeps what a campaign tells a person while it runs: lines where that is no terminal, and what
    is seen on one at every so-many-th boot and at the end.
    """

    #: Boots between two looks, seconds of a boot, and columns of the pictures.
    EVERY, BOOT_S, WIDTH = 15, 13.0, 66

    def __init__(self):
        self.lines, self.seen, self._boots = [], [], 0

    def begin(self, request):
        self._campaign = CampaignScreen(request=request, clock=lambda: self._boots * self.BOOT_S)

    def shows(self, finding):
        self._campaign.hear(finding)
        return finding.kind == Searches.SPREAD and not finding.data["moved"]

    def look(self):
        self.seen.append(tuple(self._campaign.rows(self.WIDTH)))

    def say(self, line):
        self.lines.append(line)

    def step(self, what, done, total, left):
        self._campaign.step(total, left)
        self._boots += 1
        if not self._boots % self.EVERY:
            self.look()


@dataclass(kw_only=True)
class Rewritten:
    """What today's program writes of a recorded campaign, in a store of its own."""

    store: CampaignStore
    campaign: str
    result: Result
    #: None where it writes no mail.
    report: Report | None
    #: What it told on the screen, in lines, and rows of that on a terminal from time to time.
    told: list
    seen: list
    #: By the campaign that tested something for its report, the draft of the answer.
    answers: dict


def recording(name):
    """The document of a recorded campaign, and the answer that it held."""
    document = json.loads(lzma.decompress((CAMPAIGNS / f"{name}.json.xz").read_bytes()))
    held = codec.from_plain(Result, document["result"])
    origin = CAMPAIGNS / f"{name}.origin.json"
    if origin.exists():
        told = json.loads(origin.read_text("utf-8"))
        for each in (document, *document["tests"]):
            _from_there(each, told)
    return document, held


def _from_there(document, origin):
    """Make it a campaign that comes from that origin."""
    kernel = document["setup"]["kernel"]
    kernel["device"] |= origin["device"]
    for window in (*kernel["windows"], *kernel["explaining"]):
        window["synthetic"] = window["synthetic"] and origin["synthetic"]
    for step in document["journal"]:
        if step["kind"] == "Run":
            run = json.loads(step["value"])
            told = dict(run["facts"]) | origin["facts"]
            step["value"] = json.dumps(run | {"facts": list(told.items())})


def rewritten(document, folder, monkeypatch, site="", evidence=""):
    """Carry a recorded campaign out again, and the tests of its report, with files in `folder`;
    `site` stands for the site file that it was asked with, `evidence` is where that publishes.
    """
    # Message-IDs are drawn where a draft is made.
    monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)
    store = CampaignStore(Path(folder) / "state")
    mailer = DraftMailer(settings(store.state / "reports"))
    found = _carried_out(store, document, mailer, site)
    for test in document["tests"]:
        check = _carried_out(store, test, mailer, site)
        page = f"{evidence}/{found.campaign}/" if evidence else ""
        found.answers[check.campaign] = _answer(found, check, test, mailer, page)
    return found


def _carried_out(store, document, mailer, site):
    setup = codec.from_plain(Setup, document["setup"])
    answers = codec.from_plain(Answers, document["answers"])
    asked = replace(setup.request, site=site or setup.request.site)
    text = codec.to_json(CampaignRequest, asked)
    name, screen = store.create(asked.kind, text, StillClock().now_iso()), Screen()
    add_steps(store.database, name, map(JournalStep.from_row, document["journal"]))
    screen.begin(asked)
    ports = Ports(
        tree=RecordedTree(answers),
        subject=ReplayedSubject(assemble.traits_of(setup), answers),
        journal=StoreJournal(store.database, name, wall_clock=lambda: 0.0),
        mailer=mailer,
        clock=StillClock(),
        progress=assemble.SpokenProgress(screen, voice_of_request(asked)),
    )
    result, report = session.run_pipeline(setup, ports)
    store.finish(name, result, report)
    screen.look()
    return Rewritten(
        store=store, campaign=name, result=result, report=report,
        told=screen.lines, seen=screen.seen, answers={},
    )  # fmt: skip


def _answer(found, check, test, mailer, page):
    """The draft of the answer, also kept where `rtbisect report answer` looks for it."""
    question = codec.from_plain(ab_test.Question, test["question"])
    report, summary = read_input(found.report.folder), found.store.get(check.campaign).summary
    tested = ab_test.tested_by(report, question, check.campaign, check.result, summary, names=())
    tested = replace(tested, page=page)
    now_iso = StillClock().now_iso()
    text = ab_test.answer_mail(mailer, report, tested, test["asked_by"], now_iso)
    keep(found.report.folder / f"answer-{check.campaign}.eml", text)
    return text
