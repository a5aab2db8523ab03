# SPDX-License-Identifier: GPL-2.0-or-later
"""A finished campaign as test data: what its mails are written from, in one file.

    .venv/bin/python tools/record_campaign.py STATE CAMPAIGN tests/data/campaigns/NAME.json.xz

The journal, the set-up and what tree and builds were asked, as `rtbisect report bundle` has them,
without kernels and without the recorded draft. With `--test CHECK` also the campaigns that tested
something for its report, each with its question: that of the reply which asked, else what the mail
of `--patch` has, else a revision. The state directory, and each that `--was` names because the
campaign began there, is called /srv/rtbisect in it.
Tests write the mails of it again (`tests/helpers/recorded.py`).
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect import __version__
from rtbisect.campaign.ab_test import Question, called
from rtbisect.errors import ConfigError, RtbisectError
from rtbisect.evidence.bundle import evidence_of
from rtbisect.evidence.replay import Answers
from rtbisect.model.result import Result
from rtbisect.model.setup import Setup
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignRecord, CampaignStore
from rtbisect.store.replies import Replies
from rtbisect.trees.mime import UnreadableError
from rtbisect.trees.patches import patches_of
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.finding import Finding

#: What stands for the state directory of the machine that recorded it.
PLACE = "/srv/rtbisect"

Document = dict[str, object]


def recorded(
    state: Path,
    campaign: str,
    places: Sequence[Path],
    checks: Sequence[str] = (),
    patch: bytes = b"",
) -> Document:
    """The campaign, and the `checks` of its report, the `patch` being what they tested where no
    reply asked for them; the state directory and `places` have another name in it.
    """
    store = CampaignStore(state)
    document = _evidence(state, store.get(campaign))
    document["tests"] = [
        _evidence(state, check) | _question(state, campaign, check, patch)
        for check in map(store.get, checks)
    ]
    text = json.dumps(document)
    for place in (*places, state):
        text = text.replace(str(place), PLACE)
    renamed: Document = json.loads(text)
    return renamed


def _evidence(state: Path, record: CampaignRecord) -> Document:
    if record.result is None:
        raise ConfigError(f"campaign {record.id} is not finished", f"`rtbisect resume {record.id}`")
    evidence = evidence_of(state, record)
    return {
        "campaign": record.id,
        "rtbisect": __version__,
        "result": codec.to_plain(Result, evidence.result),
        "setup": codec.to_plain(Setup, evidence.setup),
        "answers": codec.to_plain(Answers, evidence.answers),
        "journal": [step.as_row() for step in evidence.steps if step.key != "report"],
    }


def _question(state: Path, campaign: str, check: CampaignRecord, patch: bytes) -> Document:
    """What the check was to answer, and the Message-ID of the mail that asked; "": none did."""
    asked = replace(check.request, repo="")
    replies = Replies(state)
    for reply in replies.all():
        for place in range(len(reply.asked)):
            data = replies.question(reply.key, place)
            question = codec.from_json(Question, data) if data else None
            if question and (reply.campaign, replace(question.request, repo="")) == (
                campaign,
                asked,
            ):
                return _kept(question, reply.message_id)
    return _kept(Question(check.request, _called(patch) if patch else None), "")


def _called(mail: bytes) -> Finding:
    try:
        patches = patches_of(mail)
    except UnreadableError as error:
        raise ConfigError(f"the mail {speak(error.why)}", "give the one that was tested") from error
    if not patches:
        raise ConfigError("the mail has no patch", "give the one that was tested")
    return called(patches)


def _kept(question: Question, asked_by: str) -> Document:
    return {"question": codec.to_plain(Question, question), "asked_by": asked_by}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("state", type=Path)
    parser.add_argument("campaign")
    parser.add_argument("file", type=Path)
    parser.add_argument("--was", type=Path, action="append", default=[])
    parser.add_argument("--test", action="append", default=[], metavar="CHECK")
    parser.add_argument("--patch", type=Path, help="mail or mbox that `report test` was given")
    given = parser.parse_args()
    try:
        patch = given.patch.read_bytes() if given.patch else b""
        whole = recorded(given.state.absolute(), given.campaign, given.was, given.test, patch)
    except (OSError, RtbisectError) as error:
        sys.stderr.write(f"record_campaign: {error}\n")
        return 2
    given.file.parent.mkdir(parents=True, exist_ok=True)
    document = json.dumps(whole, sort_keys=True)
    given.file.write_bytes(lzma.compress(document.encode(), preset=9))
    return 0


if __name__ == "__main__":
    sys.exit(main())
