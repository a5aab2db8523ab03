# SPDX-License-Identifier: GPL-2.0-or-later
"""What the templates see: strings that are safe to print, and flags of what was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rtbisect.judge.gates.boot_gates import against, still_right_name
from rtbisect.model.kinds.pipeline import Reasons
from rtbisect.model.lab import STACK_MARK
from rtbisect.model.result import CheckName, CheckStatus, GateName, GateStatus, Summary
from rtbisect.report.averages import boots_with, limit_of, metric_name, spread, threshold_of
from rtbisect.report.headline_figure import (
    HeadlineClaim,
    boots_by,
    claim,
    effect_text,
    is_finding,
    medians,
    test_name,
)
from rtbisect.report.own import held_back, mailable
from rtbisect.report.policy import better, stands_still
from rtbisect.report.posterior import probability, rows
from rtbisect.report.reproduce import machine_rows
from rtbisect.report.tables import (
    MAX_FACTORS,
    MAX_ROWS,
    check_table,
    ends_table,
    factor_table,
    origin_table,
    side,
)
from rtbisect.report.text import TABLE, ascii_line, foreign, many, short, wrap
from rtbisect.report.wording import said, words_of
from rtbisect.suites.base import every
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.campaign import MetricKey, Sample
    from rtbisect.model.report import CommitText, Repaired, ReportInput

#: Inline bisect logs are at most this long.
LOG_LINES = 40
#: Fixes: tags and measurements of what a revert brings back that are told, each.
_TOLD_REPAIRS = 3


@dataclass(frozen=True, slots=True)
class Bot:
    """Who writes: names and addresses of the site, not of a tree."""

    name: str
    address: str
    #: The address that a Message-ID is appended to for the Closes: tag.
    archive: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much a body tells; taken back until it fits. What gates hold against a report, and what
    boots of one kernel say, always stay.
    """

    #: The bisect log, if it is no longer than LOG_LINES.
    log: bool = True
    #: What the guest told of itself.
    facts: bool = True
    #: Notes of the checks.
    notes: bool = True
    #: Gates that passed with something to tell, newer kernels, all that a revert brings back.
    shown: bool = True
    #: At most so many sources of the change, commits of the posterior, reasons of the answer.
    origins: int = 5
    candidates: int = 5
    reasons: int = 5
    #: How to boot the kernels without our lab.
    alone: bool = True
    #: At most so many lines of the console of what stands still.
    console: int = 16
    #: The histogram of the boots, where it says something.
    shape: bool = True
    #: What the figure is, in words.
    title: bool = True
    #: At most so many rows of the table of checks, and lines of the factor table.
    rows: int = MAX_ROWS
    factors: int = MAX_FACTORS


def symptom_of(report: ReportInput) -> str:
    """What a report is about in few words, for a title."""
    if stands_still(report):
        return "machines stand still"
    return metric_name(report.result.metric) if report.result.metric else "not measured"


def banner(report: ReportInput) -> str:
    """First line of a body that is not for a list; empty for one that may be."""
    held = held_back(report)
    return f"{speak(held)}." if held else ""


def cost(summary: Summary) -> str:
    """Builds, boots, skipped and minutes in one line, the same words everywhere."""
    return (
        f"{many(summary.builds, 'build')}, {many(summary.boots, 'boot')}, "
        f"{summary.skipped} skipped, {summary.wall_s / 60:.0f} minutes"
    )


def context(report: ReportInput, bot: Bot, log: str, detail: Detail) -> dict[str, Any]:
    """All names of the templates; every string is one line of ASCII or ready lines."""
    result, words = report.result, words_of(report)
    lines, console = log.splitlines(), _console(report, detail.console)
    statuses = {each.check: each.status for each in reversed(result.verifications)}
    return {
        "banner": banner(report),
        "objections": _objections(report),
        "mailable": mailable(report),
        "bot": bot,
        "message_id": report.message_id.strip().strip("<>"),
        "outcome": str(result.outcome),
        "cause": str(result.cause),
        "tree": foreign(report.tree, 60),
        "good": short(report.older),
        "bad": short(report.newer),
        "answer": (report.culprit and words.answer) or str(result.outcome),
        "nothing": words.nothing,
        "commits": len(report.graph),
        "metric": metric_name(result.metric) if result.metric else "the judged metrics",
        "culprit": commit_view(report.culprit) if report.culprit else None,
        "claim": _claim(report, detail),
        "off": side(report, loaded=False),
        "on": side(report, loaded=True),
        "synthetic": report.synthetic_workload,
        "emulated": report.host.device.emulated,
        "factors": factor_table(report, detail.factors),
        "checks": check_table(report, detail.rows),
        "ends": ends_table(report),
        "improved": _improved(report),
        "shape": boots_by(report) if detail.shape and is_finding(report) else ("", ()),
        "console": console,
        "stacks": any(STACK_MARK in line for line in console),
        "origins": origin_table(report, detail.origins),
        "notes": _notes(report) if detail.notes else (),
        "still": _still(report) if detail.shown else "",
        "revert": statuses.get(CheckName.REVERT, CheckStatus.ABSENT),
        "layout": statuses.get(CheckName.LAYOUT, CheckStatus.ABSENT),
        "brings_back": _brings_back(report)[: None if detail.shown else 1],
        "shown": _shown(report, _SHOWN if detail.shown else (GateName.SAME_KERNEL,)),
        "reasons": _reasons(report, detail.reasons),
        # 0 is no confidence in anything: there is nothing to be sure of.
        "confidence": probability(result.confidence) if result.confidence else "",
        "candidates": rows(result.candidates, report.graph, detail.candidates),
        "machine": machine_rows(report, facts=detail.facts),
        "cost": cost(report.summary),
        "log": _inline(lines) if detail.log and len(lines) <= LOG_LINES else (),
        "log_count": len(lines),
    }


def _claim(report: ReportInput, detail: Detail) -> HeadlineClaim | None:
    headline = claim(report)
    return headline if headline is None or detail.title else replace(headline, title="")


def _console(report: ReportInput, most: int) -> tuple[str, ...]:
    """The words of the console of what stands still, long ones over several lines."""
    if not stands_still(report):
        return ()
    # At the begin of a line "#" belongs to who commands bots.
    lines = (foreign(line, 300).lstrip("# ") for line in report.excerpt)
    paragraphs = (wrap(each, TABLE, "  ", "      ") for each in lines if each)
    return tuple(line for each in paragraphs for line in each.splitlines())[:most]


#: Gates whose finding a reader of the mail asks for, and how it begins there, in their order.
_SHOWN = {
    GateName.SAME_KERNEL: "Boots of one kernel",
    GateName.HANGS: "Hangs",
    GateName.REACHABILITY: "Functions",
    **{still_right_name(each.name): each.name for each in every() if each.failures},
    GateName.LOOP: "Two event rates",
}

#: Gates that failed and are told with their reason; of more the names are told.
_MOST_OBJECTIONS = 4


def _shown(report: ReportInput, names: Iterable[str]) -> tuple[str, ...]:
    """What these gates have found beside pass and fail."""
    passed = [gate for gate in report.result.gates if gate.status is GateStatus.PASS]
    sentences = [
        f"{_SHOWN[name]}: {said(report, gate.reason)}."
        for name in names
        for gate in passed
        if gate.name == name
    ]
    compared = (
        gate.name == GateName.SAME_KERNEL
        for gate in report.result.gates
        if gate.status is not GateStatus.ABSENT
    )
    if not any(compared):
        sentences.append("Boots of one kernel were not compared with each other.")
    return tuple(sentences)


#: Where the search leaves no doubt of a revision.
_SURE = 0.95


def _still(report: ReportInput) -> str:
    """What is known of newer kernels: the bad end of the search was booted, and no other."""
    ends = [row for row in report.result.tested if row.sha == report.newer and row.boots]
    words = words_of(report)
    if not ends or not words.surely_there:
        return ""
    still = words.surely_there if ends[0].probability_bad >= _SURE else words.perhaps_gone
    newest = f"The newest revision that was booted, {short(report.newer)},"
    return f"{newest} {still}; newer ones and other series were not tested."


def _improved(report: ReportInput) -> tuple[str, ...]:
    """Figures of the newer end that are better, a sentence each."""
    return tuple(
        f"{metric_name(judgement.key)} in window {ascii_line(judgement.key.window, 40)}: "
        f"{medians(report, judgement)}, {effect_text(report, judgement)}; "
        f"{judgement.base.n} + {judgement.new.n} boots, "
        f"{test_name(limit_of(report, judgement), judgement)} p = {judgement.p:.2g}."
        for judgement in better(report)
    )


def _objections(report: ReportInput) -> tuple[str, ...]:
    """Gates that failed. Of where the data come from the banner speaks."""
    failed = against(report.result.gates)
    lines = [f"{gate.name}: {said(report, gate.reason)}" for gate in failed[:_MOST_OBJECTIONS]]
    if more := [gate.name for gate in failed[_MOST_OBJECTIONS:]]:
        lines.append(f"{', '.join(more)}: see result.json")
    return tuple(lines)


def _inline(lines: list[str]) -> tuple[str, ...]:
    """The commands of a bisect log with its comments cut: they are for the reader only."""
    return tuple(f"  {foreign(line, 74)}" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitView:
    """A commit as a template prints it."""

    sha: str
    #: The first 12 digits of it.
    short: str
    subject: str
    author: str
    email: str
    #: As the tree has it.
    date: str
    #: The first ones by name, of more the number.
    files: str
    #: A Fixes: trailer on one line, without its title where that is not plain ASCII.
    fixes: str
    #: The first release that has it, "" where none is known.
    release: str = ""


def commit_view(commit: CommitText) -> CommitView:
    head = foreign(commit.sha, 40)[:12]
    subject = ascii_line(commit.subject, 90)
    plain = commit.subject == subject == foreign(subject, 90)
    names = ", ".join(foreign(name, 60) for name in commit.files[:4])
    left = len(commit.files) - 4
    return CommitView(
        sha=foreign(commit.sha, 40),
        short=head,
        subject=foreign(commit.subject, 90),
        author=foreign(commit.author, 60),
        email=foreign(commit.author_email, 60),
        date=foreign(commit.date, 40),
        files=f"{names} and {left} more" if left > 0 else names,
        fixes=f'Fixes: {head} ("{subject}")' if plain else f"Fixes: {head}",
        release=foreign(commit.release, 50),
    )


def _notes(report: ReportInput) -> tuple[str, ...]:
    noted = [(each.name, each.note) for each in report.result.verifications if each.note]
    return tuple(f"{said(report, name, 30)}: {said(report, note)}" for name, note in noted[:5])


def _reasons(report: ReportInput, count: int) -> tuple[str, ...]:
    """`count` reasons at most, without those that the table of the ends tells, and the gates."""
    elsewhere = (Reasons.JUDGED, Reasons.OBJECTION)
    reasons = [each for each in report.result.reasons if each.kind not in elsewhere]
    return tuple(said(report, each) for each in reasons[:count])


def _brings_back(report: ReportInput) -> tuple[str, ...]:
    """What a revert of the culprit would bring back, in sentences: by measurements, then by its own
    words; one that says so where nothing is known.
    """
    sentences = tuple(_repaired(report, each) for each in report.repaired[-_TOLD_REPAIRS:])
    tags = report.culprit.fixes[:_TOLD_REPAIRS] if report.culprit else ()
    sentences += tuple(
        f"The commit says that it repairs {foreign(tag, 80)}: a revert brings that back."
        for tag in tags
    )
    unknown = "What a revert brings back is not known: the commit names nothing that it repairs,"
    return sentences or (f"{unknown} and no campaign here found anything.",)


def _repaired(report: ReportInput, known: Repaired) -> str:
    limit = threshold_of(report, known.metric)
    unit = known.unit if known.figure else limit.unit if limit else ""
    name = metric_name(known.metric)
    if known.figure:
        name += f" {said(report, known.figure, 80)}"
    base, new = (_level(known.metric, each, unit) for each in (known.without, known.with_it))
    return (
        f"A revert brings back what the commit repairs: {name} is {base} "
        f"without the commit and {new} with it (campaign {foreign(known.campaign, 40)})."
    )


def _level(metric: MetricKey, sample: Sample, unit: str) -> str:
    """A median with its range; of a figure of boots those that have it."""
    if share := boots_with(metric, sample):
        return f"seen in {share}"
    return f"{spread(sample, unit)} ({sample.n} boots)"
