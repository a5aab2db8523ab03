# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies from the inbox into the store, each once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InternalError
from rtbisect.mail.command_mail import Reply, SenderRules, read_reply
from rtbisect.model.report import ReportState
from rtbisect.store.replies import KeptReply, ReplyState, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.mail.transport.inbox import Inbox
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore
    from rtbisect.store.outbox import Outbox
    from rtbisect.store.replies import Replies


@dataclass(frozen=True, slots=True)
class Stores:
    """Where replies, our own mails and campaigns lie."""

    replies: Replies
    outbox: Outbox
    campaigns: CampaignStore


@dataclass(frozen=True, slots=True)
class KeptThreads:
    """command_mail.Threads of what is kept."""

    stores: Stores

    def ours(self, message_id: str) -> str:
        """Drafts count, too: an operator may have handed one on."""
        try:
            campaign = self.stores.outbox.get(message_id).campaign
        except ConfigError:
            campaign = ""
        return campaign or self.stores.campaigns.of_message(message_id)

    def answers(self, message_id: str) -> str:
        # The first one that called itself so: nobody takes a thread over by its name.
        for reply in self.stores.replies.of_message(message_id):
            if reply.campaign and reply.state is not ReplyState.IGNORED:
                return reply.campaign
        return ""

    def is_ours(self, campaign: str) -> bool:
        record = self._record(campaign)
        drafted = record is not None and record.report is not None
        return drafted or bool(self.stores.outbox.of_campaign(campaign))

    def mends(self, campaign: str) -> tuple[str, ...]:
        record = self._record(campaign)
        if record is None or record.report is None or record.result is None:
            return ()
        if not record.result.culprit:
            return ()
        return record.result.culprit[:12], record.report.message_id.strip("<>")

    def _record(self, campaign: str) -> CampaignRecord | None:
        try:
            return self.stores.campaigns.get(campaign)
        except (ConfigError, InternalError):
            return None


def poll(inbox: Inbox, stores: Stores, trust: SenderRules, now_iso: str) -> Iterator[KeptReply]:
    """Keep what has come in and give it, message by message; one is done with after it is kept.
    What is over the quota of those who proved nothing is given, too, and stays in the inbox alone.
    """
    threads = KeptThreads(stores)
    now = datetime.fromisoformat(now_iso)
    for arrived in inbox.arrived(stores.replies.read()):
        found = read_reply(arrived.data, threads, trust, now, giant=arrived.giant)
        once = _once(_kept(found, key_of(arrived.data), now_iso), stores.replies)
        kept = _within(once, found, len(arrived.data), stores.replies, trust)
        new = kept is not None and stores.replies.put(kept, arrived.data)
        if kept is not None and kept.state is not ReplyState.IGNORED:
            # A report that was sent has an answer now; one of another version stays as it is.
            with suppress(InternalError):
                stores.campaigns.move_report(
                    kept.campaign, (ReportState.SENT,), ReportState.ANSWERED
                )
        inbox.done(arrived)
        stores.replies.mark_read(arrived.key)
        if kept is None:
            said = f"is one too many of today ({trust.others_a_day} of unknown senders are kept)"
            full = Reply(
                message_id=found.message_id,
                sender=found.sender,
                subject=found.subject,
                campaign=found.campaign,
                asked=(),
                ignored=said,
            )
            yield _kept(full, key_of(arrived.data), now_iso)
        elif new:
            yield kept


#: Replies that somebody let count, or that were carried out.
_COUNTED = (ReplyState.ACCEPTED, ReplyState.DONE)


def _once(kept: KeptReply, known: Replies) -> KeptReply:
    """A reply that has come before asks no more, as the copy that a list sends of it, or one that
    somebody has sent again. One that is proved takes the place of one that is not: lists break
    signatures, and anybody may be first.
    """
    if kept.state not in (ReplyState.ACCEPTED, ReplyState.WAITING):
        return kept
    for other in known.of_sender(kept.sender):
        # One that a person has closed asks no more however often it comes.
        if other.state is ReplyState.IGNORED or not other.asked or not _same(kept, other):
            continue
        if kept.state is ReplyState.ACCEPTED and other.state is ReplyState.WAITING:
            known.set(other.key, ReplyState.NOTED, f"has come again, signed, as {kept.key}")
            continue
        return replace(kept, state=ReplyState.NOTED, why=f"has come before, as {other.key}")
    return kept


def _same(one: KeptReply, other: KeptReply) -> bool:
    """Whether two replies of one sender are copies of one mail. Its Message-ID may change where
    it is not signed, and its text may have a line of a list more where the signature is broken.
    """
    if other.key == one.key:
        return False
    if one.digest and one.digest == other.digest:
        return True
    same = (other.campaign, other.message_id) == (one.campaign, one.message_id)
    return same and bool(one.message_id or other.asked == one.asked)


def _within(
    kept: KeptReply, found: Reply, size_bytes: int, known: Replies, trust: SenderRules
) -> KeptReply | None:
    """A reply within the quotas of the day: a person's commands above his quota wait; None for a
    mail that would be one too many of those who proved nothing.
    """
    today = [each for each in known.of_day(kept.at) if each.key != kept.key]
    if not found.proved:
        others = [each for each in today if each.state not in _COUNTED]
        if len(others) >= trust.others_a_day:
            return None
        if kept.state is ReplyState.IGNORED:
            return kept
        total_bytes = size_bytes + sum(known.size_bytes(each.key) for each in others)
        return kept if total_bytes <= trust.others_bytes_a_day else None
    if kept.state is ReplyState.ACCEPTED:
        counted = [each for each in today if each.sender == kept.sender and each.state in _COUNTED]
        asked = len(kept.asked) + sum(len(each.asked) for each in counted)
        if asked > trust.commands_a_day:
            why = f"asks for more than {trust.commands_a_day} things a day"
            return replace(kept, state=ReplyState.WAITING, why=why)
    return kept


def _kept(found: Reply, key: str, now_iso: str) -> KeptReply:
    if found.ignored:
        state, why = ReplyState.IGNORED, found.ignored
    elif not found.asked:
        state, why = ReplyState.NOTED, found.untrusted
    elif found.untrusted:
        state, why = ReplyState.WAITING, found.untrusted
    else:
        state, why = ReplyState.ACCEPTED, "signed by who may ask"
    return KeptReply(
        key=key,
        message_id=found.message_id,
        campaign=found.campaign,
        sender=found.sender,
        subject=found.subject,
        at=now_iso,
        asked=tuple((each.name, each.argument) for each in found.asked),
        state=state,
        why=why,
        digest=found.digest,
    )
