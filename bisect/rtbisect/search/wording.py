# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of sentences that depend on the change that is sought, and on what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from rtbisect.model.campaign import Sought
from rtbisect.model.subject import RunWords


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWords(RunWords):
    """What a search calls its ends, what it finds and what it does."""

    #: The older end and its like, the newer end and its like; so in the log for git, too.
    older: str
    newer: str
    #: The change: "no regression".
    change: str
    #: What a figure has done that changed so.
    changed: str
    #: What is said first of a commit that is proved.
    proved: tuple[str, ...] = ()


WORDS: Mapping[Sought, SearchWords] = {
    Sought.REGRESSION: SearchWords(
        older="good", newer="bad", change="regression", changed="regressed"
    ),
    Sought.REPAIR: SearchWords(
        older="broken",
        newer="fixed",
        change="repair",
        changed="better again",
        proved=("this commit repairs it",),
    ),
}

#: What git calls the ends by itself.
GIT = WORDS[Sought.REGRESSION]


def words_of(sought: Sought, subject: RunWords) -> SearchWords:
    """The words of a campaign that searches this change of that subject."""
    return replace(WORDS[sought], **asdict(subject))
