# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a report stands, by what the outbox knows of its mails.

Outbox and campaigns are written one after the other, so a kill may fall between the two. The outbox
is right: who sends, drops or withdraws makes the state of the report follow from it, and so does
the next session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.mail import MailState
from rtbisect.model.report import ReportState

if TYPE_CHECKING:
    from rtbisect.store.campaigns import CampaignStore
    from rtbisect.store.outbox import Outbox

REPORT, WITHDRAWAL = "report", "withdrawal"


def follow_outbox(campaigns: CampaignStore, outbox: Outbox) -> None:
    """Make the states of all reports agree with the outbox."""
    mails = {(each.campaign, each.kind): each.state for each in outbox.all()}
    for record in campaigns.readable():
        name, report = record.id, record.report
        if report is None:
            continue
        if (name, WITHDRAWAL) in mails:
            others = [each for each in ReportState if each is not ReportState.WITHDRAWN]
            campaigns.move_report(name, others, ReportState.WITHDRAWN)
            continue
        if report.state is ReportState.WITHDRAWN:
            # A withdrawal that was dropped has told nobody: it is as it was.
            before = report.before or ReportState.DRAFT
            campaigns.move_report(name, (ReportState.WITHDRAWN,), before)
        _follow(campaigns, name, mails.get((name, REPORT)))


def withdrawn(outbox: Outbox, campaign: str) -> bool:
    """Whether the report of a campaign is taken back, or about to be."""
    return any((each.campaign, each.kind) == (campaign, WITHDRAWAL) for each in outbox.all())


def _follow(campaigns: CampaignStore, name: str, mail: MailState | None) -> None:
    """Move the report of one campaign; `mail` is where its mail stands, None for none."""
    if mail is None:
        campaigns.move_report(name, (ReportState.APPROVED,), ReportState.DRAFT)
    elif mail in (MailState.SENT, MailState.IN_DOUBT):
        # One in doubt may have arrived, and then it is answered and mended like any other.
        campaigns.move_report(name, (ReportState.DRAFT, ReportState.APPROVED), ReportState.SENT)
    else:
        campaigns.move_report(name, (ReportState.DRAFT,), ReportState.APPROVED)
