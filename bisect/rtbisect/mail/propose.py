# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail for other people beside a draft, with whom it goes to, for a person to read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rtbisect.campaign import assemble, trees
from rtbisect.errors import BusyError, ConfigError
from rtbisect.kernel.maintainers import MaintainerLines, maintainers
from rtbisect.mail.accounts import rules_of
from rtbisect.mail.approve import PUBLIC, RECIPIENTS, approver, check_gates, load_draft
from rtbisect.mail.recipients import propose
from rtbisect.report.draft import Public, check_mailable, keep
from rtbisect.report.lint.rules import lint
from rtbisect.report.lint.tags import PAGE
from rtbisect.report.policy import Purpose, purpose_of
from rtbisect.report.template_values import symptom_of
from rtbisect.report.text import foreign

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.config.site_file import Site
    from rtbisect.model.mail import Recipients
    from rtbisect.model.report import CommitText
    from rtbisect.report.lint.mail import Finding
    from rtbisect.store.campaigns import CampaignRecord
    from rtbisect.trees.git import GitTree


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

    #: Where it lies, and the complete mail as it was written there.
    path: Path
    text: str
    recipients: Recipients
    #: What rules find in it; () for a mail that may go.
    findings: tuple[Finding, ...]
    #: Why the tree was not asked for its maintainers; "" where it was.
    note: str = ""


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
    people = propose(commit, kind, rules_of(site), listed.lines, now, purpose)
    public = Public(
        recipients=people,
        approver=str(person),
        date=now,
        evidence=_evidence_url(site, record.id),
        use_case=foreign(notes.use_case, 200) if tracked else "",
        introduced=introduced,
        title=foreign(f"{commit.subject}: {symptom_of(report)}", 90),
        monitored=notes.monitored,
        linked=notes.linked,
        commands=site.ours.mail.inbox is not None,
    )
    text = assemble.mailer_of(state, site, report.operator).public(report, public)
    folder = draft.folder
    keep(folder / RECIPIENTS, json.dumps(asdict(people), indent=1, sort_keys=True) + "\n")
    keep(folder / PUBLIC, text)
    return Proposal(folder / PUBLIC, text, people, lint(text.encode()), listed.why_not)


def _maintainers(tree: GitTree, commit: CommitText) -> MaintainerLines:
    """Whom the tree names; a tree that is in use is not waited for."""
    try:
        with tree.held(commit.sha, wait_s=0.0) as source:
            return maintainers(source.path, commit.files)
    except BusyError as error:
        return MaintainerLines(why_not=f"get_maintainer.pl was not asked: {error.message}")


def _evidence_url(site: Site, campaign: str) -> str:
    evidence = site.ours.mail.evidence
    return f"{evidence.url.rstrip('/')}/{campaign}/" if evidence is not None else ""


def _check_pages(notes: ApproverNotes, introduced: str) -> None:
    """ConfigError where pages are given that no regzbot will read, or that are none."""
    pages = (*notes.monitored, *notes.linked)
    if wrong := [page for page in pages if not PAGE.fullmatch(page)]:
        raise ConfigError(f"{wrong[0]!r} is no page", "give an https:// address of an archive")
    if pages and not introduced:
        raise ConfigError(
            "this mail has no lines to regzbot, and pages are for it",
            "leave --monitor and --link out: `rtbisect report propose --help`",
        )
