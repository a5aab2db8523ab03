# SPDX-License-Identifier: GPL-2.0-or-later
"""What every suite has, and how one is found by its name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.finding import Finding, Kind, Value
from rtbisect.model.kinds.boot import Raw, Symptom
from rtbisect.model.lab import FigureSource, Measurement, Window

#: What a window left on the device, by name; and the CPUs that are watched.
Files: TypeAlias = "Mapping[str, bytes]"
Watch: TypeAlias = "tuple[int, ...]"
Parse: TypeAlias = "Callable[[Files, Window, Watch], tuple[Measurement, ...]]"
Tell: TypeAlias = "Callable[[Files, Window, Watch], tuple[FigureSource, ...]]"
#: Figures of one CPU, keyed by name and unit.
Figures: TypeAlias = "dict[tuple[str, str], float]"
Rate: TypeAlias = "Callable[[Mapping[str, float]], float | None]"

#: Units of all suites. A measurement has one of these or its suite is wrong.
UNITS = frozenset({"1", "1/s", "1/ms", "s", "us", "us/s", "percent"})

#: The file of a window that holds the facts of the machine, the same in every window.
FACTS_FILE = "facts.txt"


#: Kinds of sources of a window that counts functions: one that ran, with its hits a second, which
#: may be 0, and one without a probe.
RAN, REFUSED = "function", "no probe"

#: Between the parts of the name of a source that has functions.
_TASK_END, _CALLED_BY = ": ", " < "


def source_name(task: str, functions: Sequence[str]) -> str:
    """`irq_work/N: rt_mutex_slowunlock < ep_poll_callback`, the innermost function first."""
    return f"{task}{_TASK_END}{_CALLED_BY.join(functions)}"


def source_parts(name: str) -> tuple[str, tuple[str, ...]]:
    """What `source_name` was given; of a source without functions its name alone."""
    task, _, functions = name.partition(_TASK_END)
    return task, tuple(functions.split(_CALLED_BY)) if functions else ()


class SuiteError(Exception):
    """The files of a window do not agree with themselves, or are not all there.

    It makes the boot invalid, never bad: what was wrong is `found`.
    """

    def __init__(self, kind: Kind, **data: Value) -> None:
        self.found = Finding.of(kind, **data)
        super().__init__(self.found)


@dataclass(frozen=True, slots=True)
class Calls:
    """Of a suite whose windows last until something was called so many times."""

    #: The parameter that says how many times, one of `Setup.suite_params`.
    parameter: str
    #: The figure that says how many calls were timed.
    figure: str
    #: Seconds. A kernel that needs longer for each call hangs.
    longest_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What the program knows of a suite: `SUITE` of a module here. Of one without a module, whose
    script reports figures by itself (suites/reported.py), it knows the name alone.

    Figures of a whole boot that have a meaning in every suite: `events_per_s`, what was taken of
    the dose that a workload gave; `faults_per_s`, what its own processes made of it, where they do;
    `lost`, events that were missed; `window_us`, how long the window lasted.
    """

    name: str
    #: Figures of one window from its raw files (by name) for the watched CPUs; SuiteError when they
    #: do not add up. Figures of a CPU carry it, those of the whole boot have `cpu=None`.
    parse: Parse | None = None
    #: Windows of its own, beside those of lab/windows.py that suites share.
    windows: tuple[Window, ...] = ()
    #: A window lasts so many times longer, because the suite does more than one thing in it.
    lengths: float = 1.0
    #: Calls that a window lasts for; None where it lasts a fixed time.
    calls: Calls | None = None
    #: A window with probes on functions, beside one that is explained; only boots have it that are
    #: asked for functions to count.
    twin: Callable[[Window], Window] | None = None
    #: Its windows try a lab with a kernel that is not ours: they need none of our modules.
    any_kernel: bool = False
    #: Shell variables that its script finds set on the device: what both have to know.
    on_device: Mapping[str, str | int] = field(default_factory=dict)

    #: What figures came from in one window, with the arguments of `parse`.
    sources: Tell | None = None
    #: Kinds of sources that its instrument tells of.
    kinds: frozenset[str] = frozenset()
    #: Kinds of sources, of whatever suite, that a figure is made of, by how its name begins.
    made_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Figures for each event, which another dose does not change, and the kinds of those events.
    per_event: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Files of the kernel that make the figures. A commit in one of them may change what a figure
    #: means, and not what it tells of.
    counted_by: tuple[str, ...] = ()

    #: Figures that only kernels with an option for it can tell. Where the kernel cannot, `parse`
    #: leaves them out: that nothing was told is no 0.
    guards: tuple[str, ...] = ()
    #: What a boot measured that hung with a symptom in a window, where that is a figure.
    symptom: Callable[[Symptom, Window], tuple[Measurement, ...]] | None = None
    #: Figures that a boot as a whole has or has not (1 or 0); others may happen to be 0 and 1.
    of_boots: tuple[str, ...] = ()
    #: The figure (1 or 0) that the kernel is wrong, of which it may warn, too. A culprit must not
    #: have it more often than its parent, whatever is searched.
    failures: str = ""

    #: Interrupts a second on a CPU by its figures, as a tracer saw them, or as /proc/interrupts
    #: counted them; None where these do not tell. In one window both have to agree.
    traced_interrupts: Rate | None = None
    counted_interrupts: Rate | None = None
    #: The figure of a CPU that the events of a workload cause: with another dose it tells whether
    #: they feed themselves.
    caused: str = ""
    #: The figure of a CPU that counts its tick, which an idle isolated one has none of.
    tick: str = ""
    #: Facts of the guest that a reader of its figures asks for.
    facts: tuple[str, ...] = ()


def find(name: str) -> Suite:
    """What the suite `name` says of itself; ConfigError where its module is none of a suite."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,31}", name):
        return Suite(name=name)
    try:
        module = importlib.import_module(f"rtbisect.suites.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"rtbisect.suites.{name}":
            raise
        return Suite(name=name)
    suite = getattr(module, "SUITE", None)
    if not isinstance(suite, Suite):
        raise ConfigError(f"suites/{name}.py has no SUITE", "see suites/base.py for the contract")
    return suite


def every() -> tuple[Suite, ...]:
    """The suites that have a module here, by their names."""
    package = importlib.import_module("rtbisect.suites")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = (importlib.import_module(f"rtbisect.suites.{name}") for name in names)
    return tuple(module.SUITE for module in modules if hasattr(module, "SUITE"))


def counts_functions(window: Window) -> bool:
    """Whether a window is the twin of another one, with probes."""
    return any(find(suite).twin for suite in window.suites)


def no_figures(
    files: Files,  # noqa: ARG001  (of the contract)
    window: Window,  # noqa: ARG001
    watch: Watch,  # noqa: ARG001
) -> tuple[Measurement, ...]:
    """The `parse` of a suite that only explains: what it does would change what it measures."""
    return ()


def checked(measurements: tuple[Measurement, ...]) -> tuple[Measurement, ...]:
    """The same measurements; InternalError when a suite uses a unit that nobody knows."""
    for measurement in measurements:
        if measurement.unit not in UNITS:
            raise InternalError(
                f"{measurement.suite}.{measurement.name} has the unknown unit {measurement.unit!r}"
            )
    return measurements


def text(files: Files, name: str) -> str:
    """A file as text; it is ASCII or it was damaged on its way."""
    if name not in files:
        raise SuiteError(Raw.MISSING, file=name)
    try:
        content = files[name].decode("ascii")
    except UnicodeDecodeError:
        raise SuiteError(Raw.NO_ASCII, file=name) from None
    # Half of a number is a number.
    if content and not content.endswith("\n"):
        raise SuiteError(Raw.CUT_OFF, file=name)
    return content


def matches(where: str, lines: Iterable[str], form: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Lines of the file `where`, each of which has this form or was damaged on its way."""
    for line in lines:
        match = form.fullmatch(line)
        if match is None:
            raise SuiteError(Raw.FOREIGN_LINE, file=where, line=line[:60])
        yield match


def of_boot(
    suite: str, window: Window, unit: str, values: Mapping[str, float]
) -> tuple[Measurement, ...]:
    """Figures of the whole boot, by their names."""
    return tuple(
        Measurement(suite=suite, name=name, window=window.name, value=value, unit=unit)
        for name, value in values.items()
    )


def of_cpus(suite: str, window: Window, figures: Mapping[int, Figures]) -> list[Measurement]:
    """Figures (name and unit) of each CPU, all of which have the same ones; and before each those
    of the boot: their mean, or the largest where the name says `max_`.
    """
    measurements: list[Measurement] = []
    for name, unit in next(iter(figures.values())):
        values = {cpu: of_cpu[name, unit] for cpu, of_cpu in figures.items()}
        whole = max(values.values()) if "max_" in name else sum(values.values()) / len(values)
        measurements += of_boot(suite, window, unit, {name: whole})
        boot = measurements[-1]
        measurements += (replace(boot, value=value, cpu=cpu) for cpu, value in values.items())
    return measurements


def renamed(parse: Parse, suite: str) -> Parse:
    """A `parse` that gives the figures of another one under the name of `suite`."""

    def parse_as(files: Files, window: Window, watch: Watch) -> tuple[Measurement, ...]:
        return tuple(replace(m, suite=suite) for m in parse(files, window, watch))

    return parse_as


def check_watched(cpus: Iterable[int], watch: Watch, tool: str, stray: Raw) -> None:
    """SuiteError of the kind `stray` where `tool` looked at a CPU that is not watched."""
    if others := sorted(set(cpus) - set(watch)):
        raise SuiteError(stray, tool=tool, cpu=others[0])


def pairs(content: str, separator: str) -> dict[str, str]:
    """Lines of `key<separator>value`. An empty value is none; SuiteError for two that differ: which
    of them is right is not known.
    """
    values: dict[str, str] = {}
    for line in content.splitlines():
        name, mark, rest = line.partition(separator)
        key, value = name.strip(), rest.strip()
        if not mark:
            continue
        before = values.get(key, "")
        if before and value and before != value:
            raise SuiteError(Raw.BOTH, key=key[:40], first=before[:40], second=value[:40])
        values[key] = before or value
    return values


def no_events_lost(settings: Mapping[str, str], watch: Watch, where: str) -> None:
    """SuiteError when the trace buffer of a watched CPU overran (`lost_events` of the device)."""
    for cpu in watch:
        for counter in ("overrun", "dropped"):
            key = f"{counter}_cpu{cpu}"
            if key in settings and (events := number(settings, key, where)):
                raise SuiteError(Raw.LOST_OF_CPU, events=events, cpu=cpu)


def number(values: Mapping[str, str], key: str, where: str) -> int:
    """A non-negative integer of `pairs`; SuiteError when it is missing or something else."""
    value = values.get(key)
    if value is None:
        raise SuiteError(Raw.NO_KEY, file=where, key=key)
    if not re.fullmatch(r"[0-9]{1,20}", value):
        raise SuiteError(Raw.NO_COUNT, file=where, key=key, value=value[:40])
    return int(value)
