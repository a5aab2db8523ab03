# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test of two kernels says, as an answer tells it: the figure of the report, and every one
that both were measured in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.judge.verdict import falls_short, improved, judge
from rtbisect.model.campaign import Level, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots, Part
from rtbisect.model.kinds.pipeline import Ends, Joined
from rtbisect.model.kinds.report import Columns, Online, Tried
from rtbisect.model.mail import INTERNAL
from rtbisect.model.result import ENDS
from rtbisect.report.averages import has_share
from rtbisect.report.headline_figure import headline
from rtbisect.report.kernel_table import cell, headings, notes, unit_of_rows
from rtbisect.report.letter import costs
from rtbisect.report.mail_values import banner
from rtbisect.report.opening import apart, changed_by, figure_name, levels_of, where
from rtbisect.report.own import mailable
from rtbisect.report.sections import effect
from rtbisect.report.text import LONGEST_LINK, Column, cut, foreign, grouped, header_text, many
from rtbisect.report.wording import said
from rtbisect.words.numbers import further

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rtbisect.model.campaign import Judgement, MetricKey, Sample, Threshold
    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import KernelRole, Result, Summary, TableRow

_TRIED = {Level.REGRESSED: Tried.FIXES, Level.PASS: Tried.NOT, Level.UNDECIDED: Tried.OPEN}

#: Figures of an answer, and reasons of one that has no figures.
MOST_FIGURES = 14
_MOST_REASONS = 3
#: Characters of a sentence.
_LINE = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class AbTest:
    """Two kernels that were booted for a report."""

    #: What the newer kernel is.
    what: Finding
    #: Their full shas, and how tags call them, as in `ReportInput`.
    base: str
    new: str
    names: tuple[tuple[str, str], ...] = ()
    #: Judgement of the report's figure, turned: REGRESSED takes the effect back.
    judgement: Judgement
    #: How the report judges the figure.
    limit: Threshold
    #: The campaign that booted them, with what it found and cost.
    check: str
    result: Result
    summary: Summary
    #: The address of the page of the report; "" for nowhere.
    page: str = ""

    @property
    def dies(self) -> Finding | None:
        """That more boots hang or die with it, whatever the figures of the others say."""
        return next((each for each in self.result.reasons if each.kind == Ends.DIES_MORE), None)

    @property
    def level(self) -> Level:
        """What is answered: REGRESSED takes the effect back."""
        return Level.UNDECIDED if self.dies else self.judgement.level


def subject(report: ReportInput) -> str:
    """The subject of the answer in the thread of a report."""
    title = header_text(report.culprit.subject if report.culprit else report.tree, 90)
    return f"{'' if mailable(report) else f'{INTERNAL} '}Re: {title}: test result"


def context(report: ReportInput, test: AbTest) -> dict[str, Any]:
    """All names of the template of an answer."""
    judgement, result = test.judgement, test.result
    before, after = (_rows_of(result, kernel) for kernel in ENDS)

    def told(findings: Iterable[Finding]) -> list[str]:
        return [said(report, each, _LINE) for each in findings]

    # Where a judgement did not get so far, its own campaign says why.
    measured = judgement.two_sided
    proof = tuple(_proof(report, judgement)) if measured else ()
    setup = [_setup(report), Finding.of(Joined.SENTENCE, findings=proof)] if measured else []
    page = Finding.of(Online.REPORT, address=test.page) if test.page else None
    closing = Finding.of(Tried.CLOSING, campaign=test.check, cost=costs(test.summary))
    return {
        "banner": banner(report),
        "opening": " ".join(told(first_sentences(report, test))),
        "reasons": () if measured else told(result.reasons[:_MOST_REASONS]),
        "setup": " ".join(told(setup)),
        "page": said(report, page, LONGEST_LINK) if page else "",
        "figures": compared(report, before, after, _ranks(report, test)),
        "others": told(_others(report, test)),
        "base": _revision(test, test.base),
        "new": _revision(test, test.new),
        "closing": said(report, closing),
    }


def _revision(test: AbTest, sha: str) -> str:
    """A kernel as it can be checked out, by its tag too."""
    name = foreign(dict(test.names).get(sha, ""), 60)
    return f"{sha} ({name})" if name else sha


def first_sentences(report: ReportInput, test: AbTest) -> Iterator[Finding]:
    """Whether it takes the effect back, by how much and on how many boots; and what there is to
    reach.
    """
    judgement = test.judgement
    changed = changed_by(report, judgement)
    if not judgement.two_sided:
        yield _unmeasured(test, changed["change"])
        return
    kind, known = _TRIED[judgement.level], _known(report)
    if judgement.level is Level.PASS and _worse(test):
        kind = Tried.WORSENS
    if _falls_short(test, known):
        kind = Tried.PARTLY
    yield (
        _dies(test.what, test.dies, changed)
        if test.dies
        else Finding.of(kind, what=test.what, **changed)
    )
    if known is not None:
        reach, _ = report.sought.ends(Tried.PARENT_HAD, Tried.COMMIT_HAS)
        well, _ = report.sought.ends(*levels_of(report, known.judgement))
        yield Finding.of(reach, level=well)


def _dies(what: Finding, dies: Finding, changed: Mapping[str, Any]) -> Finding:
    counted = {name: dies.data[name] for name in ("dead", "base_dead", "base_boots", "how")}
    return Finding.of(Tried.DIES, what=what, dead_boots=dies.data["boots"], **counted, **changed)


def takes_back_a_part(report: ReportInput, test: AbTest) -> bool:
    """Whether it improves the figure, and surely by less than what the commit of the report did."""
    return _falls_short(test, _known(report))


def _falls_short(test: AbTest, known: _Known | None) -> bool:
    judgement = test.judgement
    if judgement.level is not Level.REGRESSED or not judgement.two_sided or known is None:
        return False
    better, took = test.limit.toward(Sought.REPAIR), (judgement.base, judgement.new)
    return falls_short(better, (known.ill, known.well), took)


def _unmeasured(test: AbTest, change: Finding) -> Finding:
    """Why there is no figure of what was tested: it does not build, or does not boot; else that
    there is none.
    """
    stopped = {
        str(reason.data["revision"]): reason
        for reason in test.result.reasons
        if reason.kind in (Ends.NOT_BUILT, Ends.NO_EVIDENCE)
    }
    reason, metric = stopped.get(test.new), figure_name(test.limit.key)
    if reason is not None and reason.kind == Ends.NOT_BUILT:
        return Finding.of(Tried.NOT_BUILT, what=test.what, metric=metric)
    if reason is not None and _at_boot(reason.data["why"]):
        return Finding.of(Tried.NO_BOOT, what=test.what, metric=metric)
    return Finding.of(Tried.UNMEASURED, what=test.what, change=change)


def _at_boot(why: object) -> bool:
    """Whether a kernel did not get as far as the suites."""
    if not isinstance(why, Finding):
        return False
    return why.kind == Boots.KERNEL_MESSAGES or why.data.get("part") == Part.BOOT


def _worse(test: AbTest) -> bool:
    """Whether the figure is surely worse than without what was tested."""
    judged = judge(test.limit, test.judgement.base, test.judgement.new)
    return judged.level is Level.REGRESSED


@dataclass(frozen=True, slots=True)
class _Known:
    """What the report has of the figure: boots with what it is about, and without."""

    judgement: Judgement
    ill: Sample
    well: Sample


def _known(report: ReportInput) -> _Known | None:
    """None where no commit is accused, or where a part of the figure alone was judged."""
    found = headline(report)
    if report.culprit is None or found is None or found[0].figure or not found[0].two_sided:
        return None
    well, ill = report.sought.ends(found[0].base, found[0].new)
    return _Known(found[0], ill, well)


def _proof(report: ReportInput, judgement: Judgement) -> Iterator[Finding]:
    """What the boots of both sides are worth."""
    if not has_share(judgement.key, judgement.base):
        yield effect(report, judgement)
    yield apart(report, judgement)


def _setup(report: ReportInput) -> Finding:
    commit = report.culprit
    subject = cut(commit.subject, 90) if commit else ""
    return Finding.of(
        Tried.SETUP, commit=commit.sha if commit else "", subject=subject, where=where(report)
    )


def _others(report: ReportInput, test: AbTest) -> Iterator[Finding]:
    """Other figures that are worse by what counts as a regression."""
    others = [
        each for each in test.result.judgements if each.key != test.limit.key and each.two_sided
    ]
    worse = [each for each in others if each.level is Level.REGRESSED]
    for each in worse:
        yield Finding.of(Tried.WORSE, **changed_by(report, each))
    if others and not worse and not test.dies:
        yield Finding.of(Tried.NONE_WORSE, figures=len(others))


def _rows_of(result: Result, kernel: KernelRole) -> list[TableRow]:
    """What was measured of a kernel, judged figures first."""
    judged = {judgement.key for judgement in result.judgements}
    rows = (row for row in result.table if row.kernel == kernel)
    return sorted(rows, key=lambda row: row.metric not in judged)


def _ranks(report: ReportInput, test: AbTest) -> Mapping[MetricKey, int]:
    """What comes first in a table: the figure that was asked about, what got worse, what better."""
    result = test.result
    worse = [each for each in result.judgements if each.level is Level.REGRESSED]
    better = improved(result.judgements, report.thresholds)
    order = (test.limit.key, *(each.key for each in worse), *(each.key for each in better))
    return {key: rank for rank, key in enumerate(dict.fromkeys(order))}


def compared(
    report: ReportInput,
    before: Sequence[TableRow],
    after: Sequence[TableRow],
    ranks: Mapping[MetricKey, int],
) -> tuple[str, ...]:
    """Figure by figure, under a heading for each suite and workload: by their `ranks`, then in the
    order of `before`; of more than MOST_FIGURES the first are shown, and how many are not. () where
    there is none.
    """
    after_rows = {row.metric: row for row in after}
    pairs = [(row, after_rows[row.metric]) for row in before if row.metric in after_rows]
    pairs.sort(key=lambda pair: ranks.get(pair[0].metric, len(ranks)))
    if not pairs:
        return ()
    below = headings([old.metric for old, _ in pairs[:MOST_FIGURES]], before)
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for old, new in pairs[:MOST_FIGURES]:
        key = old.metric
        unit, factor = unit_of_rows((old, new))
        figure = Finding.of(Columns.IN_SUITE, suite=key.suite, name=key.name, unit=unit)
        cells = (said(report, figure, 48), cell(old, factor), cell(new, factor))
        # Suite and workload stand above, so that names have room beside wide figures.
        groups.setdefault(below.above[key.suite, key.window], []).append(cells)
    columns = (Column("figure"), Column("before", right=True), Column("after", right=True))
    left = len(pairs) - MOST_FIGURES
    rest = further(left, many(left, "figure"))
    return (*grouped(columns, groups), *([f"  {rest}"] if rest else ()), *notes(report, below))
