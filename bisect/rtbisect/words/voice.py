# SPDX-License-Identifier: GPL-2.0-or-later
"""How a campaign is told: by the change that it seeks, and by what it measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.campaign import CampaignKind, Sought
from rtbisect.model.subject import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.campaign import CampaignRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """The words that depend on it."""

    #: The older end and its like, the newer end and its like; so in the log for git, too.
    older: str
    newer: str
    #: The change: "no regression".
    change: str
    #: What a figure has done that changed so.
    changed: str
    #: One run.
    run: str
    #: What two revisions do whose builds are one.
    same: str
    #: What gives a campaign more runs.
    more_runs: str
    #: A build is work of its own, and worth telling.
    builds: bool


_CHANGES: Mapping[Sought, Mapping[str, str]] = {
    Sought.REGRESSION: {
        "older": "good", "newer": "bad", "change": "regression", "changed": "regressed",
    },
    Sought.REPAIR: {
        "older": "broken", "newer": "fixed", "change": "repair", "changed": "better again",
    },
}  # fmt: skip


def voice_of(sought: Sought = Sought.REGRESSION, measured: Measured = Measured.KERNEL) -> Voice:
    """How a campaign of this kind is told."""
    if measured is Measured.COMMAND:
        return Voice(
            **_CHANGES[sought],
            run="run",
            same="have the same files",
            more_runs="--max-runs",
            builds=False,
        )
    return Voice(
        **_CHANGES[sought],
        run="boot",
        same="are the same kernel, bit for bit",
        more_runs="max_boots of the site",
        builds=True,
    )


def voice_of_request(request: CampaignRequest) -> Voice:
    """How the campaign of a request is told."""
    command = request.kind == CampaignKind.RUN
    return voice_of(request.sought, Measured.COMMAND if command else Measured.KERNEL)


#: A regression between kernels.
PLAIN = voice_of()
