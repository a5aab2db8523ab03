# SPDX-License-Identifier: GPL-2.0-or-later
"""The first sentences of a report, as findings: what changed, by how much, since which commit, on
what machine, and how sure that is. Mail, page, subject and screen begin with them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbisect.judge.stats import fisher_p
from rtbisect.model.campaign import Cause, Outcome, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Joined
from rtbisect.model.kinds.report import Changes, Columns, Levels, Opens, Sure, Symptoms, Where
from rtbisect.model.report import Standing
from rtbisect.model.result import CheckName, CheckStatus
from rtbisect.report.averages import (
    centre,
    has_share,
    judged_unit,
    level_in,
    limit_of,
    middle_word,
    overlap,
    shown_in,
    threshold_of,
)
from rtbisect.report.headline_figure import headline, test_name
from rtbisect.report.policy import asks_to_pick, better, lacking, mainline_of
from rtbisect.report.text import cut
from rtbisect.words.numbers import probability, readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Judgement, MetricKey, Sample, Threshold
    from rtbisect.model.report import CommitText, ReportInput
    from rtbisect.model.result import Verification

#: Characters of the title of a commit.
_TITLE = 90


def change(report: ReportInput, judgement: Judgement) -> Finding:
    """What a figure is on the second kernel of a judgement instead of the first."""
    data = _sides(report, judgement)
    if "base" not in data:
        return Finding.of(Changes.UNMEASURED, **data)
    if "part" in data:
        return Finding.of(Changes.PART, **data)
    limit = threshold_of(report, judgement.key)
    title = limit.title if limit else ""
    if "base_boots" in data:
        return Finding.of(Changes.BOOTS, **data, title=title)
    isolated: Any = report.host.profile.isolates
    return Finding.of(Changes.FIGURE, **data, title=title, isolated=isolated)


def symptom(report: ReportInput) -> Finding | None:
    """The same of the headline, for a subject; None where nothing was compared."""
    found = headline(report)
    if found is None:
        return None
    data = _sides(report, found[0])
    if "base" not in data:
        return Finding.of(Symptoms.UNMEASURED, **data)
    if "part" in data:
        return Finding.of(Symptoms.PART, **data)
    if "base_boots" in data:
        repaired = report.sought is Sought.REPAIR
        return Finding.of(Symptoms.ENDED if repaired else Symptoms.BOOTS, **data)
    return Finding.of(Symptoms.FIGURE, **data)


def _sides(report: ReportInput, judgement: Judgement) -> dict[str, Any]:
    """Both sides of a judgement: the middles of their figures, or how many boots have it."""
    key, base, new = judgement.key, judgement.base, judgement.new
    name = {"suite": key.suite, "name": key.name}
    if not judgement.two_sided:
        return name
    if has_share(key, base) and has_share(key, new):
        return name | {
            "base": round(sum(base.values)),
            "base_boots": base.n,
            "new": round(sum(new.values)),
            "new_boots": new.n,
        }
    limit = limit_of(report, judgement)
    before, after = centre(base, limit), centre(new, limit)
    unit, factor = shown_in(report, judgement)
    part = {"part": judgement.figure} if judgement.figure else {}
    return name | part | {"base": before * factor, "new": after * factor, "unit": unit}


def where(report: ReportInput) -> Finding:
    """On what machine."""
    device, profile = report.host
    known: dict[str, Any] = {
        "isolated": profile.isolated if profile.isolates else "",
        "realtime": realtime(report),
    }
    if device.emulated:
        return Finding.of(Where.EMULATED, **known)
    machine = device.cpu_model or device.name
    return Finding.of(Where.MACHINE, machine=machine, sockets=device.sockets, **known)


def realtime(report: ReportInput) -> bool:
    """Whether a boot told that its kernel is PREEMPT_RT."""
    return "PREEMPT_RT" in dict(report.facts).get("uname_v", "")


#: Answers with a changed figure and no proven culprit, which tell how many commits it may be.
_UNNAMED = {
    Outcome.CULPRIT_SET: Opens.SET,
    Outcome.MULTIPLE_CULPRITS: Opens.MULTIPLE,
    Outcome.MERGE_CULPRIT: Opens.MERGE,
}
#: Causes by which a commit is accused.
_ATTRIBUTED = (Cause.KERNEL, Cause.WORKLOAD_DEPENDENT)
_EMPTY = {
    Outcome.NOT_REPRODUCED: Opens.NOT_REPRODUCED,
    Outcome.NOOP: Opens.NOOP,
    Outcome.INCONCLUSIVE: Opens.OPEN,
}
#: Answers with a changed figure that no commit makes, and those of them where none was compared.
_NO_COMMIT = {Outcome.LAYOUT_SENSITIVE: Opens.LAYOUT, Outcome.GRADUAL: Opens.GRADUAL}
_UNMEASURED = {Outcome.GRADUAL: Opens.GRADUAL_UNMEASURED}


def opening(report: ReportInput) -> Finding:
    """The first sentence, one of `Opens`."""
    result = report.result
    if result.outcome is Outcome.NO_REGRESSION:
        return _nothing(report)
    found = headline(report)
    if found is None or result.outcome in _EMPTY:
        metric = figure_name(result.metric) if result.metric else report.tree
        return Finding.of((_EMPTY | _UNMEASURED).get(result.outcome, Opens.OPEN), metric=metric)
    changed = changed_by(report, found[0]) | {"where": where(report), "beside": beside(report)}
    if result.outcome in _NO_COMMIT:
        return Finding.of(_NO_COMMIT[result.outcome], **changed)
    several = result.outcome is Outcome.MULTIPLE_CULPRITS
    if report.culprit is None or not (several or result.outcome is Outcome.CULPRIT):
        kind = _UNNAMED.get(result.outcome, Opens.SET)
        return Finding.of(kind, **changed, commits=len(result.candidates) or len(report.graph))
    return _of_commit(report, report.culprit, changed)


def _of_commit(report: ReportInput, named: CommitText, changed: dict[str, Any]) -> Finding:
    """The first sentence where a commit is named."""
    result = report.result
    commit = {"commit": named.sha, "subject": cut(named.subject, _TITLE)}
    if result.outcome is Outcome.MULTIPLE_CULPRITS:
        culprits = len(result.candidates)
        return Finding.of(Opens.ONE_OF_SEVERAL, **changed, **commit, culprits=culprits)
    if result.cause not in _ATTRIBUTED:
        return Finding.of(Opens.UNATTRIBUTED, **changed, **commit)
    known = {**changed, **commit}
    repairs = report.sought is Sought.REPAIR
    return _opens_repair(report, known) if repairs else Finding.of(Opens.CULPRIT, **known)


def _opens_repair(report: ReportInput, known: dict[str, Any]) -> Finding:
    """What is repaired; of one that stable is asked to pick, first which series lack it."""
    change: Finding = known["change"]
    if change.kind == Changes.BOOTS:
        known["change"] = Finding.of(Changes.WITHOUT, **change.data)
    if not asks_to_pick(report):
        return Finding.of(Opens.REPAIR, **known)
    missing = lacking(report)
    return Finding.of(
        Opens.BACKPORT,
        series=tuple(each.name for each in missing),
        applies=all(each.standing is Standing.APPLIES for each in missing),
        commit=mainline_of(report.culprit),
        **{name: known[name] for name in ("change", "subject", "beside", "where")},
    )


def figure_name(key: MetricKey) -> Finding:
    """A figure by its name."""
    return Finding.of(Columns.FIGURE, suite=key.suite, name=key.name, unit="")


def _nothing(report: ReportInput) -> Finding:
    result = report.result
    if improved := better(report):
        return Finding.of(Opens.IMPROVED, figures=len(improved))
    return Finding.of(
        Opens.NO_REPAIR if report.sought is Sought.REPAIR else Opens.NOTHING,
        metric=figure_name(result.metric) if result.metric else "",
        confidence=probability(result.confidence) if result.confidence else "",
    )


def changed_by(report: ReportInput, judgement: Judgement) -> dict[str, Any]:
    """A change, and over how many boots it is what."""
    found = change(report, judgement)
    counted = found.kind in (Changes.BOOTS, Changes.UNMEASURED)
    return {
        "change": found,
        "middle": None if counted else middle_word(limit_of(report, judgement)),
        "boots": f"{judgement.base.n} + {judgement.new.n}",
    }


def beside(report: ReportInput) -> str:
    """The workload that the searched figure was taken beside; "" for none."""
    key = report.result.metric
    rows = [row for row in report.result.table if row.metric == key]
    levels = [row.workload for row in rows] or ([level_in(key.window)] if key else [])
    return next((level for level in levels if level not in ("", "none")), "")


def sure(report: ReportInput) -> Finding | None:
    """How sure the culprit is; None where none is named."""
    found = headline(report)
    if found is None or report.culprit is None or not found[0].two_sided:
        return None
    judgement = found[0]
    parts = [apart(report, judgement)]
    if revert := check_of(report, CheckName.REVERT):
        parts += _reverted(report, revert)
    if report.result.confidence:
        confidence = probability(report.result.confidence)
        parts.append(Finding.of(Sure.CONFIDENCE, confidence=confidence))
    return Finding.of(Joined.SENTENCE, findings=tuple(parts))


def apart(report: ReportInput, judgement: Judgement) -> Finding:
    """Whether boots tell both sides apart at a glance, both with some."""
    if has_share(judgement.key, judgement.base) and has_share(judgement.key, judgement.new):
        return _luck(report, judgement)
    overlaps = overlap(judgement.base, judgement.new)
    return Finding.of(Sure.OVERLAP if overlaps else Sure.APART)


def _luck(report: ReportInput, judgement: Judgement) -> Finding:
    """How often luck alone tells two shares so far apart, by a test that a reader can make from
    the four numbers; where hosts are told apart these do not say it.
    """
    base, new = judgement.base, judgement.new
    if len({*base.hosts, *new.hosts}) > 1:
        test = test_name(limit_of(report, judgement), judgement)
        return Finding.of(Sure.LUCK, p=judgement.p, test=test)
    p = fisher_p([value == 1 for value in base.values], [value == 1 for value in new.values])
    return Finding.of(Sure.LUCK, p=p, test="one-sided Fisher's exact test")


_REVERTS = {CheckStatus.PASS: Sure.REVERT_HELPS, CheckStatus.FAIL: Sure.REVERT_NOT}


def _reverted(report: ReportInput, check: Verification) -> tuple[Finding, ...]:
    """What the tip does without the commit; of one that was not made the mail tells elsewhere."""
    level = levels_of(report, check.judgement)[0] if check.judgement else None
    if check.status is CheckStatus.UNDECIDED:
        return (Finding.of(Sure.REVERT_OPEN, level=level),)
    if level is None or check.status not in _REVERTS:
        return ()
    kind = Sure.REVERT_SHORT if check.short else _REVERTS[check.status]
    return (Finding.of(kind, level=level),)


def levels(
    key: MetricKey, limit: Threshold | None, unit: str, sides: Sequence[Sample]
) -> tuple[Finding, ...]:
    """What several kernels have of a figure, by the middle that `limit` compares, all in one unit;
    each one of `Levels`.
    """
    middles = [centre(side, limit) if side.values else None for side in sides]
    shown, factor = readable(unit, *(middle for middle in middles if middle is not None))
    told = []
    for side, middle in zip(sides, middles, strict=True):
        if middle is None:
            told.append(Finding.of(Levels.UNMEASURED))
        elif has_share(key, side):
            told.append(Finding.of(Levels.BOOTS, seen=round(sum(side.values)), boots=side.n))
        else:
            told.append(Finding.of(Levels.FIGURE, value=middle * factor, unit=shown))
    return tuple(told)


def levels_of(report: ReportInput, judgement: Judgement) -> tuple[Finding, Finding]:
    """What both sides of a judgement have."""
    base, new = levels(
        judgement.key,
        limit_of(report, judgement),
        judged_unit(report, judgement),
        (judgement.base, judgement.new),
    )
    return base, new


def check_of(report: ReportInput, name: CheckName) -> Verification | None:
    """The check of this name, the first of several."""
    return next((each for each in report.result.verifications if each.check is name), None)


def other_builds(report: ReportInput) -> Verification | None:
    """The check on builds that the search had not booted; of a campaign of before, on another
    layout.
    """
    return check_of(report, CheckName.BUILDS) or check_of(report, CheckName.LAYOUT)


def scaled(sample: Sample, factor: float) -> Sample:
    """The same boots in another unit."""
    return replace(sample, values=tuple(value * factor for value in sample.values))
