# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites without a parser: their script reports figures as LAVA test cases with a measurement.

    report_case <window>.<figure> pass <number> <unit>

A figure is one number of the whole boot; its unit is one of base.UNITS.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Protocol

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import Measurement, Window
from rtbisect.suites.base import UNITS, SuiteError

_NUMBER = re.compile(r"[+-]?\d{1,20}(\.\d{1,60})?([eE][+-]?\d{1,3})?")


class ReportedCase(Protocol):
    """What is needed of a LAVA result."""

    @property
    def case(self) -> str: ...
    @property
    def result(self) -> str: ...
    @property
    def measurement(self) -> str: ...
    @property
    def units(self) -> str: ...


def parse(cases: Iterable[ReportedCase], suite: str, window: Window) -> tuple[Measurement, ...]:
    """Figures that the device reported in a window; SuiteError when one is no number, has no known
    unit or stands twice, and when there is none at all.
    """
    figures: dict[str, Measurement] = {}
    for case in cases:
        window_name, dot, name = case.case.partition(".")
        if not dot or window_name != window.name:
            continue
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
            raise SuiteError(Raw.CASE_NAME, case=case.case[:60])
        if name in figures:
            raise SuiteError(Raw.CASE_TWICE, case=case.case)
        if case.result != "pass":
            raise SuiteError(Raw.CASE_FAILED, case=case.case)
        if not _NUMBER.fullmatch(case.measurement):
            raise SuiteError(Raw.CASE_NUMBER, case=case.case, value=case.measurement[:40])
        value = float(case.measurement)
        if not math.isfinite(value):
            raise SuiteError(Raw.CASE_INFINITE, case=case.case, value=case.measurement[:40])
        if case.units not in UNITS:
            known = tuple(sorted(UNITS))
            raise SuiteError(Raw.CASE_UNIT, case=case.case, unit=case.units[:20], known=known)
        figures[name] = Measurement(
            suite=suite, name=name, window=window.name, value=value, unit=case.units
        )
    if not figures:
        raise SuiteError(Raw.NO_FIGURE)
    return tuple(figures.values())
