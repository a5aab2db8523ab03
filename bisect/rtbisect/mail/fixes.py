# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports that people have, held against what the tree has become: commits that say they mend what
was reported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rtbisect.campaign import trees
from rtbisect.config.site_file import load_site
from rtbisect.errors import (
    BusyError,
    ConfigError,
    InfrastructureError,
    InternalError,
    RtbisectError,
)
from rtbisect.mail.result_mail import OPEN
from rtbisect.report.draft import keep
from rtbisect.store.campaigns import CampaignRecord, CampaignStore

#: Tests of the branch for the same commits that may stay open: each is of a newer head.
MOST_OPEN = 3

#: File beside the draft of a report that tells what was tested for it.
FOLLOWED = "followed.json"


@dataclass(frozen=True, slots=True)
class Mended:
    """A report, and commits at the head of its branch that say they mend it."""

    record: CampaignRecord
    #: Shas, oldest first; at least one unless there is an error.
    commits: tuple[str, ...]
    #: Why its tree cannot be looked at now.
    error: RtbisectError | None = None
    #: The head of the branch.
    head: str = ""

    @property
    def _path(self) -> Path:
        return self.record.draft().folder / FOLLOWED

    def _open(self) -> tuple[str, int]:
        """The head that was tested last with just these commits, and how many such tests stayed
        open; 0: it is decided. One of before may have done either.
        """
        try:
            kept = json.loads(self._path.read_text("ascii"))
            if kept == list(self.commits):
                return "", 1
            if kept["commits"] == list(self.commits):
                return str(kept["head"]), int(kept["open"])
        except (OSError, ValueError, TypeError, KeyError):
            pass
        return "", -1

    def done(self) -> bool:
        """Whether the branch was tested with just these commits, and a further test would tell no
        more: it is decided, it stayed open too often, or the branch is where it was.
        """
        head, still_open = self._open()
        return still_open in (0, MOST_OPEN) or (still_open > 0 and head == self.head)

    def note(self, *, decided: bool) -> None:
        """The branch has been tested with these commits."""
        still_open = 0 if decided else max(0, self._open()[1]) + 1
        kept = {"commits": self.commits, "head": self.head, "open": still_open}
        keep(self._path, json.dumps(kept) + "\n")


def mended(state: Path, site: Path) -> Iterator[Mended]:
    """Reports of trees of this site that are open and have such commits, tested or not; none of
    those that another version made.
    """
    loaded = load_site(site)
    store = CampaignStore(state)
    for record in store.readable(store.with_report(OPEN, culprit=True)):
        try:
            request = record.request
        except InternalError:
            continue
        if not request.site or Path(request.site).absolute() != site.absolute():
            continue
        report, result = record.draft(), record.result
        assert result is not None, "a report is of an answer"
        assert result.culprit is not None, "asked for"
        try:
            target = loaded.target(request.tree)
            tree = trees.tree_of(state, target)
            head = trees.head_of(tree, target)
            commits = tree.mending(result.culprit, head, report.message_id.strip("<>"))
        except (ConfigError, InfrastructureError, BusyError) as error:
            # A tree that left the site, or is away, is no reason to forget the others.
            yield Mended(record, (), error)
            continue
        if commits:
            yield Mended(record, commits, head=head)
