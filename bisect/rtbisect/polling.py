# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies from the inbox into the store, each once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.model.report import ReportState
from rtbisect.post.replies import Reply, Trust, read_reply
from rtbisect.store.replies import KeptReply, ReplyState, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbisect.post.inbox import Inbox
    from rtbisect.store.campaigns import CampaignStore
    from rtbisect.store.outbox import Outbox
    from rtbisect.store.replies import Replies


@dataclass(frozen=True, slots=True)
class Stores:
    """Where replies, our own mails and campaigns lie."""

    replies: Replies
    outbox: Outbox
    campaigns: CampaignStore


def poll(inbox: Inbox, stores: Stores, trust: Trust, now_iso: str) -> Iterator[KeptReply]:
    """Keep what has come in and give it, message by message; one is done with after it is kept."""
    threads, mends = dict(threads_of(stores)), mends_of(stores)
    for arrived in inbox.arrived(stores.replies.read()):
        found = read_reply(arrived.data, threads, trust, giant=arrived.giant, mends=mends)
        kept = _once(_kept(found, key_of(arrived.data), now_iso), stores.replies)
        new = stores.replies.put(kept, arrived.data)
        if kept.state is not ReplyState.IGNORED:
            # What answers this one is in the thread, too.
            threads.setdefault(kept.message_id, kept.campaign)
            # A report that was sent has an answer now.
            stores.campaigns.move_report(kept.campaign, (ReportState.SENT,), ReportState.ANSWERED)
        inbox.done(arrived)
        stores.replies.mark_read(arrived.key)
        if new:
            yield kept


def threads_of(stores: Stores) -> Mapping[str, str]:
    """Campaigns by the Message-IDs of our mails, of drafts, which an operator may hand on, and of
    what was answered to them.
    """
    ours = {mail.message_id: mail.campaign for mail in stores.outbox.all()}
    for record in stores.campaigns.readable():
        if record.report is not None:
            ours[f"<{record.report.message_id.strip('<>')}>"] = record.id
    theirs = {
        reply.message_id: reply.campaign
        for reply in stores.replies.all()
        if reply.campaign and reply.message_id and reply.state is not ReplyState.IGNORED
    }
    return theirs | ours


def mends_of(stores: Stores) -> Mapping[str, Sequence[str]]:
    """By campaign what the tags of a patch say that mends its culprit, or closes its report."""
    return {
        record.id: (record.result.culprit[:12], record.report.message_id.strip("<>"))
        for record in stores.campaigns.readable()
        if record.report is not None and record.result is not None and record.result.culprit
    }


def _once(kept: KeptReply, known: Replies) -> KeptReply:
    """A reply that has come before asks no more, as the copy that a list sends of it. One that is
    proved takes the place of one that is not: lists break signatures, and anybody may be first.
    """
    if kept.state not in (ReplyState.ACCEPTED, ReplyState.WAITING):
        return kept
    for other in known.all((ReplyState.ACCEPTED, ReplyState.WAITING, ReplyState.DONE)):
        same = (other.sender, other.campaign) == (kept.sender, kept.campaign)
        same = same and other.key != kept.key and other.message_id == kept.message_id
        if not same or not (kept.message_id or other.asked == kept.asked):
            continue
        if kept.state is ReplyState.ACCEPTED and other.state is ReplyState.WAITING:
            known.set(other.key, ReplyState.NOTED, f"has come again, signed, as {kept.key}")
            continue
        return replace(kept, state=ReplyState.NOTED, why=f"has come before, as {other.key}")
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
    )
