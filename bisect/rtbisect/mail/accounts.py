# SPDX-License-Identifier: GPL-2.0-or-later
"""How mail of a site leaves and comes in, whom it goes to, and whose word counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.mail.command_mail import SenderRules
from rtbisect.mail.transport.inbox import ImapBox, ImapSettings, Inbox, Maildir
from rtbisect.mail.transport.local import FileTransport, MboxTransport, SendmailTransport
from rtbisect.mail.transport.smtp import SmtpSettings, SmtpTransport
from rtbisect.model.mail import MailRules

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.config.site_file import Site
    from rtbisect.mail.transport.transport import Transport


def rules_of(site: Site) -> MailRules:
    """What the site says of whom it writes to."""
    mail = site.ours.mail
    return MailRules(
        allow=tuple(mail.allow),
        deny=tuple(mail.deny),
        opted_out=tuple(mail.opted_out),
        lists=tuple(mail.lists.items()),
        most=mail.most,
    )


def transport_of(state: Path, site: Site) -> Transport:
    """How mail of a site leaves; ConfigError where it does not say."""
    send = site.ours.mail.send
    if send is None:
        raise ConfigError(f"{site.path} does not say how mail leaves", "write mail: send: there")
    if send.files is not None:
        return FileTransport(site.beside(send.files))
    if send.mbox is not None:
        return MboxTransport(site.beside(send.mbox))
    if send.sendmail is not None:
        return SendmailTransport(str(site.beside(send.sendmail)), state)
    smtp = send.smtp
    assert smtp is not None, "the schema wants one of the four"
    return SmtpTransport(
        SmtpSettings(
            host=smtp.host,
            port=smtp.port,
            security=smtp.security,
            user=smtp.user or "",
            password=site.beside(smtp.password) if smtp.password else None,
            ca=site.beside(smtp.ca) if smtp.ca else None,
            hello=site.ours.bot.address.rpartition("@")[2],
        )
    )


def inbox_of(site: Site) -> Inbox:
    """Where replies to the mails of a site come in; ConfigError where it does not say."""
    inbox = site.ours.mail.inbox
    if inbox is None:
        raise ConfigError(f"{site.path} names no inbox", "write mail: inbox: there")
    if inbox.maildir is not None:
        return Maildir(site.beside(inbox.maildir))
    imap = inbox.imap
    assert imap is not None, "the schema wants one of the two"
    return ImapBox(
        ImapSettings(
            host=imap.host,
            port=imap.port,
            user=imap.user,
            password=site.beside(imap.password),
            ca=site.beside(imap.ca) if imap.ca else None,
            folder=imap.folder,
        )
    )


def trust_of(site: Site) -> SenderRules:
    """Whose commands count at a site."""
    commands = site.ours.mail.commands
    return SenderRules(
        own=site.ours.bot.address,
        people=tuple(commands.people),
        servers=tuple(commands.trusted),
        days=commands.days,
        commands_a_day=commands.a_day,
        others_a_day=commands.others_a_day,
        others_bytes_a_day=commands.others_mb_a_day * 1_000_000,
    )
