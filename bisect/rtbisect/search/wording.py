# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of sentences that depend on the change that is sought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Sought

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a search calls its ends and what it finds."""

    #: The older end and its like, the newer end and its like; so in the log for git, too.
    older: str
    newer: str
    #: The change: "no regression".
    change: str
    #: What a figure has done that changed so.
    changed: str
    #: What is said first of a commit that is proved.
    proved: tuple[str, ...] = ()


WORDS: Mapping[Sought, Words] = {
    Sought.REGRESSION: Words(older="good", newer="bad", change="regression", changed="regressed"),
    Sought.REPAIR: Words(
        older="broken",
        newer="fixed",
        change="repair",
        changed="better again",
        proved=("this commit repairs it",),
    ),
}

#: What git calls the ends by itself.
GIT = WORDS[Sought.REGRESSION]
