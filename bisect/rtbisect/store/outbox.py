# SPDX-License-Identifier: GPL-2.0-or-later
"""The outbox: mails that a person has approved, each sent once.

Before a try begins, the store notes it durably, with the machine's boot id. Right before the step
after which the mail may have arrived, a mark is laid beside the store, without waiting for the
disk: it survives the process. Who finds a try that was noted and not ended knows then:

- a mark: the mail may have arrived; in doubt, and a person says so;
- no mark, and the machine has not been down: it did not come so far; it is tried again;
- no mark, and the machine was down, which may have lost it: in doubt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from rtbisect.errors import ConfigError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Delivery
from rtbisect.model.mail import MailKind, MailState, OutMail
from rtbisect.model.report import ReportState
from rtbisect.process import locks
from rtbisect.store import codec, db, schema

#: Seconds until the next try: twice as many each time, up to the last.
FIRST_S = 60.0
LONGEST_S = 4 * 3600.0
#: Then the mail waits for a person; with the pauses above that is after two days.
MOST_TRIES = 20

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

table = sa.Table(
    "outbox",
    db.metadata,
    sa.Column("message_id", sa.Text, primary_key=True),
    db.text_column("campaign", index=True),
    db.text_column("kind"),
    db.text_column("sender"),
    db.text_column("recipients"),
    db.text_column("text"),
    db.text_column("approved_by"),
    db.text_column("approved_at"),
    db.text_column("state", index=True),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("next_s", sa.Float, nullable=False),
    db.text_column("answer"),
    db.text_column("refused"),
    # The boot id of the try that is under way, "" when none is.
    db.text_column("trying", server_default=""),
)


class MailedReport(NamedTuple):
    """A report beside its mails."""

    campaign: str
    #: State of the report by the campaign.
    state: ReportState
    #: State of the report's mail; None where there is none.
    mail: MailState | None
    #: Whether there is a mail that takes it back.
    withdrawn: bool


class Outbox:
    """The outbox of one state directory."""

    def __init__(self, state: Path, boot_id: str | None = None) -> None:
        self.database = db.Database(state / "rtbisect.sqlite3")
        self._marks = state / "outbox"
        self._lock = state / schema.OUTBOX_LOCK
        self._boot = boot_id or BOOT_ID.read_text(encoding="ascii").strip()

    def sender(self) -> AbstractContextManager[int]:
        """Be the one process that sends; BusyError when there is another."""
        return locks.hold(self._lock, what="the outbox")

    def put(self, mail: OutMail) -> None:
        """Queue a mail; ConfigError when one with its Message-ID is there."""
        if not self.database.execute(queued(mail)):
            raise in_outbox(mail)

    def all(self, states: Collection[MailState] = tuple(MailState)) -> tuple[OutMail, ...]:
        """Mails in these states, oldest first."""
        return self._mails(table.c.state.in_(states))

    def get(self, message_id: str) -> OutMail:
        """One mail; ConfigError when there is none."""
        bare = message_id.strip("<>")
        mails = self._mails(table.c.message_id.in_([bare, f"<{bare}>"]))
        if not mails:
            raise ConfigError(f"no mail {message_id!r} in the outbox", "see `rtbisect mail list`")
        return mails[0]

    def of_campaign(self, campaign: str, kind: MailKind | None = None) -> tuple[OutMail, ...]:
        """The mails of a campaign, oldest first; with `kind` those alone."""
        condition = table.c.campaign == campaign
        return self._mails(condition if kind is None else sa.and_(condition, table.c.kind == kind))

    def reports(self) -> tuple[MailedReport, ...]:
        """The reports that may have to move, by their mails; none of which another
        version says what this one does not know. Of a draft without a mail there is nothing to say,
        and one that has left moves by a withdrawal alone.
        """
        mail, withdrawing = table.alias(), table.alias()
        name, state = db.campaign.c.id, db.campaign.c.report_state
        of_kind = sa.and_(mail.c.campaign == name, mail.c.kind == MailKind.REPORT)
        query = (
            sa.select(name, state, mail.c.state.label("mail"), withdrawing.c.state.label("back"))
            .outerjoin_from(db.campaign, mail, of_kind)
            .outerjoin(
                withdrawing,
                sa.and_(withdrawing.c.campaign == name, withdrawing.c.kind == MailKind.WITHDRAWAL),
            )
            .where(
                state.in_(tuple(ReportState)),
                sa.or_(
                    withdrawing.c.state.is_not(None),
                    state.in_((ReportState.APPROVED, ReportState.WITHDRAWN)),
                    sa.and_(state == ReportState.DRAFT, mail.c.state.is_not(None)),
                ),
            )
        )
        return tuple(
            MailedReport(
                row["id"],
                ReportState(row["report_state"]),
                None if row["mail"] is None else MailState(row["mail"]),
                row["back"] is not None,
            )
            for row in self.database.fetch(query)
        )

    def due(self, now_s: float) -> tuple[OutMail, ...]:
        """Mails whose time has come; one that would wait longer than pauses last met a clock that
        was wrong.
        """
        waits = sa.and_(table.c.next_s > now_s, table.c.next_s <= now_s + LONGEST_S)
        return self._mails(sa.and_(table.c.state == MailState.QUEUED, sa.not_(waits)))

    def settle(self) -> tuple[OutMail, ...]:
        """End tries that a process left behind; gives those that are in doubt since. Only the
        sender may do that.
        """
        query = sa.select(table.c.message_id, table.c.trying).where(table.c.trying != "")
        doubtful = []
        for row in self.database.fetch(query):
            message_id = row["message_id"]
            if self._mark(message_id).exists() or row["trying"] != self._boot:
                doubtful.append(self.doubt(self.get(message_id), Finding.of(Delivery.KILLED)))
            else:
                self._write(message_id, trying="")
        return tuple(doubtful)

    def begin(self, mail: OutMail) -> Callable[[], None]:
        """Note a try; gives what to call right before the mail may have arrived."""
        mark = self._mark(mail.message_id)
        self._marks.mkdir(parents=True, exist_ok=True)
        mark.unlink(missing_ok=True)
        self._write(mail.message_id, trying=self._boot)
        return mark.touch

    def take_back(self, mail: OutMail) -> None:
        """Forget a try that ended in this process before anything of the mail has left; one whose
        mark lies there may have arrived, and stays.
        """
        if not self._mark(mail.message_id).exists():
            self._write(mail.message_id, trying="")

    def sent(self, mail: OutMail, answer: Finding, refused: Sequence[Finding] = ()) -> OutMail:
        return self._end(mail, state=MailState.SENT, answer=answer, refused=tuple(refused))

    def refuse(self, mail: OutMail, answer: Finding) -> OutMail:
        return self._end(mail, state=MailState.REFUSED, answer=answer)

    def doubt(self, mail: OutMail, answer: Finding) -> OutMail:
        return self._end(mail, state=MailState.IN_DOUBT, answer=answer)

    def later(self, mail: OutMail, answer: Finding, now_s: float) -> OutMail:
        """Try again after a pause that grows, or hold the mail for a person."""
        tries = mail.tries + 1
        if tries >= MOST_TRIES:
            return self._end(mail, state=MailState.HELD, answer=answer, tries=tries)
        pause = min(FIRST_S * 2.0 ** (tries - 1), LONGEST_S)
        return self._end(
            mail, state=MailState.QUEUED, answer=answer, tries=tries, next_s=now_s + pause
        )

    def decide(self, mail: OutMail, state: MailState, why: str) -> OutMail:
        """What a person says of a mail that waits for one."""
        if mail.state not in (MailState.IN_DOUBT, MailState.HELD, MailState.REFUSED):
            raise ConfigError(
                f"{mail.message_id} is {mail.state}: there is nothing to decide",
                "see `rtbisect mail list`",
            )
        again = {"tries": 0, "next_s": 0.0} if state is MailState.QUEUED else {}
        return self._end(mail, state=state, answer=Finding.of(Delivery.DECIDED, why=why), **again)

    def drop(self, mail: OutMail) -> None:
        """Take a mail that was not sent out of the outbox."""
        query = sa.delete(table).where(
            table.c.message_id == mail.message_id,
            table.c.state.in_([MailState.QUEUED, MailState.HELD, MailState.REFUSED]),
            table.c.trying == "",
        )
        if not self.database.execute(query):
            raise ConfigError(
                f"{mail.message_id} is {mail.state}, or just being sent",
                "a mail that has left cannot be taken back: see `rtbisect report withdraw`",
            )

    def _mails(self, condition: sa.ColumnElement[bool]) -> tuple[OutMail, ...]:
        return tuple(_mail(row) for row in self.database.rows(table, condition))

    def _end(self, mail: OutMail, **changes: Any) -> OutMail:
        self._write(mail.message_id, trying="", **changes)
        # In this order: a kill between the two leaves a doubt, never a second mail.
        with suppress(OSError):
            self._mark(mail.message_id).unlink()
        return replace(mail, **changes)

    def _write(self, message_id: str, **changes: Any) -> None:
        this = table.c.message_id == message_id
        self.database.execute(sa.update(table).where(this).values(db.column_values(changes)))

    def _mark(self, message_id: str) -> Path:
        return self._marks / hashlib.sha256(message_id.encode()).hexdigest()[:32]


def queued(mail: OutMail) -> sa.Insert:
    """Puts a mail into the outbox; nothing where one with its Message-ID is there."""
    return db.insert_new(table, mail)


def in_outbox(mail: OutMail) -> ConfigError:
    """What is raised where that has put nothing."""
    return ConfigError(f"{mail.message_id} is in the outbox already", "see `rtbisect mail list`")


def _mail(row: dict[str, Any]) -> OutMail:
    values = {name: row[name] for name in OutMail.__slots__}
    values["kind"], values["state"] = MailKind(values["kind"]), MailState(values["state"])
    values["recipients"] = tuple(json.loads(values["recipients"]))
    what = f"mail {row['message_id']}"
    values["answer"] = db.finding_of(row["answer"], what)
    try:
        values["refused"] = tuple(map(_finding, json.loads(row["refused"])))
    except (ValueError, TypeError, RecursionError) as error:
        raise codec.unreadable(what) from error
    return OutMail(**values)


def _finding(plain: object) -> Finding:
    return codec.from_plain(Finding, plain)
