# SPDX-License-Identifier: GPL-2.0-or-later
"""How mail of a site leaves and comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.mail.transport.inbox import ImapBox, Inbox, Maildir
from rtbisect.mail.transport.local import FileTransport, MboxTransport, SendmailTransport
from rtbisect.mail.transport.smtp import SmtpTransport

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.config.site_file import Site
    from rtbisect.mail.transport.transport import Transport


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
    assert send.smtp is not None, "the schema wants one of the four"
    return SmtpTransport(send.smtp, site.beside, site.ours.bot.address.rpartition("@")[2])


def inbox_of(site: Site) -> Inbox:
    """Where replies to the mails of a site come in; ConfigError where it does not say."""
    inbox = site.ours.mail.inbox
    if inbox is None:
        raise ConfigError(f"{site.path} names no inbox", "write mail: inbox: there")
    if inbox.maildir is not None:
        return Maildir(site.beside(inbox.maildir))
    assert inbox.imap is not None, "the schema wants one of the two"
    return ImapBox(inbox.imap, site.beside)
