# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a report stands, by what the outbox knows of its mails.

Outbox and campaigns are written one after the other, so a kill may fall between the two. The outbox
is right: who sends, drops or withdraws makes the state of the report follow from it, and so does
the next session.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.mail import MailState
from rtbisect.model.report import ReportState

if TYPE_CHECKING:
    from rtbisect.store.campaigns import CampaignStore
    from rtbisect.store.outbox import Outbox

REPORT, WITHDRAWAL = "report", "withdrawal"

_UNSENT = (ReportState.DRAFT, ReportState.APPROVED)


def follow_outbox(campaigns: CampaignStore, outbox: Outbox) -> None:
    """Make the states of all reports agree with the outbox."""
    mails = {(each.campaign, each.kind): each.state for each in outbox.all()}
    for name in campaigns.names():
        with suppress(InternalError, ConfigError):
            report = campaigns.get(name).report
            if report is not None:
                _follow(campaigns, name, mails.get((name, REPORT)), (name, WITHDRAWAL) in mails)


def _follow(
    campaigns: CampaignStore,
    name: str,
    mail: MailState | None,
    withdrawn: bool,  # noqa: FBT001
) -> None:
    """Move the report of one campaign; `mail` is where its mail stands, None for none."""
    if withdrawn:
        others = [each for each in ReportState if each is not ReportState.WITHDRAWN]
        campaigns.move_report(name, others, ReportState.WITHDRAWN)
        return
    if mail is None:
        # A withdrawal that was dropped has told nobody, and neither has a mail that was.
        gone = (ReportState.APPROVED, ReportState.WITHDRAWN)
        campaigns.move_report(name, gone, ReportState.DRAFT)
    elif mail is MailState.SENT:
        campaigns.move_report(name, (*_UNSENT, ReportState.WITHDRAWN), ReportState.SENT)
    else:
        campaigns.move_report(
            name, (ReportState.DRAFT, ReportState.WITHDRAWN), ReportState.APPROVED
        )
