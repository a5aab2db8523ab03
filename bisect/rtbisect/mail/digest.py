# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails to the operator on the store as a whole: the night's digest, and what the lab lacks."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from rtbisect.campaign import assemble, labs
from rtbisect.config.paths import data
from rtbisect.config.thresholds import load_thresholds
from rtbisect.errors import ConfigError, Exit, InternalError
from rtbisect.judge.verdict import improved
from rtbisect.model.campaign import CampaignKind, Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Digested
from rtbisect.model.mail import INTERNAL, MailKind, MailState, OutMail
from rtbisect.model.report import ReportState
from rtbisect.report.message import Envelope, own_id
from rtbisect.report.opening import figure_name
from rtbisect.report.text import foreign, wrap
from rtbisect.store.campaigns import CampaignRecord, CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies, ReplyState
from rtbisect.store.session_files import SessionFiles
from rtbisect.words.numbers import further
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rtbisect.config.site_file import Site
    from rtbisect.model.result import Result

#: Rows of a part; of more the number is told.
_MOST = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What there is to tell, of each part the first ones."""

    #: The night, back from now.
    hours: int
    #: How many there are of each part, by the name of its field; of those that wait, how many are
    #: replies.
    counts: Mapping[str, int]
    replies: int
    #: Campaigns whose last step is of these hours.
    ended: tuple[Finding, ...]
    #: Campaigns that are not done and that no process works on; `faults`: those that may stand
    #: still for a fault of the lab.
    paused: tuple[Finding, ...]
    faults: tuple[Finding, ...]
    #: Mails and replies that a person has to decide on.
    waiting: tuple[Finding, ...]
    #: Campaigns with a culprit whose report nobody has approved.
    drafts: tuple[Finding, ...]
    #: Devices in quarantine, with the reason.
    devices: tuple[Finding, ...]

    @property
    def ill(self) -> bool:
        """Whether a fault of the lab stops a campaign."""
        return bool(self.faults or self.devices)


def digest(state: Path, hours: int, now_iso: str) -> Digest:
    """The store of `state` as it is now; `ended` are campaigns whose last step is of the
    last `hours`.
    """
    store = CampaignStore(state)
    active, since = store.active(), datetime.fromisoformat(now_iso) - timedelta(hours=hours)
    mails = [
        Finding.of(
            Digested.MAIL,
            state=mail.state,
            campaign=mail.campaign,
            mail=mail.kind,
            answer=mail.answer or "",
        )
        for mail in Outbox(state).all((MailState.IN_DOUBT, MailState.REFUSED, MailState.HELD))
    ]
    replies = [
        Finding.of(Digested.REPLY, key=reply.key, campaign=reply.campaign, why=reply.why or "")
        for reply in Replies(state).all([ReplyState.WAITING])
    ]
    devices = [
        Finding.of(Digested.DEVICE, host=name, why=entry.reason)
        for name, entry in labs.quarantine(state).all().items()
    ]
    ended = store.ended_since(since)
    paused = [name for name in store.unfinished() if name != active]
    faults = [name for name in paused if _may_be_fault(store, name)]
    drafts = store.with_report((ReportState.DRAFT,), culprit=True)
    waiting = [*mails, *replies]
    parts = {"ended": ended, "paused": paused, "faults": faults, "waiting": waiting}
    parts |= {"drafts": drafts, "devices": devices}
    return Digest(
        hours=hours,
        counts={name: len(rows) for name, rows in parts.items()},
        replies=len(replies),
        ended=_of_campaigns(store, ended, _answer_of),
        paused=_of_campaigns(store, paused, _why_paused),
        faults=_of_campaigns(store, faults, _why_paused),
        waiting=tuple(waiting[:_MOST]),
        drafts=_drafts(store, drafts, ended[:_MOST]),
        devices=tuple(devices[:_MOST]),
    )


def _drafts(store: CampaignStore, names: Sequence[str], told: Sequence[str]) -> tuple[Finding, ...]:
    """The answer of each of the first, which of those that were `told` stands there."""
    answers = zip(names, _of_campaigns(store, names, _answer_of), strict=False)
    return tuple(
        Finding.of(Digested.NAMED, campaign=name) if name in told else answer
        for name, answer in answers
    )


def _of_campaigns(
    store: CampaignStore, names: Sequence[str], describe: Callable[[CampaignRecord], Finding | str]
) -> tuple[Finding, ...]:
    """What `describe` finds of each of the first."""
    rows = []
    for name in names[:_MOST]:
        what: Finding | str
        try:
            what = describe(store.get(name))
        except InternalError:
            what = Finding.of(Digested.OTHER_VERSION)
        rows.append(Finding.of(Digested.CAMPAIGN, campaign=name, what=what))
    return tuple(rows)


def _may_be_fault(store: CampaignStore, name: str) -> bool:
    """Whether a fault of the lab may stop a paused campaign: nothing else is known to do so, and it
    is of a lab.
    """
    if SessionFiles.of(store.state, name).end() not in (None, Exit.LAB):
        return False
    try:
        return store.get(name).kind != CampaignKind.RUN
    except InternalError:
        return True


def _why_paused(record: CampaignRecord) -> Finding | str:
    return record.note or Finding.of(Digested.KILLED)


def _answer_of(record: CampaignRecord) -> Finding:
    result = record.result
    if result is None:
        return Finding.of(Digested.NO_ANSWER)
    return Finding.of(
        Digested.ANSWER,
        outcome=result.outcome,
        culprit=result.culprit,
        cause=result.cause,
        confidence=result.confidence,
        better=_improved(result),
    )


def _improved(result: Result) -> tuple[Finding, ...]:
    """Figures that improved, by the thresholds as they are now."""
    if result.outcome is not Outcome.NO_REGRESSION:
        return ()
    suites = tuple(dict.fromkeys(each.key.suite for each in result.judgements))
    try:
        improvements = improved(result.judgements, load_thresholds(data("thresholds"), suites))
    except ConfigError:
        return ()
    return tuple(figure_name(each.key) for each in improvements)


def told(contents: Digest) -> dict[str, Any]:
    """A digest as its mail and programs get it: lines of each part, and how many more there are."""
    lines = {
        name: _lines(getattr(contents, name), count) for name, count in contents.counts.items()
    }
    return {"hours": contents.hours, "counts": contents.counts, **lines}


def summary(contents: Digest, *, lab_only: bool = False) -> tuple[Finding, Finding]:
    """What the mail begins with, and its subject: of all, or of the lab alone."""
    counts, replies = contents.counts, contents.replies
    lab = {"paused": counts["faults" if lab_only else "paused"], "devices": counts["devices"]}
    if lab_only:
        others = {"ended": 0, "waiting": 0, "drafts": 0}
        return Finding.of(Digested.LAB, **lab), Finding.of(Digested.SUBJECT, **others, **lab)
    common = {"ended": counts["ended"], "drafts": counts["drafts"], **lab}
    waiting = {"mails": counts["waiting"] - replies, "replies": replies}
    opening = Finding.of(Digested.SUMMARY, hours=contents.hours, **common, **waiting)
    return opening, Finding.of(Digested.SUBJECT, waiting=counts["waiting"], **common)


def _lines(rows: Sequence[Finding], count: int) -> tuple[str, ...]:
    texts = (wrap(foreign(str(speak(row)), 300), first="  ", rest="    ") for row in rows)
    shown = [line for text in texts for line in text.splitlines()]
    more = further(count - len(rows))
    return (*shown, *([f"  {more}"] if more else ()))


def write_digest(state: Path, site: Site, contents: Digest, *, lab_only: bool, by: str) -> OutMail:
    """The mail to the site's operator: of all, or of the lab alone; not queued."""
    operator = str(site.ours.operator)
    mailer = assemble.mailer_of(state, site, operator)
    now = assemble.SystemClock().now_iso()
    kind = MailKind.INFRASTRUCTURE if lab_only else MailKind.DIGEST
    opening, counted = summary(contents, lab_only=lab_only)
    headers = Envelope(
        bot=mailer.bot,
        to=(operator,),
        subject=f"{INTERNAL} {kind}: {speak(counted)}",
        date=now,
        message_id=own_id(f"{kind}.{secrets.token_hex(8)}", mailer.bot),
        marks=(("Kind", kind),),
    )
    text = mailer.notice(
        f"{kind}.txt.j2", headers, told(contents) | {"opening": str(speak(opening))}
    )
    return OutMail(
        message_id=f"<{headers.message_id}>",
        campaign="",
        kind=kind,
        sender=site.ours.bot.address,
        recipients=(site.ours.operator.address,),
        text=text,
        approved_by=by,
        approved_at=now,
    )
