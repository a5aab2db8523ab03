# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of a page: a figure has one, wherever on it the figure stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rtbisect.model.campaign import Scale
from rtbisect.report.averages import centre_of, judged_unit, shown_in, unit_of
from rtbisect.report.opening import scaled
from rtbisect.words.numbers import readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbisect.model.campaign import Judgement, MetricKey, Threshold
    from rtbisect.model.lab import Measurement, Run
    from rtbisect.model.report import EarlierFigure, HostPart, Repaired, ReportInput


class Shown(NamedTuple):
    """What a page is made of."""

    report: ReportInput
    runs: Sequence[Run]
    earlier: Sequence[EarlierFigure]


#: Suite and name of a figure: it has one unit in all windows.
_Name: TypeAlias = tuple[str, str]


class _Unit(NamedTuple):
    """In what a figure was measured, in what it is told, and what makes one of the other."""

    measured: str
    told: str
    factor: float


def in_one_unit(shown: Shown) -> Shown:
    """The same with each figure in one unit, the largest that anything of it is best read in: what
    takes 9.00 ms in the first sentence takes no 9005 us below it.
    """
    report = shown.report
    units = {name: unit for name in _names(report) if (unit := _unit(report, name)).factor != 1.0}
    return _Conversion(report, units).of(shown) if units else shown


def _name(key: MetricKey) -> _Name:
    return key.suite, key.name


def _names(report: ReportInput) -> set[_Name]:
    rows = {_name(row.metric) for row in report.result.table}
    return rows | {_name(found.key) for found in _judgements(report)}


def _judgements(report: ReportInput) -> Iterator[Judgement]:
    result = report.result
    yield from result.judgements
    for found in (result.judgement, *(check.judgement for check in result.verifications)):
        if found is not None:
            yield found


def _unit(report: ReportInput, name: _Name) -> _Unit:
    """The unit of a figure on its page."""
    rows = [row for row in report.result.table if _name(row.metric) == name and row.sample.values]
    judged = [each for each in _judgements(report) if _name(each.key) == name and each.two_sided]
    keys = [*(row.metric for row in rows), *(found.key for found in judged)]
    measured = unit_of(report, keys[0]) if keys else ""
    choices = [(measured, 1.0)]
    choices += [readable(measured, centre_of(row.sample, mean=row.mean)) for row in rows]
    for found in judged:
        if judged_unit(report, found) == measured:
            choices.append(shown_in(report, found))
    told, factor = min(choices, key=lambda choice: choice[1])
    return _Unit(measured, told, factor)


class _Conversion:
    """Figures in the units of a page."""

    def __init__(self, report: ReportInput, units: Mapping[_Name, _Unit]) -> None:
        self._units = units
        self._linear = {each.key for each in report.thresholds if each.scale is Scale.LINEAR}

    def of(self, shown: Shown) -> Shown:
        report, _, earlier = shown
        result = report.result
        searched = self._units.get(_name(result.metric)) if result.metric else None
        factor = searched.factor if searched else 1.0
        told = replace(
            report,
            thresholds=tuple(map(self._threshold, report.thresholds)),
            repaired=tuple(map(self._repaired, report.repaired)),
            hosts=tuple(
                self._host(each, factor if result.metric in self._linear else 1.0)
                for each in report.hosts
            ),
            result=replace(
                result,
                table=tuple(
                    replace(row, sample=scaled(row.sample, unit.factor), unit=unit.told)
                    if (unit := self._units.get(_name(row.metric)))
                    else row
                    for row in result.table
                ),
                judgement=self._judgement(result.judgement),
                judgements=tuple(filter(None, map(self._judgement, result.judgements))),
                verifications=tuple(
                    replace(check, judgement=self._judgement(check.judgement))
                    for check in result.verifications
                ),
            ),
        )
        return Shown(
            told,
            [
                replace(run, measurements=tuple(map(self._measurement, run.measurements)))
                for run in shown.runs
            ],
            [replace(each, sample=scaled(each.sample, factor)) for each in earlier],
        )

    def _threshold(self, limit: Threshold) -> Threshold:
        unit = self._units.get(_name(limit.key))
        if unit is None:
            return limit
        linear = limit.scale is Scale.LINEAR
        return replace(
            limit,
            unit=unit.told,
            min_effect=limit.min_effect * (unit.factor if linear else 1.0),
            limit=None if limit.limit is None else limit.limit * unit.factor,
            floor=limit.floor * unit.factor,
        )

    def _judgement(self, found: Judgement | None) -> Judgement | None:
        unit = self._units.get(_name(found.key)) if found else None
        # A part of a figure may have a unit of its own.
        if found is None or unit is None or (found.figure and found.unit != unit.measured):
            return found
        change = unit.factor if found.key in self._linear else 1.0
        low, high = found.interval
        return replace(
            found,
            base=scaled(found.base, unit.factor),
            new=scaled(found.new, unit.factor),
            effect=found.effect * change,
            interval=(low * change, high * change),
            unit=unit.told if found.figure else found.unit,
        )

    def _repaired(self, known: Repaired) -> Repaired:
        unit = self._units.get(_name(known.metric))
        if unit is None or (known.figure and known.unit != unit.measured):
            return known
        return replace(
            known,
            without=scaled(known.without, unit.factor),
            with_it=scaled(known.with_it, unit.factor),
            unit=unit.told if known.unit else "",
        )

    def _host(self, host: HostPart, factor: float) -> HostPart:
        return host if host.adds is None else replace(host, adds=host.adds * factor)

    def _measurement(self, told: Measurement) -> Measurement:
        unit = self._units.get((told.suite, told.name))
        if unit is None:
            return told
        return replace(told, value=told.value * unit.factor, unit=unit.told)
