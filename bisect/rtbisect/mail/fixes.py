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

    @property
    def _path(self) -> Path:
        return self.record.draft().folder / FOLLOWED

    def done(self) -> bool:
        """Whether the branch was tested with just these commits."""
        try:
            return bool(json.loads(self._path.read_text("ascii")) == list(self.commits))
        except (OSError, ValueError):
            return False

    def note(self) -> None:
        """The branch has been tested with these commits."""
        keep(self._path, json.dumps(self.commits) + "\n")


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
            yield Mended(record, commits)
