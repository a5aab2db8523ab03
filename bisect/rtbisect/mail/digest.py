# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails to the operator on the store as a whole: the night's digest, and what the lab lacks."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rtbisect.campaign import assemble, labs
from rtbisect.config.paths import data
from rtbisect.config.thresholds import load_thresholds
from rtbisect.errors import ConfigError, InternalError
from rtbisect.judge.verdict import improved
from rtbisect.model.campaign import Outcome, Result
from rtbisect.model.mail import MailKind, MailState, OutMail
from rtbisect.model.report import ReportState
from rtbisect.report.message import Envelope, own_id
from rtbisect.report.text import TABLE, cut, foreign
from rtbisect.store.campaigns import CampaignRecord, CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies, ReplyState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rtbisect.config.site_file import Site

#: Rows of a part; of more the number is told.
_MOST = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What there is to tell, as lines for a mail, of each part the first ones."""

    #: The night, back from now.
    hours: int
    #: How many there are of each part, by the name of its field.
    counts: Mapping[str, int]
    #: Campaigns whose last step is of these hours.
    ended: tuple[str, ...]
    #: Campaigns that are not done and that no process works on.
    paused: tuple[str, ...]
    #: Mails and replies that a person has to decide on.
    waiting: tuple[str, ...]
    #: Campaigns with a culprit whose report nobody has approved.
    drafts: tuple[str, ...]
    #: Those in quarantine, with the reason.
    devices: tuple[str, ...]

    @property
    def ill(self) -> bool:
        """Whether the lab is in the way."""
        return bool(self.paused or self.devices)


def digest(state: Path, hours: int, now_iso: str) -> Digest:
    """The store of `state` as it is now; `ended` are campaigns whose last step is of the
    last `hours`.
    """
    store = CampaignStore(state)
    active, since = store.active(), datetime.fromisoformat(now_iso) - timedelta(hours=hours)
    mails = [
        f"{mail.state}: {mail.campaign} {mail.kind}, {mail.answer}"
        for mail in Outbox(state).all((MailState.IN_DOUBT, MailState.REFUSED, MailState.HELD))
    ]
    replies = [
        f"reply {reply.key} to {reply.campaign}: {reply.why}"
        for reply in Replies(state).all([ReplyState.WAITING])
    ]
    drafts = store.with_report((ReportState.DRAFT,), culprit=True)
    quarantined = labs.quarantine(state).all()
    paused = [name for name in store.unfinished() if name != active]
    parts = {
        "ended": _campaign_lines(store, store.ended_since(since), _answer_line),
        "paused": _campaign_lines(
            store, paused, lambda each: each.note or "its process was killed"
        ),
        "waiting": _first_lines([*mails, *replies]),
        "drafts": _campaign_lines(store, drafts, _answer_line),
        "devices": _first_lines([f"{name}: {entry.reason}" for name, entry in quarantined.items()]),
    }
    return Digest(
        hours=hours,
        counts={name: count for name, (count, _) in parts.items()},
        **{name: lines for name, (_, lines) in parts.items()},
    )


def _campaign_lines(
    store: CampaignStore, names: Sequence[str], describe: Callable[[CampaignRecord], str]
) -> tuple[int, tuple[str, ...]]:
    """How many, and a line for each of the first: its name and what `describe` says of it."""
    lines = []
    for name in names[:_MOST]:
        try:
            lines.append(f"{name}: {describe(store.get(name))}")
        except InternalError:
            lines.append(f"{name}: made by another version of rtbisect")
    return _first_lines(lines, len(names))


def _answer_line(record: CampaignRecord) -> str:
    result = record.result
    if result is None:
        return "no answer"
    culprit = f" {result.culprit[:12]}" if result.culprit else ""
    confidence = f", confidence {result.confidence:.3f}" if result.confidence else ""
    return (
        f"{result.outcome}{culprit}, cause {result.cause}{confidence}{_improvements_text(result)}"
    )


def _improvements_text(result: Result) -> str:
    """Figures that improved, by the thresholds as they are now."""
    if result.outcome is not Outcome.NO_REGRESSION:
        return ""
    suites = tuple(dict.fromkeys(each.key.suite for each in result.judgements))
    try:
        improvements = improved(result.judgements, load_thresholds(data("thresholds"), suites))
    except ConfigError:
        return ""
    return f"; better: {', '.join(str(each.key) for each in improvements)}" if improvements else ""


def _first_lines(rows: Sequence[str], count: int | None = None) -> tuple[int, tuple[str, ...]]:
    """How many there are, and the first of them as they are told."""
    total = len(rows) if count is None else count
    shown = [f"  {cut(foreign(row, 300), TABLE - 2)}" for row in rows[:_MOST]]
    more = [f"  and {total - len(shown)} more"] if total > len(shown) else []
    return total, (*shown, *more)


def write_digest(state: Path, site: Site, contents: Digest, *, lab_only: bool, by: str) -> OutMail:
    """The mail to the site's operator: of all, or of the lab alone; not queued."""
    operator = str(site.ours.operator)
    mailer = assemble.mailer_of(state, site, operator)
    now = assemble.SystemClock().now_iso()
    kind = MailKind.INFRASTRUCTURE if lab_only else MailKind.DIGEST
    counts = contents.counts
    counts_text = f"paused {counts['paused']}, in quarantine {counts['devices']}"
    if not lab_only:
        counts_text = f"ended {counts['ended']}, drafts {counts['drafts']}, {counts_text}"
    headers = Envelope(
        bot=mailer.bot,
        to=(operator,),
        subject=f"[internal] {kind}: {counts_text}",
        date=now,
        message_id=own_id(f"{kind}.{secrets.token_hex(8)}", mailer.bot),
        marks=(("Kind", kind),),
    )
    text = mailer.notice(f"{kind}.txt.j2", headers, asdict(contents))
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
