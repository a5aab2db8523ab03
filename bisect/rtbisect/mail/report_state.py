# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a report stands, by what the outbox knows of its mails.

Outbox and campaigns are written one after the other, so a kill may fall between the two. The outbox
is right: who sends, drops or withdraws makes the state of the report follow from it, and so does
the next session.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rtbisect.errors import InternalError
from rtbisect.model.mail import MailKind, MailState
from rtbisect.model.report import ReportState

if TYPE_CHECKING:
    from rtbisect.store.campaigns import CampaignStore
    from rtbisect.store.outbox import Outbox


def follow_outbox(campaigns: CampaignStore, outbox: Outbox) -> None:
    """Make the states of all reports agree with the outbox."""
    for name, state, mail, taken_back in outbox.reports():
        # A campaign of another program version stays as it is.
        with suppress(InternalError):
            if taken_back:
                right = ReportState.WITHDRAWN
            elif state is ReportState.WITHDRAWN:
                # A withdrawal that was dropped has told nobody: it is as it was.
                right = _agreed(campaigns.get(name).draft().before or ReportState.DRAFT, mail)
            else:
                right = _agreed(state, mail)
            if right is not state:
                campaigns.move_report(name, (state,), right)


def withdrawn(outbox: Outbox, campaign: str) -> bool:
    """Whether the report of a campaign is taken back, or about to be."""
    return bool(outbox.of_campaign(campaign, MailKind.WITHDRAWAL))


def _agreed(state: ReportState, mail: MailState | None) -> ReportState:
    """Where a report stands; `mail` is where its mail does, None for none."""
    if mail is None:
        return ReportState.DRAFT if state is ReportState.APPROVED else state
    if state not in (ReportState.DRAFT, ReportState.APPROVED):
        return state
    if mail in (MailState.SENT, MailState.IN_DOUBT):
        # One in doubt may have arrived, and then it is answered and mended like any other.
        return ReportState.SENT
    return ReportState.APPROVED
