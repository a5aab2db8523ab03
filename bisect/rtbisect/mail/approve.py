# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail for other people: proposed beside the draft with whom it goes to, edited by a person,
approved by name, and queued.

Three things hold a report back whatever a person wants: what speaks against its values
(`report.own`), such as data of an emulator or of a workload of ours (gate G15), another gate that
failed, and a fault of the mail itself as anybody may see it (`report.lint`).
"""

from __future__ import annotations

import email
import json
from dataclasses import asdict, dataclass, replace
from email.policy import default
from email.utils import getaddresses, parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbisect.campaign import assemble, trees
from rtbisect.config.site_file import Site, load_site
from rtbisect.errors import BusyError, ConfigError
from rtbisect.evidence.bundle import ARCHIVE, SUMS
from rtbisect.evidence.kernels import BUILD, MEASURE, SCRIPT
from rtbisect.kernel.maintainers import MaintainerLines, maintainers
from rtbisect.mail.recipients import plain_name, propose, refused
from rtbisect.mail.report_state import follow_outbox
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import NoMaintainers
from rtbisect.model.mail import MailKind, OutMail, Recipients
from rtbisect.model.report import CommitText, Report, ReportInput, ReportState
from rtbisect.report.draft import keep, read_edited
from rtbisect.report.input_file import read_input
from rtbisect.report.letter import Bot, Public, letter
from rtbisect.report.lint.mail import Fault
from rtbisect.report.lint.rules import lint
from rtbisect.report.lint.tags import PAGE as WEB_PAGE
from rtbisect.report.message import seen_as
from rtbisect.report.own import check_mailable, cpu_lists, failed_gate, overclaims
from rtbisect.report.page import PAGE
from rtbisect.report.policy import Purpose, purpose_of, refusal
from rtbisect.report.text import foreign
from rtbisect.store.outbox import Outbox
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.config.schema import Person
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore
    from rtbisect.trees.git import GitTree

#: The mail for other people, and who gets it, beside the draft.
PUBLIC = "public.eml"
RECIPIENTS = "recipients.json"


@dataclass(frozen=True, slots=True)
class ApproverNotes:
    """What the approver adds to a draft."""

    #: Whom the regression hurts, a sentence; without it the mail is no [REGRESSION].
    use_case: str = ""
    #: Pages for regzbot (https://...): threads with a fix to watch, and what else belongs to it.
    monitored: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mail that a person may edit and approve."""

    #: Path of the mail, and its complete text as it was written there.
    path: Path
    text: str
    recipients: Recipients
    #: () for a mail that may go.
    faults: tuple[Fault, ...]
    #: Why the tree was not asked for its maintainers; None where it was.
    note: Finding | None


def make_proposal(state: Path, record: CampaignRecord, by: str, notes: ApproverNotes) -> Proposal:
    """Write the mail for other people beside the draft of a campaign; ConfigError where it is for
    the operator alone. `by` is the name or the address of who will approve it.
    """
    site, draft, report = load_draft(record)
    person = approver(site, by)
    check_gates(record)
    check_mailable(report)
    commit = report.culprit
    assert commit is not None, "only a report on a commit is mailable"
    target = site.target(record.request.tree)
    kind = site.ours.mail.trees.get(target.tree, "other")
    purpose = purpose_of(report, kind, hurts=bool(notes.use_case))
    tracked = purpose is Purpose.TRACKED
    # regzbot wants mainline's id also where a backport of it failed.
    mainline = commit.upstream if kind == "stable" else commit.sha
    introduced = mainline if tracked else ""
    _check_pages(notes, introduced)
    listed = _maintainers(trees.tree_of(state, target), commit)
    now = assemble.SystemClock().now_iso()
    people = propose(commit, kind, site.ours.mail, listed.lines, now, purpose)
    public = Public(
        recipients=people,
        approver=str(person),
        date=now,
        evidence=site.evidence_url(record.id),
        program=site.ours.mail.program or "",
        use_case=foreign(notes.use_case, 200) if tracked else "",
        introduced=introduced,
        title=foreign(f"{commit.subject}: {seen_as(report)}", 90),
        monitored=notes.monitored,
        linked=notes.linked,
        commands=site.ours.mail.inbox is not None,
    )
    mailer = assemble.mailer_of(state, site, report.operator)
    text = mailer.public(report, public)
    folder = draft.folder
    keep(folder / RECIPIENTS, json.dumps(_in_words(people), indent=1, sort_keys=True) + "\n")
    keep(folder / PUBLIC, text)
    faults = _faults(report, text.encode(), mailer.bot)
    return Proposal(folder / PUBLIC, text, people, faults, listed.why_not)


def _faults(report: ReportInput, mail: bytes, bot: Bot) -> tuple[Fault, ...]:
    """What is wrong with a mail by the values that it is of, and as somebody else reads it."""
    claims = overclaims(report, letter(report, bot).said)
    own = (
        Fault(rule, "", str(speak(finding)))
        for rule, findings in (("topology", cpu_lists(report)), ("overclaim", claims))
        for finding in findings
    )
    return (*own, *lint(mail))


def _in_words(people: Recipients) -> dict[str, Any]:
    """For a person who approves the mail, and for `_check_people`."""
    groups = {"to": people.to, "cc": people.cc, "dropped": people.dropped}
    rows = {
        name: [asdict(each) | {"reason": str(speak(each.reason))} for each in group]
        for name, group in groups.items()
    }
    return rows | {"parent": people.parent, "thread": str(speak(people.thread))}


def _maintainers(tree: GitTree, commit: CommitText) -> MaintainerLines:
    """Whom the tree names; a tree that is in use is not waited for."""
    try:
        with tree.held(commit.sha, wait_s=0.0) as source:
            return maintainers(source.path, commit.files)
    except BusyError as error:
        return MaintainerLines(why_not=Finding.of(NoMaintainers.BUSY, error=error.message))


def _check_pages(notes: ApproverNotes, introduced: str) -> None:
    """ConfigError where pages are given that no regzbot will read, or that are none."""
    pages = (*notes.monitored, *notes.linked)
    if wrong := [page for page in pages if not WEB_PAGE.fullmatch(page)]:
        raise ConfigError(f"{wrong[0]!r} is no page", "give an https:// address of an archive")
    if pages and not introduced:
        raise ConfigError(
            "this mail has no lines to regzbot, and pages are for it",
            "leave --monitor and --link out: `rtbisect report propose --help`",
        )


def approve(state: Path, store: CampaignStore, record: CampaignRecord, by: str) -> OutMail:
    """Queue the mail of a campaign as it lies there, edited or not, in the name of a person."""
    site, draft, report = load_draft(record)
    person = approver(site, by)
    if draft.state is not ReportState.DRAFT:
        raise ConfigError(f"the report of {record.id} is {draft.state}", "see `rtbisect mail list`")
    # What holds a report back is asked of its data, not of the mail that anybody may edit.
    check_gates(record)
    check_mailable(report)
    folder = draft.folder
    try:
        data = read_edited(folder / PUBLIC)
    except OSError as error:
        hint = f"`rtbisect report propose {record.id}` writes it; read it first"
        raise ConfigError(f"{folder / PUBLIC}: {error.strerror}", hint) from error
    _refuse(_faults(report, data, assemble.bot_of(site)), f"correct {folder / PUBLIC}")
    _check_published(site, record.id, data)
    assert report.culprit is not None, "only a report on a commit is mailable"
    # A kill may have left a report whose mail has left, or is dropped, where it stood before.
    follow_outbox(store, Outbox(state))
    mail = _out_mail(data, record.id, person, draft, folder, site)
    store.approve_report(report.culprit, mail)
    return mail


def check_gates(record: CampaignRecord) -> None:
    """ConfigError unless the store itself has an answer that every gate lets pass."""
    if record.result is None:
        raise ConfigError(f"campaign {record.id} has no answer", "see `rtbisect status`")
    if gate := failed_gate(record.result):
        why = speak(gate.reason, voice_of_request(record.request))
        raise ConfigError(f"gate {gate.name} failed: {why}", "this report cannot be sent to others")


def check_lint(mail: bytes, hint: str) -> None:
    """ConfigError when a rule finds something in a mail; `hint` says what to do then."""
    _refuse(lint(mail), hint)


def _refuse(faults: Sequence[Fault], hint: str) -> None:
    """ConfigError for a mail that has any."""
    if faults:
        details = "; ".join(f"{fault.rule}: {fault.where} {fault.problem}" for fault in faults[:3])
        raise ConfigError(f"{len(faults)} findings: {details}", hint)


def load_draft(record: CampaignRecord) -> tuple[Site, Report, ReportInput]:
    """The site, the draft and the facts of a campaign; ConfigError where it has no draft."""
    draft = record.draft()
    if not record.request.site:
        # A campaign on a command has no site: it keeps a log, and no mail.
        raise ConfigError(f"campaign {record.id} has no draft", "see `rtbisect status`")
    report = replace(read_input(draft.folder), message_id=draft.message_id)
    return load_site(Path(record.request.site)), draft, report


def approver(site: Site, by: str) -> Person:
    """The person that the site lets approve; ConfigError for anybody else."""
    people = site.ours.mail.approvers
    for person in people:
        if by.strip().lower() in (person.name.lower(), person.address.lower()):
            return person
    names = ", ".join(person.name for person in people) or "nobody"
    raise ConfigError(
        f"{by!r} approves nothing at this site", f"{site.path} names, in mail: approvers: {names}"
    )


def _check_published(site: Site, campaign: str, mail: bytes) -> None:
    """ConfigError when a mail would point to data that are not there."""
    folder = site.evidence_folder(campaign)
    if folder is not None and not (folder / SUMS).is_file():
        raise ConfigError(
            f"the data of {campaign} are not in {folder}",
            f"`rtbisect report bundle {campaign}` puts them there",
        )
    again = f"take {folder} away; `rtbisect report bundle {campaign}` writes all of it"
    linked = site.evidence_url(campaign).encode() in mail
    if folder is not None and linked and not (folder / PAGE).is_file():
        raise ConfigError(f"the data of {campaign} have no page in {folder}", again)
    archive = folder and folder.with_name(f"{campaign}{ARCHIVE}")
    if f"/{campaign}{ARCHIVE}".encode() in mail and not (archive and archive.is_file()):
        raise ConfigError(
            f"the data of {campaign} are not packed in {archive}",
            again,
        )
    for script in (SCRIPT, BUILD, MEASURE):
        if f"sh {script}".encode() in mail and not (folder and (folder / script).is_file()):
            raise ConfigError(
                f"the data of {campaign} have no {script}: its kernels were cleaned up",
                "take the lines out that build and boot them",
            )


def _out_mail(  # noqa: PLR0913  (a mail, and all that it is held against)
    data: bytes, campaign: str, person: Person, draft: Report, folder: Path, site: Site
) -> OutMail:
    """The mail of the file, whose recipients were proposed, or are allowed by the site."""
    mail = email.message_from_bytes(data, policy=default)
    people = [
        address
        for name in ("To", "Cc")
        for _, address in getaddresses([str(header) for header in mail.get_all(name, [])])
    ]
    _check_people(people, folder, site)
    if not data.isascii():
        raise ConfigError(f"{folder / PUBLIC} has characters that are no ASCII", "write it so")
    message_id = str(mail["Message-ID"]).strip()
    if message_id.strip("<>") != draft.message_id.strip("<>"):
        raise ConfigError(f"the Message-ID of {folder / PUBLIC} was changed", "put it back")
    reviewer = str(mail["X-rtbisect-Reviewed-By"])
    if parseaddr(reviewer)[1].lower() != person.address.lower():
        problem = (
            f"the mail says that {plain_name(reviewer) or 'nobody'} has read it, not {person.name}"
        )
        raise ConfigError(problem, f"`rtbisect report propose {campaign} --by {person.name!r}`")
    return OutMail(
        message_id=message_id,
        campaign=campaign,
        kind=MailKind.REPORT,
        sender=site.ours.bot.address,
        recipients=tuple(people),
        text=data.decode("ascii"),
        approved_by=str(person),
        approved_at=assemble.SystemClock().now_iso(),
    )


def _check_people(people: list[str], folder: Path, site: Site) -> None:
    """ConfigError for a recipient that was neither proposed nor allowed by name."""
    try:
        known = json.loads((folder / RECIPIENTS).read_text("ascii"))
        proposed = {entry["address"].lower() for part in ("to", "cc") for entry in known[part]}
    except (OSError, ValueError, KeyError, TypeError):
        proposed = set()
    rules = site.ours.mail
    for address in people:
        if reason := refusal(address, rules, proposed):
            why = speak(refused(reason, rules))
            raise ConfigError(f"{address[:80]} {why}", f"correct {folder / PUBLIC}")
    if not people:
        raise ConfigError(f"{folder / PUBLIC} has no recipients", "see recipients.json beside it")
