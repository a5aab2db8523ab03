# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect mail`: what has been approved, on its way."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from rtbisect.campaign.assemble import SystemClock
from rtbisect.cli.options import by_option, json_option, site_option, site_path
from rtbisect.cli.output import PlainProgress
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError, Exit
from rtbisect.mail import accounts, approve
from rtbisect.mail.poll import Stores
from rtbisect.mail.poll import poll as poll_replies
from rtbisect.mail.report_state import REPORT, follow_outbox, withdrawn
from rtbisect.mail.send import send_due
from rtbisect.mail.transport.inbox import ImapBox
from rtbisect.model.mail import MailState
from rtbisect.store.replies import Replies, ReplyState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rtbisect.cli.output import Output
    from rtbisect.mail.transport.inbox import Inbox
    from rtbisect.model.mail import OutMail
    from rtbisect.store.replies import KeptReply

#: What waits for a person.
_WAIT = (MailState.IN_DOUBT, MailState.REFUSED, MailState.HELD)


@click.group(no_args_is_help=False, epilog="Example: rtbisect mail list --json")
def mail() -> None:
    """Mails that a person has approved: look at them, send them."""


@mail.command("list", epilog="Example: rtbisect mail list --json")
@json_option
@click.pass_obj
def list_mails(output: Output) -> int:
    """The outbox, oldest mail first."""
    mails = output.outbox.all()
    text = "\n".join(map(_line, mails)) or "the outbox is empty"
    output.answer({"mails": [_row(each) for each in mails]}, text)
    return 0


@mail.command(epilog="Example: rtbisect mail send --site site.yaml")
@site_option
@json_option
@click.pass_obj
def send(output: Output, site: Path | None) -> int:
    """Send what is due, each mail once; exits with 3 while something waits for a person.

    Fits a timer. A mail that may have arrived already is in doubt and never sent again by itself.
    """
    loaded = load_site(site_path(site))
    progress = PlainProgress()
    outbox, store = output.outbox, output.store

    # What a session that was killed has left.
    follow_outbox(store, outbox)
    transport = accounts.transport_of(output.state, loaded)
    try:
        ended = send_due(outbox, transport, time.time, lambda each: progress.say(_line(each)))
    finally:
        follow_outbox(store, outbox)
    rows = [_row(each) for each in ended]
    left = outbox.all(_WAIT)
    text = f"{sum(each.state is MailState.SENT for each in ended)} sent, {len(left)} wait for you"
    output.answer({"mails": rows, "waiting": len(left)}, text)
    return int(Exit.LAB) if left else int(Exit.ANSWERED)


@mail.command(epilog="Example: rtbisect mail decide ID sent --why 'it is in the archive'")
@click.argument("message_id")
@click.argument("what", type=click.Choice(["sent", "again"]))
@click.option("--why", required=True, help="What you looked at.")
@json_option
@click.pass_obj
def decide(output: Output, message_id: str, what: str, why: str) -> int:
    """Say of a mail that waits for you that it was sent, or is to be sent again."""
    outbox = output.outbox
    state = MailState.SENT if what == "sent" else MailState.QUEUED
    with outbox.sender():
        outbox.settle()
        asked = outbox.get(message_id)
        if what == "again" and asked.kind == REPORT and withdrawn(outbox, asked.campaign):
            raise ConfigError(f"{message_id} was withdrawn", "it is not sent behind that")
        found = outbox.decide(asked, state, f"a person: {why[:200]}")
    follow_outbox(output.store, outbox)
    output.answer(_row(found), _line(found))
    return 0


@mail.command(epilog="Example: rtbisect mail drop ID")
@click.argument("message_id")
@json_option
@click.pass_obj
def drop(output: Output, message_id: str) -> int:
    """Take a mail that was not sent out of the outbox; its report is a draft again."""
    outbox = output.outbox
    with outbox.sender():
        outbox.settle()
        found = outbox.get(message_id)
        outbox.drop(found)
    follow_outbox(output.store, outbox)
    row = {"message_id": found.message_id, "dropped": True}
    output.answer(row, f"{found.message_id} is dropped")
    return 0


@mail.command(epilog="Example: rtbisect mail poll --site site.yaml")
@site_option
@json_option
@click.pass_obj
def poll(output: Output, site: Path | None) -> int:
    """Read replies to our mails from the site's inbox; fits a timer."""
    loaded = load_site(site_path(site))
    stores = Stores(Replies(output.state), output.outbox, output.store)
    follow_outbox(stores.campaigns, stores.outbox)
    with _open(accounts.inbox_of(loaded)) as inbox:
        now = SystemClock().now_iso()
        found = tuple(poll_replies(inbox, stores, accounts.trust_of(loaded), now))
    return answer_replies(output, found)


@mail.command(epilog="Example: rtbisect mail replies --json")
@json_option
@click.pass_obj
def replies(output: Output) -> int:
    """Replies that were read, oldest first, but those that nobody has to look at."""
    found = Replies(output.state).all([s for s in ReplyState if s is not ReplyState.IGNORED])
    return answer_replies(output, found)


@mail.command(epilog="Example: rtbisect mail accept 0123456789ab --by 'A Person'")
@click.argument("key")
@by_option
@site_option
@json_option
@click.pass_obj
def accept(output: Output, key: str, by: str, site: Path | None) -> int:
    """Let the commands of the reply KEY count, although nothing proves who sent it."""
    who = approve.approver(load_site(site_path(site)), by)
    found = _moved(output, key, (ReplyState.WAITING,), ReplyState.ACCEPTED, f"accepted by {who}")
    return answer_replies(output, (found,))


@mail.command(epilog="Example: rtbisect mail close 0123456789ab --by 'A Person'")
@click.argument("key")
@by_option
@site_option
@json_option
@click.pass_obj
def close(output: Output, key: str, by: str, site: Path | None) -> int:
    """Let the reply KEY ask for nothing any more, whatever it has asked for."""
    who = approve.approver(load_site(site_path(site)), by)
    before = (ReplyState.WAITING, ReplyState.ACCEPTED)
    found = _moved(output, key, before, ReplyState.NOTED, f"closed by {who}")
    return answer_replies(output, (found,))


def _moved(
    output: Output, key: str, before: Sequence[ReplyState], state: ReplyState, why: str
) -> KeptReply:
    """A reply, moved on by a person; ConfigError where it is not in one of the states `before`."""
    kept = Replies(output.state)
    found = kept.get(key)
    if found.state not in before:
        raise ConfigError(f"reply {key} is {found.state}", "see `rtbisect mail replies`")
    kept.set(key, state, why)
    return kept.get(key)


@contextmanager
def _open(inbox: Inbox) -> Iterator[Inbox]:
    """An inbox whose connection, if it has one, ends with the command."""
    try:
        yield inbox
    finally:
        if isinstance(inbox, ImapBox):
            inbox.close()


def answer_replies(output: Output, found: Sequence[KeptReply]) -> int:
    """Print replies; the exit code."""
    rows = [
        {
            "key": each.key,
            "message_id": each.message_id,
            "campaign": each.campaign,
            "sender": each.sender,
            "subject": each.subject,
            "at": each.at,
            "asked": [{"command": name, "argument": argument} for name, argument in each.asked],
            "state": each.state.value,
            "why": each.why,
        }
        for each in found
    ]
    text = "\n".join(map(_reply_line, found)) or "no replies"
    output.answer({"replies": rows}, text)
    return 0


def _reply_line(found: KeptReply) -> str:
    asked = ", ".join(f"{name} {argument}".strip() for name, argument in found.asked) or "-"
    why = f" ({found.why})" if found.why else ""
    who = f"{found.campaign or '-'}  {found.sender or '?'}"
    return f"{found.key}  {found.state:<9}{who}: {asked}{why}"


def _row(found: OutMail) -> dict[str, Any]:
    return {
        "message_id": found.message_id,
        "campaign": found.campaign,
        "kind": found.kind,
        "state": found.state.value,
        "recipients": list(found.recipients),
        "refused": list(found.refused),
        "approved_by": found.approved_by,
        "approved_at": found.approved_at,
        "tries": found.tries,
        "answer": found.answer,
    }


def _line(found: OutMail) -> str:
    people = f"{len(found.recipients)} recipients"
    if found.refused:
        people += f", {len(found.refused)} of them refused ({'; '.join(found.refused[:3])})"
    said = f" ({found.answer})" if found.answer else ""
    return f"{found.state:<9}{found.campaign}  {found.message_id}  {people}{said}"
