# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign on one page of HTML, with all that its mail has no room for: one file with its
pictures in it, no script, nothing from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from rtbisect.judge.gates.boot_gates import against
from rtbisect.model.campaign import Cause
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Headed
from rtbisect.report import page_machine, page_tables, sections
from rtbisect.report.averages import limit_of, middle_word, of_boots
from rtbisect.report.bisect_log import bisect_log_of
from rtbisect.report.draft import Templates
from rtbisect.report.headline_figure import headline
from rtbisect.report.letter import opening_of
from rtbisect.report.own import held_back
from rtbisect.report.page_history import (
    earlier_picture,
    history_picture,
    order_picture,
    with_own,
)
from rtbisect.report.page_pictures import boots_picture, side_rows
from rtbisect.report.page_text import figure_name, told
from rtbisect.report.page_text import shown as printed
from rtbisect.report.page_units import Shown, in_one_unit
from rtbisect.report.reproduce import Published, in_data, lines_of, recipe
from rtbisect.report.text import short
from rtbisect.report.wording import words_of
from rtbisect.store.artefacts import write_whole
from rtbisect.words.numbers import probability

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rtbisect.model.lab import Run
    from rtbisect.model.report import EarlierFigure, ReportInput

PAGE = "index.html"

#: Files of the draft that a page links to, as far as they are there.
DRAFT = "report.eml"
_FILES = (DRAFT, "campaign.log", "bisect.log", "result.json")


def write_page(
    report: ReportInput,
    runs: Sequence[Run],
    folder: Path,
    templates: Path,
    earlier: Sequence[EarlierFigure] = (),
) -> Path:
    """Write the page into `folder`, where the draft lies; gives its path. `runs` are all boots of
    the campaign in their order, `earlier` what campaigns before it measured. OSError where the
    folder cannot be written.
    """
    # The page allows this style and no other.
    style = (templates / "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    shown = in_one_unit(Shown(report, runs, earlier))
    values = (
        _values(shown.report, shown.runs)
        | _earlier(shown.report, shown.earlier)
        | {
            "reproduce": lines_of((*recipe(report, Published()), *in_data(report))),
            "log": bisect_log_of(report),
            "style": style,
            "style_sha256": digest,
            "files": [name for name in _FILES if (folder / name).is_file()],
        }
    )
    # Subjects and names are foreign: they are text, not markup.
    text = Templates(templates, markup=True).rendered("page.html.j2", values)
    write_whole(folder / PAGE, text.encode("utf-8", "replace"), mode=0o600)
    return folder / PAGE


def _values(report: ReportInput, runs: Sequence[Run]) -> dict[str, Any]:
    """All names of the template."""
    result, held, first = report.result, held_back(report), headline(report)
    sides = side_rows(report)
    heads, cpus = page_machine.cpus(report, runs)
    return {
        "campaign": report.campaign,
        "date": printed(report.date),
        "tree": printed(report.tree),
        "older": short(report.older),
        "newer": short(report.newer),
        "commits": len(report.graph),
        "answer": told(report, Finding.of(Headed.ANSWER, outcome=result.outcome)),
        "cause": _cause(report),
        "metric": figure_name(report, result.metric) if result.metric else "",
        "confidence": probability(result.confidence) if result.confidence else "",
        "culprit": short(report.culprit.sha) if report.culprit else "",
        "of_boots": bool(result.metric and of_boots(result.metric)),
        "middle": middle_word(limit_of(report, first[0])) if first else "",
        "opening": " ".join(told(report, each) for each in opening_of(report)),
        "banner": told(report, held),
        "objections": [(gate.name, told(report, gate.reason)) for gate in against(result.gates)],
        "difference": told(report, result.difference.why) if result.difference else "",
        "reasons": [told(report, reason) for reason in result.reasons],
        "not_tested": [told(report, each) for each in sections.untested(report)],
        "boots_picture": boots_picture(report, sides),
        "history_picture": history_picture(report, runs),
        "order_picture": order_picture(report, runs),
        "sides": page_tables.side_values(report, sides, first[0]) if first else (),
        "ends": words_of(report).ends,
        "kernels": words_of(report).kernels,
        "console": [printed(line) for line in report.excerpt],
        **_tables(report),
        "boots": page_machine.boots(report, runs),
        "cpu_columns": [("CPU", "n"), *((head, "n") for head in heads)],
        "cpus": cpus,
    }


def _cause(report: ReportInput) -> str:
    """What makes the difference; "" where there is none, and nobody has asked."""
    result = report.result
    if result.cause is Cause.NONE and not result.candidates:
        return ""
    return told(report, Finding.of(Headed.CAUSE, cause=result.cause))


def _earlier(report: ReportInput, earlier: Sequence[EarlierFigure]) -> dict[str, Any]:
    figures = with_own(report, earlier) if earlier else ()
    return {
        "earlier_picture": earlier_picture(report, figures),
        "earlier": page_tables.earlier(report, figures),
    }


#: Commits that a page shows unfolded.
_LIKELY = 12


def _posterior(report: ReportInput) -> dict[str, Any]:
    """The commits that may be it, and what a reader sees of the probabilities of those that are
    folded: all have one, or each is less likely than those above.
    """
    rows = page_tables.posterior(report)
    told = [cells[0] for _, cells in rows]
    return {
        "likely": rows[:_LIKELY],
        "other_commits": rows[_LIKELY:],
        "alike": len(rows) > 1 and told[0] == told[-1],
        "less": len(rows) > _LIKELY and told[_LIKELY - 1] != told[_LIKELY],
    }


def _tables(report: ReportInput) -> dict[str, Any]:
    return {
        "commit": page_tables.commit_rows(report.culprit),
        **_posterior(report),
        "measured": page_tables.measured(report),
        "checks": page_tables.checks(report),
        "judged": page_tables.judged(report),
        "gates": page_tables.gates(report),
        "origins": page_tables.origins(report),
        "tested": page_tables.tested(report),
        "thresholds": page_tables.thresholds(report),
        "repaired": page_tables.repaired(report),
        "machine": page_machine.machine(report),
        "facts": page_machine.facts(report),
        "hosts": page_machine.hosts(report),
        "cost": page_machine.cost(report),
    }
