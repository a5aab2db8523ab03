# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail on its way to people: who gets it and why, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbisect.model.finding import Finding

#: What subjects of mails begin with that are for the operator alone.
INTERNAL = "[internal]"


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who gets a mail."""

    address: str
    #: ASCII that needs no quotes; "" where there is none.
    name: str
    #: Where the address comes from.
    reason: Finding

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>" if self.name else self.address


@dataclass(frozen=True, slots=True)
class Recipients:
    """Whom a report goes to."""

    to: tuple[Recipient, ...]
    cc: tuple[Recipient, ...]
    #: Addresses that were found and may not be used; their reason says why.
    dropped: tuple[Recipient, ...]
    #: Message-ID that the mail answers; "" for a thread of its own.
    parent: str
    #: Why the mail goes to that thread.
    thread: Finding

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(each.address for each in (*self.to, *self.cc))


class MailState(StrEnum):
    """Where a mail of the outbox stands. IN_DOUBT: it may have arrived, and only a person can say;
    it is never sent again by itself.
    """

    QUEUED = "queued"
    SENT = "sent"
    IN_DOUBT = "in doubt"
    REFUSED = "refused"
    HELD = "held"


class MailKind(StrEnum):
    """What a mail of ours is. What people get: a report, one taken back, the answer to a test. What
    the operator of a site gets: all that happened, or the part of it that is about the lab.
    """

    REPORT = "report"
    WITHDRAWAL = "withdrawal"
    RESULT = "result"
    DIGEST = "digest"
    INFRASTRUCTURE = "infrastructure"
    #: A kind that this version does not know.
    OTHER = "other"

    @classmethod
    def _missing_(cls, _value: object) -> MailKind:
        return cls.OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class OutMail:
    """A mail that a person has approved."""

    message_id: str
    campaign: str
    kind: MailKind
    #: Addresses of the envelope.
    sender: str
    recipients: tuple[str, ...]
    #: The whole mail, as it leaves.
    text: str
    #: The person who approved it, and when: ISO 8601, UTC.
    approved_by: str
    approved_at: str
    state: MailState = MailState.QUEUED
    #: Tries that did not come to an end, and when the next one is due: seconds since 1970.
    tries: int = 0
    next_s: float = 0.0
    #: How the last try ended, one of `Delivery`; None before the first.
    answer: Finding | None = None
    #: Recipients that were not taken, each a `Delivery` with its address.
    refused: tuple[Finding, ...] = ()
