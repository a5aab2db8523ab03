# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of a page: what a campaign has found, all of it, as rows of texts. Their captions and the
heads of their columns stand in the template.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from rtbisect.judge.verdict import improved
from rtbisect.model.campaign import Level, Scale
from rtbisect.report.averages import (
    boots_with,
    centre,
    centre_of,
    has_share,
    judged_unit,
    limit_of,
    middle_word,
    of_boot,
    repaired_by,
    threshold_of,
)
from rtbisect.report.origins import sources
from rtbisect.report.page_text import effect, figure_name, interval, row, told
from rtbisect.report.text import many, number, short, unit_text
from rtbisect.words.numbers import probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Judgement, MetricKey, Sample, Threshold
    from rtbisect.model.report import CommitText, EarlierFigure, ReportInput
    from rtbisect.model.result import TableRow
    from rtbisect.report.page_pictures import SideRow

Rows: TypeAlias = tuple[tuple[str, ...], ...]

_WORST_FIRST = (Level.REGRESSED, Level.UNDECIDED, Level.PASS)


def side_values(report: ReportInput, rows: Sequence[SideRow], judged: Judgement) -> Rows:
    """Kernel, boots, middle, range, each value: what the picture of the boots shows."""
    limit, unit = limit_of(report, judged), judged_unit(report, judged)
    return tuple(
        row(
            (
                each.name,
                str(each.sample.n),
                boots_with(judged.key, each.sample)
                or f"{middle_word(limit)} {number(centre(each.sample, limit), unit)}",
                _range(judged.key, each.sample),
                ", ".join(of_boot(judged.key, v) or number(v) for v in each.sample.values),
            )
        )
        for each in rows
    )


def posterior(report: ReportInput) -> tuple[tuple[float, tuple[str, ...]], ...]:
    """All commits that may be it, the likeliest first: a share of 100 for the bar, and probability,
    commit, subject.
    """
    subjects = {commit.sha: commit.subject for commit in report.graph.commits}
    order = sorted(report.result.candidates, key=lambda pair: -pair[1])
    return tuple(
        (
            # A value that is no finite number has no bar.
            round(100 * max(0.0, min(1.0, value)), 2) if math.isfinite(value) else 0.0,
            row((probability(value), short(sha), subjects.get(sha, ""))),
        )
        for sha, value in order
    )


def commit_rows(commit: CommitText | None) -> Rows:
    """Fields of the commit that is named, those that are known."""
    if commit is None:
        return ()
    fields = (
        ("commit", commit.sha),
        ("subject", commit.subject),
        ("author", _person(commit.author, commit.author_email)),
        ("date", commit.date),
        ("committer", _person(commit.committer, commit.committer_email)),
        ("signed off by", "; ".join(commit.signed_off)),
        ("files", ", ".join(commit.files)),
        ("repairs, as it says", "; ".join(commit.fixes)),
        ("mainline commit", commit.upstream),
        ("first version with it", commit.release),
        ("links", " ".join(commit.links)),
    )
    return tuple(row(field) for field in fields if field[1].strip())


def _person(name: str, address: str) -> str:
    """Some commits have no name, and some no address."""
    if not name.strip():
        return f"no name <{address}>" if address.strip() else ""
    return f"{name} <{address}>" if address.strip() else name


def measured(report: ReportInput) -> Rows:
    """Figure, workload, kernel, middle, range, boots: the whole table of the factors."""
    return tuple(
        row(
            (
                figure_name(report, each.metric),
                each.workload,
                each.kernel,
                _measured_middle(each),
                _range(each.metric, each.sample),
                unit_text(each.unit),
                str(each.sample.n),
            )
        )
        for each in report.result.table
    )


def _measured_middle(row: TableRow) -> str:
    if not row.sample.values:
        return "not measured"
    middle = number(centre_of(row.sample, mean=row.mean), row.unit)
    return boots_with(row.metric, row.sample) or f"{'mean' if row.mean else 'median'} {middle}"


def checks(report: ReportInput) -> Rows:
    """Check, status, both middles, effect, interval, p, boots, share of the ends, note."""
    return tuple(
        row(
            (
                told(report, check.name),
                check.status,
                *_numbers(report, check.judgement),
                "" if check.recovery is None else f"{100 * check.recovery:.0f}%",
                told(report, check.note, check.judgement.key if check.judgement else None),
            )
        )
        for check in report.result.verifications
    )


def judged(report: ReportInput) -> Rows:
    """Figure, verdict, both middles, effect, interval, p, boots, reason; the worst first."""
    judgements = report.result.judgements
    better = {each.key for each in improved(judgements, report.thresholds, report.sought)}
    order = sorted(judgements, key=lambda each: _WORST_FIRST.index(each.level))
    return tuple(
        row(
            (
                figure_name(report, each.key, each.figure),
                "better" if each.key in better and not each.figure else each.level,
                *_numbers(report, each),
                told(report, each.reason, each.key),
            )
        )
        for each in order
    )


def gates(report: ReportInput) -> Rows:
    """Gate, status, what it has seen; those that failed first."""
    order = sorted(report.result.gates, key=lambda gate: gate.ok)
    return tuple(row((gate.name, gate.status, told(report, gate.reason))) for gate in order)


def origins(report: ReportInput) -> Rows:
    """Share of the change, rates on both kernels, kind, source, the functions that it came by."""
    rows = []
    for source in sources(report.result.origins):
        rates = (number(rate, whole=False) for rate in (source.parent, source.culprit))
        share, who = f"{100 * source.share:.0f}%", told(report, source.who)
        rows.append(row((share, *rates, source.kind, who, " < ".join(source.functions))))
    return tuple(rows)


def tested(report: ReportInput) -> Rows:
    """Revision, boots, probability to have the change, subject, why it could not be tested."""
    return tuple(
        row(
            (
                short(each.sha),
                str(each.boots),
                probability(each.probability_bad),
                each.subject,
                told(report, each.skipped),
            )
        )
        for each in report.result.tested
    )


def thresholds(report: ReportInput) -> Rows:
    """How each figure is judged: unit, the better direction, what of a boot, the least effect, its
    bound, its control, what it is, why these numbers.
    """
    return tuple(
        row(
            (
                figure_name(report, limit.key),
                unit_text(limit.unit),
                limit.better,
                limit.statistic,
                _least(limit),
                "" if limit.limit is None else number(limit.limit, limit.unit),
                str(limit.control or ""),
                limit.title,
                limit.reason,
            )
        )
        for limit in report.thresholds
    )


def repaired(report: ReportInput) -> Rows:
    """Campaign, figure, middle without the commit and with it, of what other campaigns know that a
    revert brings back.
    """
    rows = []
    for each in report.repaired:
        limit, unit = repaired_by(report, each)
        sides = (
            boots_with(each.metric, side)
            or f"{number(centre(side, limit), unit)} ({many(side.n, 'boot')})"
            if side.values
            else "not measured"
            for side in (each.without, each.with_it)
        )
        rows.append(row((each.campaign, figure_name(report, each.metric, each.figure), *sides)))
    return tuple(rows)


def earlier(report: ReportInput, figures: Sequence[EarlierFigure]) -> Rows:
    """Campaign, its day, revision, middle, range, boots."""
    key = report.result.metric
    limit = threshold_of(report, key) if key else None
    return tuple(
        row(
            (
                each.campaign,
                each.date[:10],
                short(each.revision),
                (boots_with(key, each.sample) if key else "")
                or number(centre(each.sample, limit), limit.unit if limit else ""),
                _range(key, each.sample) if key else "",
                str(each.sample.n),
            )
        )
        for each in figures
    )


def _least(limit: Threshold) -> str:
    if limit.scale is Scale.LOG:
        return f"x {limit.min_effect:g}"
    return number(limit.min_effect, limit.unit, sign=True)


def _numbers(report: ReportInput, found: Judgement | None) -> tuple[str, ...]:
    """Both middles, effect, interval, p, boots; each empty where nothing was compared."""
    if found is None:
        return ("",) * 6
    limit, unit = limit_of(report, found), judged_unit(report, found)
    middles = (
        boots_with(found.key, side)
        or (number(centre(side, limit), unit) if side.values else "not measured")
        for side in (found.base, found.new)
    )
    both = found.two_sided
    return (
        *middles,
        effect(report, found),
        interval(found) if both and limit is not None else "",
        f"{found.p:.2g}" if both else "",
        f"{found.base.n} + {found.new.n}",
    )


def _range(key: MetricKey, sample: Sample) -> str:
    """Nothing of what a boot has or has not: there is nothing between."""
    if not sample.values or has_share(key, sample):
        return ""
    return f"{number(min(sample.values))} to {number(max(sample.values))}"
