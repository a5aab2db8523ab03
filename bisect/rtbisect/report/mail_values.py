# SPDX-License-Identifier: GPL-2.0-or-later
"""What the templates of mails lay out: sentences, tables and lines, ready to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.judge.gates.boot_gates import against
from rtbisect.model.campaign import Outcome, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Joined
from rtbisect.model.kinds.report import Columns, Untested
from rtbisect.report.commit_view import commit_view
from rtbisect.report.console import console_of
from rtbisect.report.kernel_table import kernel_table
from rtbisect.report.letter import Bot, Letter, Public, costs, names_culprit
from rtbisect.report.opening import change
from rtbisect.report.own import held_back
from rtbisect.report.policy import better
from rtbisect.report.posterior import rows
from rtbisect.report.reproduce import Published, lines_of, own_boots, recipe
from rtbisect.report.tables import ends_table, origin_table
from rtbisect.report.text import LONGEST_LINK
from rtbisect.report.wording import said
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import Summary

#: Gates that failed and are told with their reason; of more the names are told.
_MOST_OBJECTIONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much a body tells; taken back until it fits on a screen. All of it is on the page."""

    #: Lines of the console of what stands still, but for its first stack.
    console: int = 8
    #: Sources of the change, commits of the posterior, reasons of an answer, rows of the ends.
    origins: int = 3
    candidates: int = 8
    reasons: int = 4
    ends: int = 12
    #: How the operator boots both kernels of a draft; in QEMU, who may do so on a machine.
    alone: bool = True
    emulator: bool = True
    #: Sentences on why it is this commit.
    proof: int = 4
    #: Characters of a paragraph, and of a line on the machine.
    paragraph: int = 600
    line: int = 240


def mail_values(
    report: ReportInput, bot: Bot, letter: Letter, detail: Detail, public: Public | None
) -> dict[str, Any]:
    """All names of the templates; every string is one line of ASCII or ready lines."""
    console, stacks = console_of(report, detail.console)
    ends = ends_table(report, detail.ends)
    # Judged figures of the ends have a table of their own.
    searched = any(row.metric == report.result.metric for row in report.result.table)
    kernels = kernel_table(report) if searched or not ends else ()

    def told(findings: Iterable[Finding], limit: int = 300) -> list[str]:
        return [said(report, each, limit) for each in findings]

    def paragraph(findings: Iterable[Finding]) -> str:
        return " ".join(told(findings, detail.paragraph))

    def sentence(findings: Iterable[Finding]) -> str:
        parts = tuple(findings)
        return paragraph([Finding.of(Joined.SENTENCE, findings=parts)]) if parts else ""

    return {
        "banner": banner(report),
        "objections": _objections(report, min(200, detail.line)),
        "opening": paragraph(letter.opening),
        "asked": paragraph(letter.asked),
        "found": sentence(letter.found),
        "page": said(report, letter.page, LONGEST_LINK) if letter.page else "",
        "hurts": paragraph([letter.hurts] if letter.hurts else []),
        "reasons": told(letter.reasons[: detail.reasons], detail.line),
        "improved": [sentence([change(report, each)]) for each in better(report)],
        "culprit": commit_view(report.culprit) if report.culprit else None,
        "repair": report.sought is Sought.REPAIR,
        "console": console,
        "stacks": stacks,
        "kernels": kernels,
        "no_figure": "" if kernels or ends else said(report, Finding.of(Columns.NO_FIGURE)),
        "proof": sentence(letter.proof[: detail.proof]),
        "origins": origin_table(report, detail.origins),
        "concerns": paragraph(letter.concerns),
        "untested": paragraph(_untested(letter)),
        "candidates": ()
        if names_culprit(report)
        else rows(report.result.candidates, report.graph, detail.candidates),
        "several": report.result.outcome is Outcome.MULTIPLE_CULPRITS,
        "ends": ends,
        "machine": [(label, said(report, each, detail.line)) for label, each in letter.machine],
        "reproduce": _recipe(report, detail, public),
        "tags": letter.tags.data if letter.tags else None,
        "bot": bot,
        "closing": paragraph(letter.closing),
        "before_sending": told(letter.before_sending),
        "public": public,
    }


def _untested(letter: Letter) -> tuple[Finding, ...]:
    parts = letter.untested
    return (Finding.of(Untested.LIST, parts=parts),) if parts else ()


def _recipe(report: ReportInput, detail: Detail, public: Public | None) -> tuple[str, ...]:
    published = Published(public.program, public.evidence) if public else Published()
    # Data of a draft are in the operator's own store.
    alone = own_boots(report) if public is None and detail.alone else ()
    return lines_of((*recipe(report, published, emulator=detail.emulator), *alone))


def banner(report: ReportInput) -> str:
    """First line of a body that is not for a list; empty for one that may be."""
    held = held_back(report)
    return f"{said(report, held)}." if held else ""


def cost(summary: Summary) -> str:
    """Builds, boots, skipped and time in words."""
    return str(speak(costs(summary)))


def _objections(report: ReportInput, limit: int) -> tuple[str, ...]:
    """Gates that failed. Of where the data come from the banner speaks."""
    failed = against(report.result.gates)
    lines = [
        f"{gate.name}: {said(report, gate.reason, limit)}" for gate in failed[:_MOST_OBJECTIONS]
    ]
    if more := [gate.name for gate in failed[_MOST_OBJECTIONS:]]:
        lines.append(f"{', '.join(more)}: see result.json")
    return tuple(lines)
