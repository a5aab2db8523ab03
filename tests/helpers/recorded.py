# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns that ran, recorded by `tools/record_campaign.py`: their mails are written again.

The one change to what was recorded is its origin, which NAME.origin.json says: data of an emulator
may not be mailed, and then a mail says little else. Its `facts` take the place of those of each
boot, its `device` that of the set-up's, and `synthetic` of the windows of the workload.
"""

import json
import lzma
import secrets
from pathlib import Path

from helpers.campaigns import ROOT, StillClock
from helpers.report_parts import settings
from rtbisect.campaign import assemble
from rtbisect.evidence.replay import Answers, ReplayedSubject, ReplayedTree, Silence
from rtbisect.model.ports import Ports
from rtbisect.model.setup import Setup
from rtbisect.pipeline import bisect
from rtbisect.report.draft import DraftMailer
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import JournalStep, StoreJournal, add_steps

CAMPAIGNS = ROOT / "tests/data/campaigns"
NAMES = sorted(place.name.partition(".")[0] for place in CAMPAIGNS.glob("*.json.xz"))


class RecordedTree(ReplayedTree):
    """Of campaigns that were recorded before series were looked at."""

    def series(self, _repair, _ends):
        return ()


def of_origin(document, origin):
    """The recorded campaign as if it came from there."""
    kernel = document["setup"]["kernel"]
    kernel["device"] |= origin["device"]
    for window in (*kernel["windows"], *kernel["explaining"]):
        window["synthetic"] = window["synthetic"] and origin["synthetic"]
    for step in document["journal"]:
        if step["kind"] == "Run":
            run = json.loads(step["value"])
            told = dict(run["facts"]) | origin["facts"]
            step["value"] = json.dumps(run | {"facts": list(told.items())})
    return document


def written(name, folder, monkeypatch):
    """The result of the recorded campaign and the draft that its mailer writes into `folder`."""
    document = json.loads(lzma.decompress((CAMPAIGNS / f"{name}.json.xz").read_bytes()))
    origin = CAMPAIGNS / f"{name}.origin.json"
    if origin.exists():
        document = of_origin(document, json.loads(origin.read_text("utf-8")))
    setup = codec.from_plain(Setup, document["setup"])
    answers = codec.from_plain(Answers, document["answers"])
    store = CampaignStore(Path(folder) / "state")
    campaign = store.create(setup.request.kind, "{}", "")
    add_steps(store.database, campaign, map(JournalStep.from_row, document["journal"]))
    # Its Message-ID is drawn where a draft is made.
    monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)
    ports = Ports(
        tree=RecordedTree(answers),
        subject=ReplayedSubject(assemble.traits_of(setup), answers),
        journal=StoreJournal(store.database, campaign, wall_clock=lambda: 0.0),
        mailer=DraftMailer(settings(Path(folder) / "reports")),
        clock=StillClock(),
        progress=Silence(),
    )
    return bisect.bisect(setup, ports)
