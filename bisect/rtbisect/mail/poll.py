# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies from the inbox into the store, each once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InternalError
from rtbisect.mail.command_mail import Reply, SenderRules, read_reply
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Ignored, Replied, Untrusted
from rtbisect.model.report import ReportState
from rtbisect.report.input_file import read_input
from rtbisect.store.replies import KeptReply, Replies, ReplyState, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.mail.transport.inbox import Inbox
    from rtbisect.model.report import Report
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore
    from rtbisect.store.outbox import Outbox


@dataclass(frozen=True, slots=True)
class Stores:
    """Where replies, our own mails and campaigns lie: command_mail.Threads of what is kept."""

    replies: Replies
    outbox: Outbox
    campaigns: CampaignStore

    def ours(self, message_id: str) -> str:
        """Drafts count, too: an operator may have handed one on."""
        try:
            campaign = self.outbox.get(message_id).campaign
        except ConfigError:
            campaign = ""
        return campaign or self.campaigns.of_message(message_id)

    def answers(self, message_id: str) -> str:
        # The first one that called itself so: nobody takes a thread over by its name.
        for reply in self.replies.of_message(message_id):
            if reply.campaign and reply.state is not ReplyState.IGNORED:
                return reply.campaign
        return ""

    def is_ours(self, campaign: str) -> bool:
        record = self._record(campaign)
        drafted = record is not None and record.report is not None
        return drafted or bool(self.outbox.of_campaign(campaign))

    def mends(self, campaign: str) -> tuple[str, ...]:
        record = self._record(campaign)
        if record is None or record.report is None or record.result is None:
            return ()
        if not record.result.culprit:
            return ()
        ids = (record.result.culprit, _upstream(record.report))
        return *(each[:12] for each in ids if each), record.report.message_id.strip("<>")

    def _record(self, campaign: str) -> CampaignRecord | None:
        try:
            return self.campaigns.get(campaign)
        except (ConfigError, InternalError):
            return None


def _upstream(report: Report) -> str:
    """The mainline commit that the culprit of a report is a backport of, which fixes of it name; ""
    where there is none.
    """
    try:
        culprit = read_input(report.folder).culprit
    except ConfigError:
        # The report is still known by what the store has of it.
        return ""
    return culprit.upstream if culprit is not None else ""


def poll(inbox: Inbox, stores: Stores, trust: SenderRules, now_iso: str) -> Iterator[KeptReply]:
    """Keep what has come in and give it, message by message; one is done with after it is kept.
    What is over the quota of those who proved nothing is given, too, and stays in the inbox alone.
    """
    now = datetime.fromisoformat(now_iso)
    for arrived in inbox.arrived(stores.replies.read()):
        reply = read_reply(arrived.data, stores, trust, now, giant=arrived.giant)
        unrepeated = _unrepeated(_to_keep(reply, key_of(arrived.data), now_iso), stores.replies)
        kept = _within_quota(unrepeated, reply, len(arrived.data), stores.replies, trust)
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
            reason = Finding.of(Ignored.ONE_TOO_MANY, most=trust.commands.others_a_day)
            refused = replace(reply, asked=(), ignored=reason, digest="")
            yield _to_keep(refused, key_of(arrived.data), now_iso)
        elif new:
            yield kept


#: Replies that somebody let count, or that were carried out.
_COUNTED = (ReplyState.ACCEPTED, ReplyState.DONE)


def _unrepeated(reply: KeptReply, replies: Replies) -> KeptReply:
    """A reply that has come before asks no more, as the copy that a list sends of it, or one that
    somebody has sent again. One that is proved takes the place of one that is not: lists break
    signatures, and anybody may be first.
    """
    if reply.state not in (ReplyState.ACCEPTED, ReplyState.WAITING):
        return reply
    by_key = {each.key: each for each in replies.of_sender(reply.sender)}
    # One that a person has closed asks no more however often it comes.
    copied = [
        _original(earlier, by_key)
        for earlier in by_key.values()
        if earlier.state is not ReplyState.IGNORED and earlier.asked and _are_copies(reply, earlier)
    ]
    for original in {each.key: each for each in copied}.values():
        if not _takes_place(reply, original, replies):
            why = Finding.of(Replied.COPY, key=original.key)
            return replace(reply, state=ReplyState.NOTED, why=why)
    return reply


def _original(reply: KeptReply, by_key: dict[str, KeptReply]) -> KeptReply:
    """What a copy is one of. A copy asks for nothing by itself: whether its command counts, or is
    open, stands at its original.
    """
    seen = set()
    while reply.why is not None and reply.why.kind == Replied.COPY and reply.key not in seen:
        seen.add(reply.key)
        reply = by_key.get(str(reply.why.data["key"]), reply)
    return reply


def _takes_place(reply: KeptReply, earlier: KeptReply, replies: Replies) -> bool:
    """Whether a reply asks in the place of an earlier one, which then asks no more."""
    why = Finding.of(Replied.SIGNED_COPY, key=reply.key)
    # A kill may have come behind the move, before this reply was kept.
    if earlier.key == reply.key or earlier.why == why:
        return True
    open_and_proved = reply.state is ReplyState.ACCEPTED and earlier.state is ReplyState.WAITING
    return open_and_proved and replies.move(
        earlier.key, (ReplyState.WAITING,), ReplyState.NOTED, why
    )


def _are_copies(reply: KeptReply, earlier: KeptReply) -> bool:
    """Whether two replies of one sender are copies of one mail. Its Message-ID may change where
    it is not signed, and its text may have a line of a list more where the signature is broken.
    """
    if earlier.key == reply.key:
        return False
    if reply.digest and reply.digest == earlier.digest:
        return True
    same = (earlier.campaign, earlier.message_id) == (reply.campaign, reply.message_id)
    return same and bool(reply.message_id or earlier.asked == reply.asked)


def _within_quota(
    reply: KeptReply, as_read: Reply, size_bytes: int, replies: Replies, trust: SenderRules
) -> KeptReply | None:
    """A reply within the quotas of the day: a person's commands above his quota wait; None for a
    mail that would be one too many of those who proved nothing.
    """
    today = [each for each in replies.of_day(reply.at) if each.key != reply.key]
    # Anybody can send a signed mail again: a copy of one proves nothing.
    copied = reply.why is not None and reply.why.kind == Replied.COPY
    if copied or not as_read.proved:
        unproved = [each for each in today if each.state not in _COUNTED]
        if len(unproved) >= trust.commands.others_a_day:
            return None
        if reply.state is ReplyState.IGNORED:
            return reply
        total_bytes = size_bytes + sum(replies.size_bytes(each.key) for each in unproved)
        return reply if total_bytes <= trust.commands.others_mb_a_day * 1_000_000 else None
    if reply.state is ReplyState.ACCEPTED:
        counted = [each for each in today if each.sender == reply.sender and each.state in _COUNTED]
        commands = len(reply.asked) + sum(len(each.asked) for each in counted)
        if commands > trust.commands.a_day:
            why = Finding.of(Untrusted.MANY_COMMANDS, most=trust.commands.a_day)
            return replace(reply, state=ReplyState.WAITING, why=why)
    return reply


def _to_keep(reply: Reply, key: str, now_iso: str) -> KeptReply:
    why: Finding | None
    if reply.ignored:
        state, why = ReplyState.IGNORED, reply.ignored
    elif not reply.asked:
        state, why = ReplyState.NOTED, reply.untrusted
    elif reply.untrusted:
        state, why = ReplyState.WAITING, reply.untrusted
    else:
        state, why = ReplyState.ACCEPTED, Finding.of(Replied.SIGNED)
    return KeptReply(
        key=key,
        message_id=reply.message_id,
        campaign=reply.campaign,
        sender=reply.sender,
        subject=reply.subject,
        at=now_iso,
        asked=tuple((each.name, each.argument) for each in reply.asked),
        state=state,
        why=why,
        digest=reply.digest,
    )
