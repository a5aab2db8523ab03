# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail that a person has read is approved by name, and queued.

Three things hold a report back whatever a person wants: data of an emulator or of a workload of
ours (gate G15), another gate that failed, and a finding of a rule (`report.lint`).
"""

from __future__ import annotations

import email
import json
from dataclasses import replace
from email.policy import default
from email.utils import getaddresses, parseaddr
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign import assemble
from rtbisect.config.site_file import Site, load_site
from rtbisect.errors import ConfigError
from rtbisect.evidence.bundle import SUMS
from rtbisect.evidence.kernels import SCRIPT
from rtbisect.mail.accounts import rules_of
from rtbisect.mail.recipients import in_words, plain_name
from rtbisect.mail.report_state import follow_outbox
from rtbisect.model.mail import MailKind, OutMail
from rtbisect.model.report import CommitText, Report, ReportInput, ReportState
from rtbisect.report.draft import check_mailable
from rtbisect.report.input_file import read_input
from rtbisect.report.lint.rules import lint
from rtbisect.report.policy import failed_gate, refusal
from rtbisect.store.outbox import Outbox

if TYPE_CHECKING:
    from rtbisect.config.schema import Person
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore

#: The mail for other people, and who gets it, beside the draft.
PUBLIC = "public.eml"
RECIPIENTS = "recipients.json"


def approve(state: Path, store: CampaignStore, record: CampaignRecord, by: str) -> OutMail:
    """Queue the mail of a campaign as it lies there, edited or not, in the name of a person."""
    site, draft, report = load_draft(record)
    person = approver(site, by)
    if draft.state is not ReportState.DRAFT:
        raise ConfigError(f"the report of {record.id} is {draft.state}", "see `rtbisect mail list`")
    folder = draft.folder
    try:
        data = (folder / PUBLIC).read_bytes()
    except OSError as error:
        hint = f"`rtbisect report propose {record.id}` writes it; read it first"
        raise ConfigError(f"{folder / PUBLIC}: {error.strerror}", hint) from error
    # What holds a report back is asked of its data, not of the mail that anybody may edit.
    check_gates(record)
    check_mailable(report)
    check_lint(data, f"correct {folder / PUBLIC}")
    _check_published(site, record.id, data)
    assert report.culprit is not None, "only a report on a commit is mailable"
    _check_not_reported(store, record, report.culprit)
    store.accuse(record.id, report.culprit)
    mail = _out_mail(data, record.id, person, draft, folder, site)
    outbox = Outbox(state)
    outbox.put(mail)
    follow_outbox(store, outbox)
    return mail


def check_gates(record: CampaignRecord) -> None:
    """ConfigError unless the store itself has an answer that every gate lets pass."""
    if record.result is None:
        raise ConfigError(f"campaign {record.id} has no answer", "see `rtbisect status`")
    if gate := failed_gate(record.result):
        raise ConfigError(f"gate {gate.name} failed: {gate.reason}", "it stays with you")


def check_lint(mail: bytes, hint: str) -> None:
    """ConfigError when a rule finds something in a mail; `hint` says what to do then."""
    if findings := lint(mail):
        details = "; ".join(
            f"{finding.rule}: {finding.where} {finding.problem}" for finding in findings[:3]
        )
        raise ConfigError(f"{len(findings)} findings: {details}", hint)


def load_draft(record: CampaignRecord) -> tuple[Site, Report, ReportInput]:
    """The site, the draft and the facts of a campaign; ConfigError where it has no draft."""
    draft = record.draft()
    if not record.request.site:
        # Of any command: a log, and no mail.
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


def evidence_folder(site: Site, campaign: str) -> Path | None:
    """Where the data of a campaign are published; None where a site publishes none."""
    evidence = site.ours.mail.evidence
    return site.beside(evidence.folder) / campaign if evidence is not None else None


def _check_published(site: Site, campaign: str, mail: bytes) -> None:
    """ConfigError when a mail would point to data that are not there."""
    folder = evidence_folder(site, campaign)
    if folder is not None and not (folder / SUMS).is_file():
        raise ConfigError(
            f"the data of {campaign} are not in {folder}",
            f"`rtbisect report bundle {campaign}` puts them there",
        )
    if f"sh {SCRIPT} ".encode() in mail and (folder is None or not (folder / SCRIPT).is_file()):
        raise ConfigError(
            f"the data of {campaign} have no {SCRIPT}: its kernels were cleaned up",
            "take the lines out that boot them",
        )


def _check_not_reported(store: CampaignStore, record: CampaignRecord, culprit: CommitText) -> None:
    """ConfigError when another campaign has told the same: same commit, or same title elsewhere."""
    if earlier := store.reported_elsewhere(record.id, culprit):
        name, state = earlier
        raise ConfigError(
            f"campaign {name} has told of the same commit ({state})",
            "answer in its thread, or withdraw it first",
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
    rules = rules_of(site)
    for address in people:
        if reason := refusal(address, rules, proposed):
            raise ConfigError(
                f"{address[:80]} {in_words(reason, rules)}", f"correct {folder / PUBLIC}"
            )
    if not people:
        raise ConfigError(f"{folder / PUBLIC} has no recipients", "see recipients.json beside it")
