# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect mail`: what has been approved, on its way, and what people answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from rtbisect.campaign.assemble import SystemClock
from rtbisect.cli.options import answers, by_option, site_option
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.errors import ConfigError, Exit, Interrupted, RtbisectError
from rtbisect.mail import accounts, approve
from rtbisect.mail.command_mail import SenderRules
from rtbisect.mail.commands import carry_out
from rtbisect.mail.poll import Stores
from rtbisect.mail.poll import poll as poll_replies
from rtbisect.mail.report_state import follow_outbox, withdrawn
from rtbisect.mail.send import send_due
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Replied
from rtbisect.model.mail import MailKind, MailState, OutMail
from rtbisect.process.command import one_line
from rtbisect.store.replies import KeptReply, Replies, ReplyState
from rtbisect.words.documents import found
from rtbisect.words.speak import speak

#: What waits for a person.
_WAIT = (MailState.IN_DOUBT, MailState.REFUSED, MailState.HELD)

#: What is told of a mail and of a reply, by the names of their fields.
_MAIL_KEYS = (
    "message_id", "campaign", "kind", "state", "recipients", "approved_by", "approved_at", "tries",
)  # fmt: skip
_REPLY_KEYS = ("key", "message_id", "campaign", "sender", "subject", "at", "state")


@click.group(no_args_is_help=False, epilog="Example: rtbisect mail list --json")
def mail() -> None:
    """Look at approved mails, send them, and handle replies."""


@mail.command("list", epilog="Example: rtbisect mail list --json")
@answers
def list_mails(output: Output) -> int:
    """List the outbox, oldest mail first."""
    mails = output.outbox.all()
    text = "\n".join(map(_mail_line, mails)) or "the outbox is empty"
    output.answer({"mails": [_mail_row(each) for each in mails]}, text)
    return 0


@mail.command(epilog="Example: rtbisect mail send --site site.yaml")
@site_option
@answers
def send(output: Output, site: Path | None) -> int:
    """Send what is due, each mail once. Exit code 3: a mail waits for a person.

    Fits a timer. A mail that may have arrived already is in doubt and never sent again by itself.
    """
    loaded = output.site(site)
    progress = PlainProgress()
    outbox, store = output.outbox, output.store

    # What a session that was killed has left.
    follow_outbox(store, outbox)
    transport = accounts.transport_of(output.state, loaded)
    try:
        ended = send_due(outbox, transport, time.time, lambda each: progress.say(_mail_line(each)))
    finally:
        follow_outbox(store, outbox)
    rows = [_mail_row(each) for each in ended]
    left = outbox.all(_WAIT)
    text = f"{sum(each.state is MailState.SENT for each in ended)} sent, {len(left)} wait for you"
    output.answer({"mails": rows, "waiting": len(left)}, text)
    return Exit.LAB if left else Exit.ANSWERED


@mail.command(epilog="Example: rtbisect mail decide ID sent --why 'it is in the archive'")
@click.argument("message_id")
@click.argument("what", type=click.Choice(["sent", "again"]))
@click.option("--why", required=True, help="How you know, in a sentence.")
@answers
def decide(output: Output, message_id: str, what: str, why: str) -> int:
    """Decide about a mail whose delivery is in doubt: it was sent, or is to be sent again."""
    outbox = output.outbox
    state = MailState.SENT if what == "sent" else MailState.QUEUED
    with outbox.sender():
        outbox.settle()
        undecided = outbox.get(message_id)
        if (
            what == "again"
            and undecided.kind is MailKind.REPORT
            and withdrawn(outbox, undecided.campaign)
        ):
            raise ConfigError(f"{message_id} was withdrawn", "a withdrawn report cannot be sent")
        decided = outbox.decide(undecided, state, why[:200])
    follow_outbox(output.store, outbox)
    output.answer(_mail_row(decided), _mail_line(decided))
    return 0


@mail.command(epilog="Example: rtbisect mail drop ID")
@click.argument("message_id")
@answers
def drop(output: Output, message_id: str) -> int:
    """Remove an unsent mail from the outbox; its report becomes a draft again."""
    outbox = output.outbox
    with outbox.sender():
        outbox.settle()
        dropped = outbox.get(message_id)
        outbox.drop(dropped)
    follow_outbox(output.store, outbox)
    row = {"message_id": dropped.message_id, "dropped": True}
    output.answer(row, f"{dropped.message_id} is dropped")
    return 0


@mail.command(epilog="Example: rtbisect mail poll --site site.yaml")
@site_option
@answers
def poll(output: Output, site: Path | None) -> int:
    """Read replies to our mails from the site's inbox; fits a timer."""
    loaded = output.site(site)
    stores = Stores(Replies(output.state), output.outbox, output.store)
    follow_outbox(stores.campaigns, stores.outbox)
    with closing(accounts.inbox_of(loaded)) as inbox:
        trust = SenderRules(own=loaded.ours.bot.address, commands=loaded.ours.mail.commands)
        arrived = tuple(poll_replies(inbox, stores, trust, SystemClock().now_iso()))
    return _answer_replies(output, arrived)


@mail.command(epilog="Example: rtbisect mail replies --json")
@answers
def replies(output: Output) -> int:
    """List replies, oldest first, without those that need no attention."""
    kept = Replies(output.state).all([s for s in ReplyState if s is not ReplyState.IGNORED])
    return _answer_replies(output, kept)


@mail.command(epilog="Example: rtbisect mail accept 0123456789ab --by 'A Person'")
@click.argument("key")
@by_option
@site_option
@answers
def accept(output: Output, key: str, by: str, site: Path | None) -> int:
    """Accept the commands of the reply KEY, although nothing proves who sent it."""
    person = approve.approver(output.site(site), by)
    why = Finding.of(Replied.ACCEPTED, person=str(person))
    return _move_reply(output, key, (ReplyState.WAITING,), ReplyState.ACCEPTED, why)


@mail.command(epilog="Example: rtbisect mail close 0123456789ab --by 'A Person'")
@click.argument("key")
@by_option
@site_option
@answers
def close(output: Output, key: str, by: str, site: Path | None) -> int:
    """Close the reply KEY: none of its commands will be carried out, but one that runs already."""
    person = approve.approver(output.site(site), by)
    before = (ReplyState.WAITING, ReplyState.ACCEPTED)
    why = Finding.of(Replied.CLOSED, person=str(person))
    return _move_reply(output, key, before, ReplyState.NOTED, why)


@mail.command(epilog="Example: rtbisect mail work")
@answers
def work(output: Output) -> int:
    """Carry out the commands of accepted replies, one after the other; answers are drafts.

    Call it again to go on after an interruption or a fault of the lab.
    """
    replies, ended, progress = Replies(output.state), [], PlainProgress()
    follow_outbox(output.store, output.outbox)
    stopped: RtbisectError | None = None
    for reply in replies.all([ReplyState.ACCEPTED]):
        if reply.state is ReplyState.UNREADABLE:
            # As it is: whoever mends it finds in it what stood there.
            ended.append(reply)
            continue
        try:
            carry_out(output.state, replies, reply, progress)
        except Interrupted:
            raise
        except RtbisectError as error:
            # The others do not wait for a site file, a lab or an archive that this one needs.
            output.tell_fault(progress, f"reply {reply.key}", error)
            why = Finding.of(Replied.WAITS, error=one_line(str(error)))
            replies.move(reply.key, (ReplyState.ACCEPTED,), ReplyState.ACCEPTED, why)
            stopped = stopped or error
        ended.append(replies.get(reply.key))
    _answer_replies(output, ended)
    return stopped.exit_code if stopped else Exit.ANSWERED


def _move_reply(
    output: Output, key: str, before: Sequence[ReplyState], state: ReplyState, why: Finding
) -> int:
    """Move a reply on for a person, and print it; ConfigError where it is not in one of the states
    `before`.
    """
    replies = Replies(output.state)
    # One that cannot be read stays as it is.
    replies.get(key)
    moved = replies.move(key, before, state, why)
    reply = replies.get(key)
    if not moved:
        raise ConfigError(f"reply {key} is {reply.state}", "see `rtbisect mail replies`")
    return _answer_replies(output, (reply,))


def _answer_replies(output: Output, replies: Sequence[KeptReply]) -> int:
    """Print replies; the exit code."""
    rows = [
        {name: getattr(reply, name) for name in _REPLY_KEYS}
        | {"why": str(speak(reply.why)) if reply.why else ""}
        | {"why_found": found(reply.why) if reply.why else None}
        | {"asked": [{"command": name, "argument": argument} for name, argument in reply.asked]}
        for reply in replies
    ]
    text = "\n".join(map(_reply_line, replies)) or "no replies"
    output.answer({"replies": rows}, text)
    return 0


def _reply_line(reply: KeptReply) -> str:
    commands = ", ".join(f"{name} {argument}".strip() for name, argument in reply.asked) or "-"
    reason = f" ({speak(reply.why)})" if reply.why else ""
    thread = f"{reply.campaign or '-'}  {reply.sender or '?'}"
    return f"{reply.key}  {reply.state:<9}{thread}: {commands}{reason}"


def _mail_row(mail: OutMail) -> dict[str, Any]:
    answer = mail.answer
    return {name: getattr(mail, name) for name in _MAIL_KEYS} | {
        "refused": [str(speak(each)) for each in mail.refused],
        "refused_found": list(map(found, mail.refused)),
        "answer": str(speak(answer)) if answer else "",
        "answer_found": found(answer) if answer else None,
    }


def _mail_line(mail: OutMail) -> str:
    people = f"{len(mail.recipients)} recipients"
    if mail.refused:
        first = "; ".join(str(speak(each)) for each in mail.refused[:3])
        people += f", {len(mail.refused)} of them refused ({first})"
    answer = f" ({speak(mail.answer)})" if mail.answer else ""
    return f"{mail.state:<9}{mail.campaign}  {mail.message_id}  {people}{answer}"
