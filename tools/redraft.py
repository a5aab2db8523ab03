# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails of finished campaigns as today's templates write them, from what the drafts keep.

    .venv/bin/python tools/redraft.py demo-12 demo-13
    .venv/bin/python tools/redraft.py --repo https://git.example.org/linux.git demo-12

For who changes a template: without a boot. Sentences of the search and of the gates stay as they
were recorded. With --repo the mail names another place to clone from.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from rtbisect.campaign.trees import command_tree
from rtbisect.config.paths import data, state_dir
from rtbisect.model.code import CommitGraph
from rtbisect.model.report import ReportInput
from rtbisect.report.draft import DraftMailer, ReportSettings, bisect_log_of
from rtbisect.store import codec


def kept(state: Path, campaign: str) -> ReportInput:
    """What the draft of a campaign was made from; its commit graph comes from the repository."""
    place = state / "reports" / campaign / "result.json"
    data = json.loads(place.read_text("utf-8"))
    repo = data["repo"].removeprefix("file://")
    graph = command_tree(state, repo).graph(data["good"], data["bad"])
    data["graph"] = codec.to_plain(CommitGraph, graph)
    return codec.from_plain(ReportInput, data)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("campaigns", nargs="+", metavar="CAMPAIGN")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--repo", help="where the mail says the tree is cloned from")
    parser.add_argument("--out", type=Path, help="folder for CAMPAIGN.txt; else on stdout")
    asked = parser.parse_args()
    state = state_dir(asked.state)
    mailer = DraftMailer(ReportSettings(Path(), data("reports"), "operator@lab.example.org"))
    for campaign in asked.campaigns:
        report = kept(state, campaign)
        if asked.repo:
            report = replace(report, repo=asked.repo)
        body = mailer.body(report, bisect_log_of(report))
        if asked.out is None:
            print(body)
        else:
            asked.out.mkdir(parents=True, exist_ok=True)
            (asked.out / f"{campaign}.txt").write_text(body, "ascii")
        print(f"{campaign}: {body.count(chr(10))} lines, {len(body)} bytes", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
