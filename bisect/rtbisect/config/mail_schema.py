# SPDX-License-Identifier: GPL-2.0-or-later
"""The section `mail:` of a site: who approves, whom we write to, how mail leaves and comes in.

Without it nothing can be approved, and nothing leaves.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rtbisect.config.schema_types import Address, Name, Person, Strict

Path = Annotated[str, Field(min_length=1)]
#: An address, `@host`, or one with `*` in it.
Pattern = Annotated[str, Field(pattern=r"^[A-Za-z0-9._+*@-]{1,128}$")]
Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]{0,253}$")]
User = Annotated[str, Field(pattern=r"^[!-~]{1,128}$")]


class Smtp(Strict):
    """A server that takes our mail; `password` and `ca` are files, relative to the site file."""

    host: Host
    port: int = Field(587, ge=1, le=65535)
    # none: for a server on this machine alone.
    security: Literal["tls", "starttls", "none"] = "starttls"
    user: User | None = None
    password: Path | None = None
    ca: Path | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Smtp:
        if (self.user is None) != (self.password is None):
            raise ValueError("user and password go together")
        if self.user and self.security == "none":
            raise ValueError("a password needs security tls or starttls")
        return self


class Send(Strict):
    """How mail leaves; one of these. `files` is a folder, `mbox` a file, `sendmail` a program."""

    smtp: Smtp | None = None
    files: Path | None = None
    mbox: Path | None = None
    sendmail: Path | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Send:
        if sum(way is not None for way in (self.smtp, self.files, self.mbox, self.sendmail)) != 1:
            raise ValueError("give one of smtp, files, mbox, sendmail")
        return self


class EvidenceEntry(Strict):
    """Where data of reports are published: files are put into `folder`, and read at `url`."""

    folder: Path
    url: Annotated[
        str, Field(pattern=r"^https?://[A-Za-z0-9.:\[\]-]{1,253}(/[A-Za-z0-9._~-]+)*/?$")
    ]


class Imap(Strict):
    """A mailbox on a server, always over TLS."""

    host: Host
    port: int = Field(993, ge=1, le=65535)
    user: User
    password: Path
    ca: Path | None = None
    folder: Name = "INBOX"


class InboxEntry(Strict):
    """Where replies come in; one of these. `maildir` is a folder."""

    maildir: Path | None = None
    imap: Imap | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> InboxEntry:
        if (self.maildir is None) == (self.imap is None):
            raise ValueError("give one of maildir, imap")
        return self


class Commands(Strict):
    """Whose commands in replies count."""

    people: list[Address] = []
    #: Hosts whose Authentication-Results: header is believed (the authserv-id of RFC 8601): our own
    #: mail server, which takes away forged ones.
    trusted: list[Host] = []
    #: Patches that a command names by address are fetched from below these alone.
    archives: list[Annotated[str, Field(pattern=r"^https?://[^\s@]{3,200}/$")]] = []
    #: A command counts for so long after it was signed.
    days: Annotated[int, Field(ge=1, le=90)] = 14
    #: Commands of each person; above that they wait.
    a_day: Annotated[int, Field(ge=1, le=1000)] = 10
    #: Of all who prove nothing so many mails, and megabytes of them, are kept a day.
    others_a_day: Annotated[int, Field(ge=1, le=10_000)] = 100
    others_mb_a_day: Annotated[int, Field(ge=1, le=1000)] = 20


class MailEntry(Strict):
    """See docs/reports.md; patterns and lists as in `model.mail.MailRules`."""

    approvers: list[Person] = []
    send: Send | None = None
    archive: Annotated[str, Field(pattern=r"^https?://[^\s]{3,200}/$")] = (
        "https://lore.kernel.org/r/"
    )
    evidence: EvidenceEntry | None = None
    allow: list[Pattern] = []
    deny: list[Pattern] = []
    opted_out: list[Pattern] = []
    most: int = Field(20, ge=1, le=40)
    lists: dict[Name, Address] = {}
    trees: dict[Name, Literal["mainline", "next", "stable", "rt", "other"]] = {}
    inbox: InboxEntry | None = None
    commands: Commands = Commands()
