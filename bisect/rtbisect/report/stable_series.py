# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report on a repair says of stable series, as findings: which of them are asked to pick it,
or else only lack it, and how the others stand to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Concerns, Series
from rtbisect.model.report import Standing
from rtbisect.report.policy import asks_to_pick, lacking, mainline_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rtbisect.model.report import ReportInput, SeriesState


def series(report: ReportInput) -> Iterator[Finding]:
    """Which stable series lack a repair, and what is known of the others."""
    missing = tuple(_LACKING[each.standing](each) for each in lacking(report))
    if asks_to_pick(report):
        yield Finding.of(Series.PICK, commit=mainline_of(report.culprit), lacking=missing)
    elif missing:
        yield Finding.of(Series.LACK, lacking=missing)
    elif not report.series:
        yield Finding.of(Concerns.NEEDED)
    told = {
        Series.HAVE: (Standing.HAS, Standing.ALREADY_THERE),
        Series.UNAFFECTED: (Standing.UNAFFECTED,),
        Series.UNKNOWN: (Standing.UNKNOWN,),
    }
    for kind, standings in told.items():
        yield from _named(kind, [each for each in report.series if each.standing in standings])
    yield from _named(Series.TESTED, [each for each in report.series if each.tested])


def _named(kind: Series, states: list[SeriesState]) -> Iterator[Finding]:
    if states:
        yield Finding.of(kind, names=tuple(each.name for each in states))


_LACKING: Mapping[Standing, Callable[[SeriesState], Finding]] = {
    Standing.APPLIES: lambda each: Finding.of(Series.APPLIES, name=each.name),
    Standing.CONFLICTS: lambda each: Finding.of(Series.CONFLICTS, name=each.name, files=each.files),
    Standing.REVERTED: lambda each: Finding.of(Series.REVERTED, name=each.name, commit=each.commit),
}
