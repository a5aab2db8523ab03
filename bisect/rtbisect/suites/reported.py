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
            raise SuiteError(f"{case.case[:60]!r} is no name of a figure")
        if name in figures:
            raise SuiteError(f"{case.case} was reported twice")
        if case.result != "pass":
            raise SuiteError(f"{case.case} did not pass")
        if not _NUMBER.fullmatch(case.measurement):
            raise SuiteError(f"{case.case} is {case.measurement[:40]!r}, no number")
        value = float(case.measurement)
        if not math.isfinite(value):
            raise SuiteError(f"{case.case} is {case.measurement[:40]}, not finite")
        if case.units not in UNITS:
            known = ", ".join(sorted(UNITS))
            raise SuiteError(f"{case.case} has the unit {case.units[:20]!r}, not one of {known}")
        figures[name] = Measurement(
            suite=suite, name=name, window=window.name, value=value, unit=case.units
        )
    if not figures:
        raise SuiteError("the device reported no figure")
    return tuple(figures.values())
