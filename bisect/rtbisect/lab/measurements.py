# SPDX-License-Identifier: GPL-2.0-or-later
"""From the log of a finished job to measurements, or to the reason why there are none.

A boot is evidence only when every case passed, the block of raw files is whole, the
machine was the one that was asked for, nothing was lost, and the workload gave its dose.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.judge.gates import boot_gates, machine_health
from rtbisect.lab import console_block
from rtbisect.lab.job_definition import (
    LONGEST_WINDOW,
    PREFLIGHT_CASES,
    expected_cases,
    has_smt,
)
from rtbisect.lab.profile import parse_cpus
from rtbisect.model.facts import RAW, UNEXPLAINED, Facts
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots
from rtbisect.process.command import cut, printable
from rtbisect.store import codec
from rtbisect.suites import base, reported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbisect.lab.job_log import LavaLog
    from rtbisect.model.kinds.boot import Symptom
    from rtbisect.model.lab import FigureSource, Measurement, RunRequest, Window

#: Part of the nominal dose that a valid window reaches.
SMALLEST_DOSE = 0.5

#: Test cases of a job. More of them make LAVA's server slow; data of CPUs and vectors are in the
#: block of files.
MOST_CASES = 100

#: Sources of a window that are kept with a run; all of them are in its raw files.
MOST_SOURCES = 40

FACTS = "preflight/facts.txt"

#: A line a window: its name, how it ended, begin and end in seconds since boot.
WINDOWS = "windows.txt"
_LASTED = re.compile(
    r"([a-z][a-z0-9-]{0,39}) (?:pass|fail) ([0-9]{1,9}\.[0-9]{2}) ([0-9]{1,9}\.[0-9]{2})"
)


class InvalidBoot(Exception):  # noqa: N818  (an outcome, not an error)
    """The boot says nothing; why it does goes into the run."""

    def __init__(self, found: Finding) -> None:
        self.found = found
        super().__init__(found)


@dataclass(frozen=True, slots=True)
class BootEvidence:
    """Measurements and facts of a valid boot."""

    measurements: tuple[Measurement, ...]
    #: Facts of the machine: pairs of key and value, sorted by key.
    facts: tuple[tuple[str, str], ...]
    sources: tuple[FigureSource, ...] = ()
    #: Seconds that each window took, as in `Run`.
    window_s: tuple[float, ...] = ()


def evidence(request: RunRequest, log: LavaLog) -> BootEvidence:
    """Measurements of a job that LAVA ran to its end; InvalidBoot with the first reason."""
    _check_cases(request, log)
    try:
        files = console_block.files_of(log.console)
    except console_block.BlockError as error:
        raise InvalidBoot(error.found) from None
    if console_block.DONE not in log.console:
        raise InvalidBoot(Finding.of(Boots.CONSOLE_END, mark=console_block.DONE))
    facts = facts_of(files)
    _check_facts(request, facts)
    # The kernel also warns of what such a suite finds, behind all windows that measure.
    warned = any(_found_failure(window, files) for window in request.windows)
    if sick := machine_health.health_fault(Facts(facts), machine_health.WARNED if warned else 0):
        raise InvalidBoot(sick)
    ran = " ".join(files.get("order.txt", b"").decode("ascii", "replace").split())
    wanted = " ".join(window.name for window in request.windows)
    if ran != wanted:
        raise InvalidBoot(Finding.of(Boots.WINDOW_ORDER, ran=cut(ran), wanted=wanted))
    watch = parse_cpus(request.profile.watch)
    measurements: list[Measurement] = []
    sources: list[FigureSource] = []
    for window in request.windows:
        raw = _window_files(window, files)
        try:
            measurements += _window_measurements(window, raw, watch, request, log)
            sources += _window_sources(window, raw, watch)
        except InvalidBoot as error:
            if not window.explains:
                raise
            facts[f"{UNEXPLAINED}{window.name}"] = codec.to_json(Finding, error.found)
    facts["profile"] = request.profile.name
    for window in request.windows:
        if window.site_workload:
            facts["site_workload"] = printable(window.site_workload)
    facts[RAW] = _digest(files)
    return BootEvidence(
        tuple(measurements), tuple(sorted(facts.items())), tuple(sources), _lasted_s(request, files)
    )


def _lasted_s(request: RunRequest, files: base.Files) -> tuple[float, ...]:
    """Seconds that each window took, with what it needs before and after it measures; () where the
    device does not say so of all.
    """
    text = files.get(WINDOWS, b"").decode("ascii", "replace")
    lines = [match for line in text.splitlines() if (match := _LASTED.fullmatch(line))]
    if [line[1] for line in lines] != [window.name for window in request.windows]:
        return ()
    return tuple(max(0.0, round(float(line[3]) - float(line[2]), 2)) for line in lines)


def symptom(
    request: RunRequest, seen: Symptom | None, console: Sequence[str]
) -> tuple[Measurement, ...]:
    """What a hang is a figure of, in the window that the boot hung in, by the lines of its
    console; none where it is none.
    """
    if seen is None:
        return ()
    inside = [window for window in request.windows if _hung_in(window, console)]
    tells = ((window, base.find(suite).symptom) for window in inside for suite in window.suites)
    figures = (base.checked(tell(seen, window)) for window, tell in tells if tell)
    return next((measured for measured in figures if measured), ())


def _hung_in(window: Window, console: Sequence[str]) -> bool:
    """The last that the device says of this window is its begin (lava-jobs/suites/stall)."""
    begins, ends = (f"rtbisect: window {window.name} {how}" for how in ("begins", "ends"))
    begun = [begins in line for line in console if begins in line or ends in line]
    return bool(begun) and begun[-1]


def _found_failure(window: Window, files: base.Files) -> bool:
    """Whether a suite of a window found a failure of the kernel."""
    for suite in map(base.find, window.suites):
        if suite.failures and suite.parse:
            with suppress(base.SuiteError):
                measurements = suite.parse(_window_files(window, files), window, ())
                if any(m.name == suite.failures and m.value > 0 for m in measurements):
                    return True
    return False


def _window_sources(window: Window, raw: base.Files, watch: base.Watch) -> list[FigureSource]:
    sources: list[FigureSource] = []
    for read_sources in (base.find(suite).sources for suite in window.suites):
        try:
            sources += read_sources(raw, window, watch)[:MOST_SOURCES] if read_sources else ()
        except base.SuiteError as error:
            found = Finding.of(Boots.SOURCES, window=window.name, why=error.found)
            raise InvalidBoot(found) from None
    return sources


def _digest(files: base.Files) -> str:
    """Sha256 over the raw files of the windows: no two boots have the same."""
    digest = hashlib.sha256()
    for name in sorted(files):
        if "/" in name and name != FACTS:
            digest.update(f"{name} {len(files[name])}\n".encode() + files[name])
    return digest.hexdigest()


def facts_of(files: base.Files) -> dict[str, str]:
    """key=value lines that the guest wrote before the first window."""
    if FACTS not in files:
        raise InvalidBoot(Finding.of(Boots.NO_FACTS, file=FACTS))
    content = files[FACTS].decode("utf-8", "replace")
    try:
        facts = base.pairs(content, "=")
    except base.SuiteError as error:
        raise InvalidBoot(Finding.of(Boots.FACTS, file=FACTS, why=error.found)) from None
    return {printable(k): printable(v, 2000) for k, v in facts.items()}


def _check_cases(request: RunRequest, log: LavaLog) -> None:
    results = log.of_device()
    if len(results) > MOST_CASES:
        raise InvalidBoot(Finding.of(Boots.MANY_CASES, cases=len(results), most=MOST_CASES))
    for case in expected_cases(request):
        if case not in results:
            raise InvalidBoot(Finding.of(Boots.CASE_MISSING, case=case))
        if results[case] != "pass":
            fact, value = _failure_fact(case, log)
            found = Finding.of(Boots.CASE_FAILED, case=case, fact=fact, value=value)
            raise InvalidBoot(found)


def _failure_fact(case: str, log: LavaLog) -> tuple[str | None, str | None]:
    """A fact and its value that explain a failed preflight, or a window that was not begun because
    another one had left something behind, where the block still tells it.
    """
    try:
        facts = facts_of(console_block.files_of(log.console))
    except (console_block.BlockError, InvalidBoot):
        return None, None
    key = PREFLIGHT_CASES.get(case) or f"left_behind_{case}"
    return (key, facts[key]) if key in facts else (None, None)


def _check_facts(request: RunRequest, facts: Mapping[str, str]) -> None:
    device, profile = request.device_type, request.profile
    # A console that loses characters garbles the line that LAVA types to a firmware.
    arrived = facts.get("cmdline", "").split()
    boot_line = profile.line_on(device).split()
    if lost := [word for word in boot_line if word not in arrived]:
        raise InvalidBoot(Finding.of(Boots.BOOT_LINE, lost=cut(" ".join(lost))))
    isolated = parse_cpus(profile.isolated)
    every = range(0, device.cpus, 1 if profile.smt else device.threads)
    wanted = {
        "online": tuple(every),
        "isolated": isolated if profile.isolates else (),
        "nohz_full": isolated if profile.isolates else (),
    }
    for key, cpus in wanted.items():
        if _cpus(facts.get(key, "")) != cpus:
            raise InvalidBoot(Finding.of(Boots.CPUS, fact=key, value=facts.get(key)))
    smt = "1" if has_smt(request) else "0"
    if facts.get("smt_active") != smt:
        raise InvalidBoot(Finding.of(Boots.SMT, value=facts.get("smt_active"), wanted=smt))
    if (clock := facts.get("clocksource")) != "tsc":
        raise InvalidBoot(Finding.of(Boots.CLOCK_SOURCE, value=clock))


def _cpus(text: str) -> tuple[int, ...]:
    try:
        return parse_cpus(text)
    except ConfigError:
        return ()


def _window_files(window: Window, files: base.Files) -> dict[str, bytes]:
    """What a window left, and the facts of the machine."""
    prefix = f"{window.name}/"
    raw = {
        name.removeprefix(prefix): data for name, data in files.items() if name.startswith(prefix)
    }
    return raw | {base.FACTS_FILE: files[FACTS]}


def _window_measurements(
    window: Window,
    raw: base.Files,
    watch: base.Watch,
    request: RunRequest,
    log: LavaLog,
) -> list[Measurement]:
    measurements: list[Measurement] = []
    suites = [base.find(suite) for suite in window.suites]
    for suite in suites:
        try:
            if suite.parse:
                measurements += base.checked(suite.parse(raw, window, watch))
            else:
                measurements += reported.parse(log.results, suite.name, window)
        except base.SuiteError as error:
            found = Finding.of(Boots.SUITE, suite=suite.name, window=window.name, why=error.found)
            raise InvalidBoot(found) from None
    for gate in boot_gates.of_window(measurements):
        if not gate.ok:
            found = Finding.of(Boots.GATE, window=window.name, gate=gate.name, why=gate.reason)
            raise InvalidBoot(found)
    boot = {m.name: m.value for m in measurements if m.cpu is None}
    for calls in (suite.calls for suite in suites if suite.calls):
        _check_calls(window, request, calls, boot[calls.figure])
    _check_whole(window, request, boot)
    return measurements


def _check_whole(window: Window, request: RunRequest, boot: Mapping[str, float]) -> None:
    """Nothing was lost, the workload gave its dose, and it did not take too long."""
    name = window.name
    if lost := boot.get("lost", 0.0):
        raise InvalidBoot(Finding.of(Boots.EVENTS_LOST, window=name, events=lost))
    # A kernel that starves the reader has had the dose that the children made.
    nominal = window.nominal_events_per_s
    dose = max(boot.get(name, 0.0) for name in ("events_per_s", "faults_per_s"))
    if nominal > 0 and dose < SMALLEST_DOSE * nominal:
        raise InvalidBoot(
            Finding.of(Boots.DOSE, window=name, events_per_s=dose, nominal_per_s=nominal)
        )
    lasted_ms = boot.get("window_us", 0.0) / 1000
    if lasted_ms > LONGEST_WINDOW * request.window_ms:
        raise InvalidBoot(Finding.of(Boots.LONG_WINDOW, window=name, lasted_ms=lasted_ms))


def _check_calls(window: Window, request: RunRequest, calls: base.Calls, timed: float) -> None:
    wanted = dict(request.suite_params)[calls.parameter]
    if timed != wanted:
        raise InvalidBoot(Finding.of(Boots.CALLS, window=window.name, timed=timed, wanted=wanted))
