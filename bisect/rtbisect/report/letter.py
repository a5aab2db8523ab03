# SPDX-License-Identifier: GPL-2.0-or-later
"""All that a mail about a campaign says, as findings; `mail_values` speaks them, `own` looks for
what claims too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Cause, Outcome, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Causes
from rtbisect.model.kinds.pipeline import Attributions, Proofs, Reasons
from rtbisect.model.kinds.report import Footers, Online
from rtbisect.model.kinds.search import Endings
from rtbisect.report import sections
from rtbisect.report.commit_view import commit_view
from rtbisect.report.opening import opening, sure
from rtbisect.report.own import held_back
from rtbisect.report.policy import asks_to_pick, better
from rtbisect.report.stable_series import series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.model.mail import Recipients
    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import Summary


@dataclass(frozen=True, slots=True)
class Bot:
    """Who writes: names and addresses of the site, not of a tree."""

    name: str
    address: str
    #: The address that a Message-ID is appended to for the Closes: tag.
    archive: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """A mail to other people beside the report that it is of."""

    recipients: Recipients
    #: Who has read the mail and answers for it: `Name <user@host>`.
    approver: str
    #: ISO 8601.
    date: str
    #: The address where its data are published, with a slash at its end: of its page; "" for
    #: nowhere. So below it what this program is installed from.
    evidence: str = ""
    program: str = ""
    #: Whom it hurts, a sentence: only with it, and the kernel as the cause, the mail is a
    #: [REGRESSION].
    use_case: str = ""
    #: The mainline commit for regzbot, "" for none, and the title of the regression there.
    introduced: str = ""
    title: str = ""
    #: Pages for regzbot: threads with a fix that it has to watch, and what else belongs to it.
    monitored: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    #: Replies may ask for tests.
    commands: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """The findings of a mail, in the order in which it says them."""

    #: What changed and how sure that is; what stable is asked for; where it was found.
    opening: tuple[Finding, ...]
    asked: tuple[Finding, ...]
    found: tuple[Finding, ...]
    #: `Online.PAGE`; None where it is nowhere, or not yet.
    page: Finding | None
    hurts: Finding | None
    #: What the search, the proof and its checks say beside that.
    reasons: tuple[Finding, ...]
    proof: tuple[Finding, ...]
    concerns: tuple[Finding, ...]
    untested: tuple[Finding, ...]
    #: Lines with their labels.
    machine: tuple[tuple[str, Finding], ...]
    #: `Footers.TAGS`; None where nothing is there to fix.
    tags: Finding | None
    closing: tuple[Finding, ...]
    #: Notes to the operator alone.
    before_sending: tuple[Finding, ...]

    @property
    def said(self) -> tuple[Finding, ...]:
        """All of it that is a claim."""
        return (
            *self.opening,
            *self.asked,
            *self.found,
            *self.reasons,
            *self.proof,
            *self.concerns,
            *self.untested,
            *((self.tags,) if self.tags else ()),
        )


def letter(report: ReportInput, bot: Bot, public: Public | None = None) -> Letter:
    """The mail of a report; `public` is the one for other people."""
    return Letter(
        opening=opening_of(report),
        asked=tuple(series(report)) if asks_to_pick(report) else (),
        found=tuple(sections.found(report)),
        page=_page(public),
        hurts=_hurts(public),
        reasons=_reasons(report),
        proof=tuple(sections.proof(report)),
        concerns=tuple(sections.concerns(report)),
        untested=tuple(sections.untested(report)) if report.culprit else (),
        machine=tuple(sections.machine(report)),
        tags=_tags(report, bot),
        closing=tuple(_closing(report, bot, public)),
        before_sending=() if public else tuple(_before_sending(report)),
    )


def opening_of(report: ReportInput) -> tuple[Finding, ...]:
    """What changed, and how sure that is: the first sentences of a mail and of a page."""
    confident = sure(report) if names_culprit(report) else None
    return (opening(report), *((confident,) if confident else ()))


def names_culprit(report: ReportInput) -> bool:
    """Whether an answer has one proven culprit, whose commit is known."""
    return report.result.outcome is Outcome.CULPRIT and report.culprit is not None


#: Kinds of reasons that other parts of a mail tell where it names one commit.
_ELSEWHERE = {each.value for kinds in (Causes, Attributions) for each in kinds} | {
    Proofs.PROBABILITY.value,
    Proofs.REPAIRS.value,
    Endings.CULPRIT.value,
}
#: Kinds of reasons that the table of the ends tells, or the gates.
_IN_TABLES = {Reasons.JUDGED.value, Reasons.OBJECTION.value}


def _reasons(report: ReportInput) -> tuple[Finding, ...]:
    elsewhere = _IN_TABLES | (_ELSEWHERE if names_culprit(report) else set())
    difference = report.result.difference
    # Where a commit is named, the proof tells what makes the difference.
    first = (difference.why,) if difference and report.culprit is None else ()
    rest = (each for each in report.result.reasons if each.kind not in elsewhere)
    return (*first, *rest)


def _page(public: Public | None) -> Finding | None:
    if public is None or not public.evidence:
        return None
    return Finding.of(Online.PAGE, address=public.evidence)


def _hurts(public: Public | None) -> Finding | None:
    if public is None or not public.use_case:
        return None
    return Finding.of(Footers.HURTS, approver=public.approver, use_case=public.use_case)


def _tags(report: ReportInput, bot: Bot) -> Finding | None:
    """Tags for a fix: offered of what a mail calls a fault of the kernel only."""
    faulty = report.sought is Sought.REGRESSION and report.result.cause is Cause.KERNEL
    if not (faulty and report.culprit and names_culprit(report) and held_back(report) is None):
        return None
    message_id = report.message_id.strip().strip("<>")
    return Finding.of(
        Footers.TAGS,
        reported_by=f"{bot.name} <{bot.address}>",
        closes=f"{bot.archive}{message_id}",
        fixes=commit_view(report.culprit).fixes,
    )


def _closing(report: ReportInput, bot: Bot, public: Public | None) -> Iterator[Finding]:
    if public is not None:
        yield Finding.of(Footers.APPROVED, bot=bot.name, approver=public.approver)
        if public.commands:
            yield Finding.of(Footers.COMMANDS)
        return
    if better(report):
        yield Finding.of(Footers.SEARCH_REPAIR)
    yield costs(report.summary)


def costs(summary: Summary) -> Finding:
    """Builds, boots, skipped and time, the same everywhere."""
    return Finding.of(
        Footers.COST,
        builds=summary.builds,
        boots=summary.boots,
        skipped=summary.skipped,
        wall_s=summary.wall_s,
    )


def _before_sending(report: ReportInput) -> Iterator[Finding]:
    """What the operator sees of a draft that may be mailed."""
    if report.culprit is None or not names_culprit(report) or held_back(report) is not None:
        return
    view = commit_view(report.culprit)
    places = view.files or "the files of the commit"
    yield Finding.of(Footers.TO, author=view.author, address=view.email, places=places)
    yield Finding.of(Footers.READ)
