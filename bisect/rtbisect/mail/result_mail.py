# SPDX-License-Identifier: GPL-2.0-or-later
"""What becomes of a report after it was sent: answers to who asked, where it stands, and that it is
withdrawn.
"""

from __future__ import annotations

import email
import re
from email.policy import default
from email.utils import parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbisect.campaign import assemble
from rtbisect.config.site_file import Site, load_site
from rtbisect.errors import ConfigError
from rtbisect.mail.approve import approver, check_gates, check_lint
from rtbisect.mail.recipients import plain_name
from rtbisect.mail.report_state import withdrawn
from rtbisect.model.campaign import Level, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import AddressSource
from rtbisect.model.kinds.report import Footers, Withdrawn
from rtbisect.model.mail import MailKind, MailState, OutMail, Recipient
from rtbisect.model.report import ReportState
from rtbisect.report.draft import keep, read_edited
from rtbisect.report.input_file import read_input
from rtbisect.report.message import Envelope, message, own_id
from rtbisect.report.own import check_mailable
from rtbisect.report.policy import of_thread
from rtbisect.report.text import cut, foreign, header_text, wrap
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies, ReplyState
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from email.headerregistry import AddressHeader
    from email.message import EmailMessage

    from rtbisect.campaign.ab_test import AnswerDraft
    from rtbisect.model.report import CommitText
    from rtbisect.report.letter import Bot
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore

#: Reports that somebody has, and that are neither mended nor taken back.
OPEN = (ReportState.SENT, ReportState.ANSWERED, ReportState.RETESTED)


def note_test(
    store: CampaignStore, record: CampaignRecord, answer: AnswerDraft, *, newest: bool
) -> None:
    """Note what a test says of a report that people have: level REGRESSED takes the effect back. It
    is FIXED where that was the tree's newest revision, and all of the effect is gone, and no more
    where a newer one does not. What asks for a backport is never fixed by the tree that has the
    repair.
    """
    if record.report is None:
        return
    sought = read_input(record.report.folder).sought
    mends = answer.level is Level.REGRESSED and not answer.partly
    if newest and mends and sought is Sought.REGRESSION:
        store.move_report(record.id, OPEN, ReportState.FIXED)
    elif newest and not mends and answer.level is not Level.UNDECIDED:
        store.move_report(record.id, (*OPEN, ReportState.FIXED), ReportState.RETESTED)
    else:
        store.move_report(record.id, OPEN, ReportState.RETESTED)


def write_answer_mail(state: Path, record: CampaignRecord, check: str, by: str) -> OutMail:
    """The answer that the campaign `check` gave, for who asked and those who have the report; not
    yet queued. ConfigError where the report has not left, or the data are for the operator alone.
    """
    site = load_site(Path(record.request.site))
    reviewer = str(approver(site, by))
    folder = record.draft().folder
    report = read_input(folder)
    check_gates(record)
    check_mailable(report)
    sent = report_as_sent(state, record.id)
    if withdrawn(Outbox(state), record.id):
        raise ConfigError(f"the report of {record.id} is withdrawn", "nobody waits for an answer")
    path = folder / f"answer-{check}.eml"
    draft = _edited_draft(path, check)
    asking_id = str(draft["In-Reply-To"] or "").strip()
    to, cc = _recipients(state, record.id, asking_id, sent, site)
    mailer = assemble.mailer_of(state, site, report.operator)
    headers = Envelope(
        bot=mailer.bot,
        to=to,
        cc=cc,
        subject=header_text(str(draft["Subject"]), 150),
        date=assemble.SystemClock().now_iso(),
        # The same answer, so that it is not queued twice.
        message_id=own_id(f"{record.id}.{check}.{MailKind.RESULT}", mailer.bot),
        parent=asking_id if asking_id.isascii() else sent.message_id,
        thread=(sent.message_id,),
        marks=(("Campaign", record.id), ("Kind", MailKind.RESULT), ("Reviewed-By", reviewer)),
    )
    body = _body(path, draft)
    answers = Finding.of(Footers.APPROVED, bot=mailer.bot.name, approver=reviewer)
    body += "\n\n" + wrap(str(speak(answers)))
    text = message(headers, body + "\n")
    check_lint(text.encode(), f"correct {path}")
    return OutMail(
        message_id=f"<{headers.message_id}>",
        campaign=record.id,
        kind=MailKind.RESULT,
        sender=sent.sender,
        recipients=tuple(parseaddr(each)[1] for each in (*to, *cc)),
        text=text,
        approved_by=reviewer,
        approved_at=headers.date,
    )


def withdrawal(culprit: CommitText, sent: str, why: str, bot: Bot, approver: str) -> dict[str, Any]:
    """What the template of a withdrawal prints; `sent` is the mail that is taken back."""
    reason = foreign(why, 100).rstrip(".")
    subject = cut(culprit.subject, 90)
    opening = Finding.of(
        Withdrawn.REPORT, commit=culprit.sha, subject=subject, why=foreign(why, 400).rstrip(".")
    )
    todo = [Finding.of(Withdrawn.NOTHING_TO_DO)]
    lines = [line.lstrip() for line in sent.split("\n")]
    if any(line.startswith("Reported-by:") for line in lines):
        todo.append(Finding.of(Withdrawn.NO_TAGS))
    answers = Finding.of(Footers.APPROVED, bot=bot.name, approver=approver)
    return {
        "opening": _told(opening),
        "tracked": any(line.startswith("#regzbot introduced:") for line in lines),
        "why": reason,
        "todo": _told(*todo),
        "closing": _told(answers, Finding.of(Withdrawn.SORRY)),
    }


def _told(*findings: Finding) -> str:
    return " ".join(foreign(str(speak(each)), 600) for each in findings)


def report_as_sent(state: Path, campaign: str) -> OutMail:
    """The report of a campaign as it left; one in doubt may have. ConfigError where none has."""
    for mail in Outbox(state).of_campaign(campaign, MailKind.REPORT):
        if mail.state in (MailState.SENT, MailState.IN_DOUBT):
            return mail
    raise ConfigError(
        f"the report of {campaign} has not left",
        "`rtbisect mail drop` takes it back where it waits",
    )


def _edited_draft(path: Path, check_id: str) -> EmailMessage:
    """The answer as it was written, or as a person has corrected it since."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", check_id):
        raise ConfigError(f"{check_id!r} is no campaign", "see `rtbisect status`")
    try:
        return email.message_from_bytes(read_edited(path), policy=default)
    except OSError as error:
        hint = "`rtbisect mail work` and `rtbisect report test` write answers"
        raise ConfigError(f"{path}: {error.strerror}", hint) from error


def _body(path: Path, draft: EmailMessage) -> str:
    """The text of an answer; ConfigError where a person has made something else of it."""
    try:
        text = str(draft.get_content())
    except (KeyError, LookupError, ValueError) as error:
        raise ConfigError(f"{path} is no plain text", "write it so") from error
    if not text.isascii() or not draft["In-Reply-To"]:
        problem = "no In-Reply-To:" if text.isascii() else "characters that are no ASCII"
        raise ConfigError(f"{path} has {problem}", "put it back as it was")
    return text.rstrip("\n")


def _recipients(
    state: Path, campaign: str, asking_id: str, sent: OutMail, site: Site
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """To: and Cc: of an answer to the mail `asking_id`; ConfigError where nobody is left."""
    report = email.message_from_string(sent.text, policy=default)
    to, cc = (_addresses(report[name]) for name in ("To", "Cc"))
    counted = (ReplyState.ACCEPTED, ReplyState.DONE)
    replies = Replies(state)
    # `get` refuses one that cannot be read: whoever asked would get no answer.
    asking = [replies.get(each.key) for each in replies.of_message(asking_id)]
    askers = [
        reply.sender for reply in asking if reply.state in counted and reply.campaign == campaign
    ]
    main, rest = of_thread(askers, to, cc, site.ours.mail)
    if not main:
        raise ConfigError("nobody is left to answer to", "see mail: of the site file")
    return main, rest


def _addresses(header: AddressHeader | None) -> tuple[str, ...]:
    has_report = Finding.of(AddressSource.HAS_REPORT)
    return tuple(
        str(Recipient(address.addr_spec, plain_name(address.display_name), has_report))
        for address in (header.addresses if header else ())
    )


def write_withdrawal(state: Path, record: CampaignRecord, by: str, why: str) -> OutMail:
    """The mail that withdraws the report of a campaign in its own thread, from all who got it; kept
    beside it and not yet queued. ConfigError where the report has not left, or was withdrawn.
    """
    site = load_site(Path(record.request.site))
    approved_by = str(approver(site, by))
    if withdrawn(Outbox(state), record.id):
        raise ConfigError(f"the report of {record.id} is withdrawn", "see `rtbisect mail list`")
    sent = report_as_sent(state, record.id)
    folder = record.draft().folder
    report = read_input(folder)
    if report.culprit is None:
        raise ConfigError(f"campaign {record.id} accuses no commit", "see `rtbisect status`")
    mailer = assemble.mailer_of(state, site, report.operator)
    sent_mail = email.message_from_string(sent.text, policy=default)
    # Of one report there is one: two sessions that withdraw it make the same.
    own_name = f"{sent.message_id.strip('<>').split('@')[0]}.{MailKind.WITHDRAWAL}"
    headers = Envelope(
        bot=mailer.bot,
        to=tuple(str(each) for each in sent_mail["To"].addresses),
        cc=tuple(str(each) for each in sent_mail["Cc"].addresses) if sent_mail["Cc"] else (),
        subject=header_text(f"Re: {sent_mail['Subject']}", 150),
        date=assemble.SystemClock().now_iso(),
        message_id=own_id(own_name, mailer.bot),
        parent=sent.message_id,
        thread=tuple(str(sent_mail["References"] or "").split()),
        marks=(("Campaign", record.id), ("Kind", MailKind.WITHDRAWAL)),
    )
    values = withdrawal(report.culprit, sent.text, why, mailer.bot, approved_by)
    text = mailer.notice("withdrawal.txt.j2", headers, values)
    check_lint(text.encode(), "say it in other words")
    keep(folder / f"{MailKind.WITHDRAWAL}.eml", text)
    return OutMail(
        message_id=f"<{headers.message_id}>",
        campaign=record.id,
        kind=MailKind.WITHDRAWAL,
        sender=sent.sender,
        recipients=sent.recipients,
        text=text,
        approved_by=approved_by,
        approved_at=headers.date,
    )
