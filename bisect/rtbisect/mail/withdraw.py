# SPDX-License-Identifier: GPL-2.0-or-later
"""A report that turned out to be wrong is withdrawn in its own thread, to all who got it."""

from __future__ import annotations

import email
from email.policy import default
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign import assemble
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError
from rtbisect.mail.approve import approver, check_lint
from rtbisect.mail.report_state import withdrawn
from rtbisect.mail.result_mail import report_as_sent
from rtbisect.model.mail import MailKind, OutMail
from rtbisect.report.draft import keep
from rtbisect.report.input_file import read_input
from rtbisect.report.message import Envelope, own_id
from rtbisect.report.template_values import Bot, commit_view
from rtbisect.report.text import foreign, header_text
from rtbisect.store.outbox import Outbox

if TYPE_CHECKING:
    from rtbisect.store.campaigns import CampaignRecord


def write_withdrawal(state: Path, record: CampaignRecord, by: str, why: str) -> OutMail:
    """The mail that withdraws the report of a campaign, kept beside it and not yet queued;
    ConfigError where the report has not left, or was withdrawn.
    """
    site = load_site(Path(record.request.site))
    person = approver(site, by)
    sent = _report_of(state, record)
    folder = record.draft().folder
    report = read_input(folder)
    if report.culprit is None:
        raise ConfigError(f"campaign {record.id} accuses no commit", "see `rtbisect status`")
    mailer = assemble.mailer_of(state, site, report.operator)
    reason = foreign(why, 400).rstrip(".") + "."
    now = assemble.SystemClock().now_iso()
    headers = _headers(record, sent, mailer.bot, now)
    tracked = any(line.startswith("#regzbot introduced:") for line in sent.text.split("\n"))
    text = mailer.notice(
        "withdrawal.txt.j2",
        headers,
        {
            "why": reason,
            "short": foreign(why, 100),
            "tracked": tracked,
            "culprit": commit_view(report.culprit),
            "approver": str(person),
        },
    )
    check_lint(text.encode(), "say it in other words")
    keep(folder / f"{MailKind.WITHDRAWAL}.eml", text)
    return OutMail(
        message_id=f"<{headers.message_id}>",
        campaign=record.id,
        kind=MailKind.WITHDRAWAL,
        sender=sent.sender,
        recipients=sent.recipients,
        text=text,
        approved_by=str(person),
        approved_at=now,
    )


def _headers(record: CampaignRecord, sent: OutMail, bot: Bot, now: str) -> Envelope:
    """In the thread of the report, to all who got it."""
    report = email.message_from_string(sent.text, policy=default)
    return Envelope(
        bot=bot,
        to=tuple(str(each) for each in report["To"].addresses),
        cc=tuple(str(each) for each in report["Cc"].addresses) if report["Cc"] else (),
        subject=header_text(f"Re: {report['Subject']}", 150),
        date=now,
        # Of one report there is one: two sessions that withdraw it make the same.
        message_id=own_id(
            f"{sent.message_id.strip('<>').split('@')[0]}.{MailKind.WITHDRAWAL}", bot
        ),
        parent=sent.message_id,
        thread=tuple(str(report["References"] or "").split()),
        marks=(("Campaign", record.id), ("Kind", MailKind.WITHDRAWAL)),
    )


def _report_of(state: Path, record: CampaignRecord) -> OutMail:
    """The report as it left, unless it was withdrawn."""
    if withdrawn(Outbox(state), record.id):
        raise ConfigError(f"the report of {record.id} is withdrawn", "see `rtbisect mail list`")
    return report_as_sent(state, record.id)
