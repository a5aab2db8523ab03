# SPDX-License-Identifier: GPL-2.0-or-later
"""What a patch, or the newest revision, does to the figure of a report: both kernels on fresh
boots, and an answer that a person may send.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbisect.campaign import assemble, plan, trees
from rtbisect.campaign.fingerprint import MachineFingerprint, machine_parts
from rtbisect.config.site_file import Site, load_site
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import (
    CampaignKind,
    CampaignRequest,
    Judgement,
    Level,
    Sample,
    Sought,
    Threshold,
    with_sought,
)
from rtbisect.model.command import Extra
from rtbisect.model.finding import Finding, kept_sentence
from rtbisect.model.formats import kept_as
from rtbisect.model.kinds.mail import Newer
from rtbisect.model.result import ENDS
from rtbisect.pipeline.asked import LOOK_ALPHA
from rtbisect.report import ab_table
from rtbisect.report.averages import threshold_of
from rtbisect.report.draft import DraftMailer, keep
from rtbisect.report.input_file import read_input
from rtbisect.report.message import Envelope, answers_to, own_id
from rtbisect.report.own import mailable
from rtbisect.report.page import PAGE
from rtbisect.report.text import cut, short
from rtbisect.store.campaigns import CampaignRecord, CampaignStore
from rtbisect.store.journal import recorded
from rtbisect.trees.mime import UnreadableError
from rtbisect.trees.patches import patches_of
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import Result, Summary
    from rtbisect.trees.patches import Patch

#: An answer is one of the looks at the boots of two kernels.
ALPHA = LOOK_ALPHA

#: The word by which programs know what an answer says.
WORDS = {Level.REGRESSED: "better", Level.PASS: "same", Level.UNDECIDED: "open"}


def _with_sought(question: dict[str, Any]) -> dict[str, Any]:
    return question | {"request": with_sought(question["request"])}


def _with_found(question: dict[str, Any]) -> dict[str, Any]:
    return question | {"what": kept_sentence(question["what"])}


@kept_as("Question", _with_sought, _with_found)
@dataclass(frozen=True, slots=True)
class Question:
    """Two revisions to compare for a report."""

    #: The campaign that boots them: its older end has what the report is about.
    request: CampaignRequest
    #: What the newer revision is, one of `Newer`; None for a search.
    what: Finding | None
    #: The newer one is the head of the tree's branch.
    newest: bool = False


def of_patch(state: Path, record: CampaignRecord, mail: bytes, seed: int = 0) -> Question:
    """The patches of a mail on top of the revision that a report calls bad (of a repair: broken);
    ConfigError where they do not apply.
    """
    try:
        patches = patches_of(mail)
    except UnreadableError as error:
        raise ConfigError(f"the mail {speak(error.why)}", "send the patch as plain text") from error
    site, base, asked = _site_and_base(state, record)
    tree = trees.tree_of(state, site.target(record.request.tree))
    patched = tree.apply(base, patches)
    extra = Extra(foreign=patched, asked=asked)
    return Question(_check_request(record, base, patched, seed, extra), called(patches))


def called(patches: Sequence[Patch]) -> Finding:
    """What an answer calls patches, of which there is one at least."""
    title, others = cut(patches[-1].title, 60), len(patches) - 1
    if others:
        return Finding.of(Newer.SERIES, title=title, others=others)
    return Finding.of(Newer.PATCH, title=title)


def of_revision(state: Path, record: CampaignRecord, revision: str = "", seed: int = 0) -> Question:
    """A revision of the tree, "" for the head of its branch, against the one that a report calls
    bad (of a repair: broken).
    """
    site, base, asked = _site_and_base(state, record)
    target = site.target(record.request.tree)
    tree = trees.tree_of(state, target)
    sha = tree.resolve(revision) if revision else trees.head_of(tree, target)
    if sha == base:
        raise ConfigError(f"{short(sha)} is what the report was about", "give another revision")
    extra = Extra(foreign=sha if tree.foreign(sha) else "", asked=asked)
    question = _check_request(record, base, sha, seed, extra)
    name = cut(revision or target.branch, 60)
    return Question(question, Finding.of(Newer.REVISION, name=name), not revision)


def _site_and_base(state: Path, record: CampaignRecord) -> tuple[Site, str, str]:
    """The site as it is, the revision that has what the report is about, and the key of the figure
    that shows it; ConfigError or InfrastructureError where nothing can be tested.
    """
    request = record.request
    report = read_input(record.draft().folder)
    threshold = _searched_threshold(report)
    site = load_site(Path(request.site))
    _check_same_machine(state, report, site, request)
    _, bad = report.sought.ends(report.older, report.newer)
    return site, bad, str(threshold.key)


def _check_same_machine(
    state: Path, report: ReportInput, site: Site, request: CampaignRequest
) -> None:
    """InfrastructureError unless the site measures today as it did for the report: an answer says
    that it does. What the site file says of it may have changed since.
    """
    now = plan.setup_of(site, site.target(request.tree), request)
    kernel, host, metric = now.booted, report.host, report.result.metric
    synthetic = any(w.synthetic for w in kernel.windows if metric and w.name == metric.window)
    machines = recorded(CampaignStore(state).database, report.campaign, MachineFingerprint)
    for part, same in (
        ("device", replace(kernel.device, boot_s=0) == replace(host.device, boot_s=0)),
        ("profile", kernel.profile == host.profile),
        ("configuration", kernel.build.config_name == report.config_name),
        ("workload", report.synthetic_workload or not synthetic),
        # What has no name of its own: the text of fragments, windows, the site's program.
        ("set-up", not machines or machines[0].fits(machine_parts(now))),
    ):
        if not same:
            # No fault of who asks: the question waits until a person has looked at it.
            raise InfrastructureError(
                f"the report of {report.campaign} was made with another {part}",
                f"put that of {site.path} back as it was, or make a new campaign",
            )


def _check_request(
    record: CampaignRecord, base: str, new: str, seed: int, extra: Extra
) -> CampaignRequest:
    """A comparison for the report of `record`."""
    request = record.request
    return CampaignRequest(
        kind=CampaignKind.CHECK,
        site=request.site,
        tree=request.tree,
        older=base,
        newer=new,
        seed=seed,
        extra=extra.pairs,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDraft:
    """An answer in the thread of a report, for a person to send."""

    #: Path of the answer, and the text of the complete mail.
    path: Path
    text: str
    #: What it says: the level of the judgement, or UNDECIDED where more boots hang or die.
    level: Level
    #: Judgement of the figure of the report, turned: REGRESSED is an improvement.
    judgement: Judgement
    #: It is one, and surely by less than what the commit of the report did.
    partly: bool
    #: The report may go to a list, and so may its answer.
    mailable: bool


def write_answer(
    state: Path, record: CampaignRecord, question: Question, check: CampaignRecord, parent: str = ""
) -> AnswerDraft:
    """The answer that the campaign `check` gives to a question on the report of `record`, kept as
    `answer-<check>.eml` beside that report. `parent` is the mail that asked; "": the report.
    """
    draft = record.draft()
    report, result = read_input(draft.folder), check.result
    if result is None:
        raise ConfigError(f"campaign {check.id} is not finished", f"`rtbisect resume {check.id}`")
    site = load_site(Path(question.request.site))
    # The site may have changed while the boots ran.
    _check_same_machine(state, report, site, question.request)
    request = question.request
    tree = trees.tree_of(state, site.target(request.tree))
    names = tuple(tree.tag_names((request.older, request.newer)).items())
    summary = CampaignStore(state).summary(check)
    tested = tested_by(report, question, check.id, result, summary, names=names)
    tested = replace(tested, page=_published_page(site, record.id))
    mailer = assemble.mailer_of(state, site, report.operator)
    # A person may have edited the input; whoever has the report knows it by this one.
    report = replace(report, message_id=draft.message_id)
    text = answer_mail(mailer, report, tested, parent, assemble.SystemClock().now_iso())
    path = draft.folder / f"answer-{check.id}.eml"
    keep(path, text)
    return AnswerDraft(
        path=path,
        text=text,
        level=tested.level,
        judgement=tested.judgement,
        partly=ab_table.takes_back_a_part(report, tested),
        mailable=mailable(report),
    )


def _published_page(site: Site, campaign: str) -> str:
    """The address of the page of a report; "" where it is not published."""
    folder = site.evidence_folder(campaign)
    return site.evidence_url(campaign) if folder and (folder / PAGE).is_file() else ""


def tested_by(  # noqa: PLR0913  (a report, its question, and how that was answered)
    report: ReportInput,
    question: Question,
    check: str,
    result: Result,
    summary: Summary,
    *,
    names: tuple[tuple[str, str], ...],
) -> ab_table.AbTest:
    """What the campaign `check` says of the figure of a report; `names` are tags of revisions."""
    limit = _searched_threshold(report)
    samples = {row.kernel: row.sample for row in result.table if row.metric == limit.key}
    sides = (samples.get(kernel, Sample(())) for kernel in ENDS)
    return ab_table.AbTest(
        what=question.what or Finding.of(Newer.REVISION, name=short(question.request.newer)),
        base=question.request.older,
        new=question.request.newer,
        names=names,
        judgement=judge(limit.toward(Sought.REPAIR), *sides, alpha=ALPHA),
        limit=limit,
        check=check,
        result=result,
        summary=summary,
    )


def answer_mail(
    mailer: DraftMailer, report: ReportInput, tested: ab_table.AbTest, parent: str, date: str
) -> str:
    """The complete draft of an answer, see `write_answer`."""
    headers = Envelope(
        bot=mailer.bot,
        to=(report.operator,),
        subject=ab_table.subject(report),
        date=date,
        message_id=own_id(f"{tested.check}.{secrets.token_hex(8)}", mailer.bot),
        parent=answers_to(parent) or f"<{report.message_id.strip('<>')}>",
        marks=(("Campaign", report.campaign), ("Kind", "result"), ("State", "draft")),
    )
    return mailer.notice("ab_result.txt.j2", headers, ab_table.context(report, tested))


def _searched_threshold(report: ReportInput) -> Threshold:
    """How the figure of a report is judged."""
    threshold = threshold_of(report, report.result.metric) if report.result.metric else None
    if threshold is None:
        raise ConfigError(f"campaign {report.campaign} judged no figure", "there is none to test")
    return threshold
