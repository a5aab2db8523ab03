# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies to our mails, and what was asked in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.finding import Finding, Kept
from rtbisect.model.kinds.mail import Replied
from rtbisect.store import codec, db
from rtbisect.store.artefacts import write_whole


class ReplyState(StrEnum):
    """IGNORED: nobody looks at it; NOTED: it asks for nothing; WAITING: a person has to say that
    its commands count; ACCEPTED: they do; DONE: they were carried out. UNREADABLE is never kept: so
    a row is told that this version cannot read.
    """

    IGNORED = "ignored"
    NOTED = "noted"
    WAITING = "waiting"
    ACCEPTED = "accepted"
    DONE = "done"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReply:
    """A reply as it is kept."""

    #: Its number for a person: the first 12 digits of the sha256 of its mail.
    key: str
    message_id: str
    #: The campaign whose report it answers; "" for none.
    campaign: str
    #: An address without a name.
    sender: str
    subject: str
    #: When it was read: ISO 8601, UTC.
    at: str
    #: Commands in it, in their order: pairs of name and argument, which may be "".
    asked: tuple[tuple[str, str], ...]
    state: ReplyState
    #: Why the reply has this state; None where nothing is to be said.
    why: Finding | None = None
    #: The same in all copies of a mail; "" where that is not known.
    digest: str = ""


table = sa.Table(
    "reply",
    db.metadata,
    sa.Column("key", sa.Text, primary_key=True),
    db.text_column("message_id", index=True),
    db.text_column("campaign"),
    db.text_column("sender", index=True),
    db.text_column("subject"),
    db.text_column("at", index=True),
    db.text_column("asked"),
    db.text_column("state"),
    db.text_column("why"),
    db.text_column("digest", server_default=""),
)


#: Names that an inbox has for messages that were read.
names = sa.Table("read", db.metadata, sa.Column("name", sa.Text, primary_key=True))


def key_of(data: bytes) -> str:
    """The key of a message: the same one that comes twice is one."""
    return hashlib.sha256(data).hexdigest()[:12]


class Replies:
    """The replies of one state directory."""

    def __init__(self, state: Path) -> None:
        self.database = db.Database(state / "rtbisect.sqlite3")
        self._folder = state / "replies"

    def put(self, reply: KeptReply, data: bytes) -> bool:
        """Keep a reply and its mail, where somebody may look at it; False when it is there."""
        if reply.state is not ReplyState.IGNORED:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.mail(reply.key), data, mode=0o600)
        return bool(self.database.execute(db.insert_new(table, reply)))

    def read(self) -> frozenset[str]:
        """Names of messages that an inbox need not hand out any more."""
        return frozenset(self.database.values(sa.select(names.c.name)))

    def mark_read(self, name: str) -> None:
        self.database.execute(sa.insert(names).prefix_with("OR IGNORE").values(name=name))

    def all(self, states: Collection[ReplyState] = tuple(ReplyState)) -> tuple[KeptReply, ...]:
        """Replies in these states or in one that is none, oldest first. One that cannot be read
        must not hide the others: it stands among them as UNREADABLE. So in all that follow.
        """
        return self._replies(
            sa.or_(table.c.state.in_(states), table.c.state.not_in(tuple(ReplyState)))
        )

    def of_sender(self, sender: str) -> tuple[KeptReply, ...]:
        """Replies of one person."""
        return self._replies(table.c.sender == sender)

    def of_day(self, at_iso: str) -> tuple[KeptReply, ...]:
        """Replies that came on the day of this time."""
        day = at_iso[:10]
        return self._replies(sa.and_(table.c.at >= day, table.c.at < f"{day}~"))

    def of_message(self, message_id: str) -> tuple[KeptReply, ...]:
        """Replies with this Message-ID."""
        return self._replies(table.c.message_id == message_id)

    def get(self, key: str) -> KeptReply:
        """One reply; ConfigError when there is none, InternalError when it cannot be read."""
        rows = self.database.rows(table, table.c.key == key)
        if not rows:
            raise ConfigError(f"no reply {key!r}", "see `rtbisect mail replies`")
        return _reply(rows[0])

    def _replies(self, condition: sa.ColumnElement[bool]) -> tuple[KeptReply, ...]:
        return tuple(map(self._whatever, self.database.rows(table, condition)))

    def _whatever(self, row: dict[str, Any]) -> KeptReply:
        try:
            return _reply(row)
        except InternalError:
            why = Finding.of(Replied.UNREADABLE, database=str(self.database.path))
            unread = {"asked": (), "state": ReplyState.UNREADABLE, "why": why}
            return KeptReply(**(row | unread))

    def mail(self, key: str) -> Path:
        """Where the mail of a reply lies, as it came."""
        return self._folder / f"{key}.eml"

    def size_bytes(self, key: str) -> int:
        """What the mail of a reply takes; 0 for one that is not kept."""
        try:
            return self.mail(key).stat().st_size
        except FileNotFoundError:
            return 0

    def outcomes(self, key: str) -> tuple[Finding, ...]:
        """What became of the first commands of a reply."""
        try:
            kept = json.loads(self._outcomes_file(key).read_text("utf-8"))
            return tuple(map(_outcome, kept))
        except (OSError, ValueError, TypeError, RecursionError):
            return ()

    def keep_outcomes(self, key: str, outcomes: Sequence[Finding]) -> None:
        """Note what became of commands, so that a kill behind this does not repeat them."""
        data = json.dumps([codec.to_plain(Finding, each) for each in outcomes]).encode()
        write_whole(self._outcomes_file(key), data, mode=0o600)

    def question(self, key: str, place: int) -> bytes:
        """What a command was found to ask for when it was first looked at; b"" before that."""
        try:
            return self._question_file(key, place).read_bytes()
        except OSError:
            return b""

    def keep_question(self, key: str, place: int, data: bytes) -> None:
        """Keep what a command asks for: branches move while it waits."""
        write_whole(self._question_file(key, place), data, mode=0o600)

    def _question_file(self, key: str, place: int) -> Path:
        return self._folder / f"{key}.{place}.json"

    def _outcomes_file(self, key: str) -> Path:
        return self._folder / f"{key}.said"

    def move(
        self, key: str, before: Collection[ReplyState], state: ReplyState, why: Finding
    ) -> bool:
        """Move a reply on from one of the states `before`; False where it stands in another by now:
        a person may have closed it meanwhile.
        """
        this = sa.and_(table.c.key == key, table.c.state.in_(before))
        values = db.column_values({"state": state, "why": why})
        return bool(self.database.execute(sa.update(table).where(this).values(values)))


def _outcome(kept: object) -> Finding:
    """A sentence, where an older program has kept it; ValueError where it is nothing."""
    if isinstance(kept, str):
        return Finding.of(Kept.AS_SAID, text=kept)
    return codec.from_plain(Finding, kept)


def _reply(row: dict[str, Any]) -> KeptReply:
    """InternalError for a row that was changed by hand."""
    what = f"reply {row['key']}"
    why = db.finding_of(row["why"], what)
    try:
        commands = tuple((name, argument) for name, argument in json.loads(row["asked"]))
        state = ReplyState(row["state"])
    except (ValueError, TypeError, RecursionError) as error:
        raise codec.unreadable(what) from error
    return KeptReply(**(row | {"asked": commands, "state": state, "why": why}))
