# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails to the operator on the store as a whole: the night's digest, and what the lab lacks."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rtbisect.campaign import assemble, labs
from rtbisect.config.paths import data
from rtbisect.config.thresholds import load_thresholds
from rtbisect.errors import ConfigError, InternalError
from rtbisect.judge.improvements import improved
from rtbisect.model.campaign import Outcome
from rtbisect.model.mail import MailState, OutMail
from rtbisect.model.report import ReportState
from rtbisect.report.message import Envelope, own_id
from rtbisect.report.text import TABLE, cut, foreign
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies, ReplyState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rtbisect.config.site_file import Site
    from rtbisect.model.campaign import Result
    from rtbisect.store.campaigns import CampaignRecord

#: Rows of a part; of more the number is told.
_MOST = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What there is to tell, a line each; of many lines the first, and in `counts` how many there
    are.
    """

    hours: int
    counts: Mapping[str, int]
    ended: tuple[str, ...]
    paused: tuple[str, ...]
    waiting: tuple[str, ...]
    drafts: tuple[str, ...]
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
        f"{each.state}: {each.campaign} {each.kind}, {each.answer}"
        for each in Outbox(state).all((MailState.IN_DOUBT, MailState.REFUSED, MailState.HELD))
    ]
    replies = [
        f"reply {each.key} to {each.campaign}: {each.why}"
        for each in Replies(state).all([ReplyState.WAITING])
    ]
    drafts = store.with_report((ReportState.DRAFT,), culprit=True)
    quarantined = labs.quarantine(state).all()
    paused = [name for name in store.unfinished() if name != active]
    told = {
        "ended": _campaigns(store, store.ended_since(since), _answer),
        "paused": _campaigns(store, paused, lambda each: each.note or "its process was killed"),
        "waiting": _lines([*mails, *replies]),
        "drafts": _campaigns(store, drafts, _answer),
        "devices": _lines([f"{name}: {entry.reason}" for name, entry in quarantined.items()]),
    }
    return Digest(
        hours=hours,
        counts={name: count for name, (count, _) in told.items()},
        **{name: lines for name, (_, lines) in told.items()},
    )


def _campaigns(
    store: CampaignStore, names: Sequence[str], said: Callable[[CampaignRecord], str]
) -> tuple[int, tuple[str, ...]]:
    """How many, and a line for each of the first."""
    lines = []
    for name in names[:_MOST]:
        try:
            lines.append(f"{name}: {said(store.get(name))}")
        except InternalError:
            lines.append(f"{name}: made by another version of rtbisect")
    return _lines(lines, len(names))


def _answer(record: CampaignRecord) -> str:
    result = record.result
    if result is None:
        return "no answer"
    who = f" {result.culprit[:12]}" if result.culprit else ""
    sure = f", confidence {result.confidence:.3f}" if result.confidence else ""
    return f"{result.outcome}{who}, cause {result.cause}{sure}{_better(result)}"


def _better(result: Result) -> str:
    """Figures that improved, by the thresholds as they are now."""
    if result.outcome is not Outcome.NO_REGRESSION:
        return ""
    suites = tuple(dict.fromkeys(each.key.suite for each in result.judgements))
    try:
        found = improved(result.judgements, load_thresholds(data("thresholds"), suites))
    except ConfigError:
        return ""
    return f"; better: {', '.join(str(each.key) for each in found)}" if found else ""


def _lines(rows: Sequence[str], count: int | None = None) -> tuple[int, tuple[str, ...]]:
    """How many there are, and the first of them as they are told."""
    total = len(rows) if count is None else count
    found = [f"  {cut(foreign(row, 300), TABLE - 2)}" for row in rows[:_MOST]]
    more = [f"  and {total - len(found)} more"] if total > len(found) else []
    return total, (*found, *more)


def write_digest(state: Path, site: Site, found: Digest, *, lab_only: bool, by: str) -> OutMail:
    """The mail to the site's operator: of all, or of the lab alone; not queued."""
    operator = str(site.ours.operator)
    mailer = assemble.mailer_of(state, site, operator)
    now = assemble.SystemClock().now_iso()
    kind = "infrastructure" if lab_only else "digest"
    counts = found.counts
    told = f"paused {counts['paused']}, in quarantine {counts['devices']}"
    if not lab_only:
        told = f"ended {counts['ended']}, drafts {counts['drafts']}, {told}"
    headers = Envelope(
        bot=mailer.bot,
        to=(operator,),
        subject=f"[internal] {kind}: {told}",
        date=now,
        message_id=own_id(f"{kind}.{secrets.token_hex(8)}", mailer.bot),
        marks=(("Kind", kind),),
    )
    names = ("hours", "counts", "ended", "paused", "waiting", "drafts", "devices")
    text = mailer.notice(f"{kind}.txt.j2", headers, {name: getattr(found, name) for name in names})
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
