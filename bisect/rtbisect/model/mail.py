# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail on its way to people: who gets it and why, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who gets a mail. `name` is ASCII and needs no quotes, "" where there is none; `reason` says
    where the address comes from.
    """

    address: str
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>" if self.name else self.address


@dataclass(frozen=True, slots=True)
class Recipients:
    """Whom a report goes to. `dropped` are addresses that were found and may not be used, with the
    reason; `parent` is the Message-ID that the mail answers, "" for a thread of its own, and
    `thread` says why.
    """

    to: tuple[Recipient, ...]
    cc: tuple[Recipient, ...]
    dropped: tuple[Recipient, ...] = ()
    parent: str = ""
    thread: str = ""

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(each.address for each in (*self.to, *self.cc))


@dataclass(frozen=True, slots=True)
class MailRules:
    """What a site says of whom it writes to. Patterns are addresses, `@host` or `*` with a part;
    with `allow` nobody else gets mail. `lists` are pairs of a word and the address that a report
    with the word in its title or files goes to, too.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    opted_out: tuple[str, ...] = ()
    lists: tuple[tuple[str, str], ...] = ()
    most: int = 20


class MailState(StrEnum):
    """Where a mail of the outbox stands. IN_DOUBT: it may have arrived, and only a person can say;
    it is never sent again by itself.
    """

    QUEUED = "queued"
    SENT = "sent"
    IN_DOUBT = "in doubt"
    REFUSED = "refused"
    HELD = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutMail:
    """A mail that a person has approved. `sender` and `recipients` are the envelope; `tries` and
    `next_s` (seconds since 1970) tell of deliveries that did not come to an end; `answer` is what
    the server said last, `refused` whom it did not take.
    """

    message_id: str
    campaign: str
    kind: str
    sender: str
    recipients: tuple[str, ...]
    text: str
    approved_by: str
    approved_at: str
    state: MailState = MailState.QUEUED
    tries: int = 0
    next_s: float = 0.0
    answer: str = ""
    refused: tuple[str, ...] = ()
