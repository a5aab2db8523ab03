# SPDX-License-Identifier: GPL-2.0-or-later
"""What every suite has, and how one is found by its name."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from typing import TYPE_CHECKING, Protocol, cast

from rtbisect.errors import ConfigError, InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.lab import Measurement, Source, Window

#: Units of all suites. A measurement has one of these or its suite is wrong.
UNITS = frozenset({"1", "1/s", "1/ms", "s", "us", "us/s", "percent"})

#: The file of a window that holds the facts of the machine, the same in every window.
FACTS_FILE = "facts.txt"


class SuiteError(Exception):
    """The files of a window do not agree with themselves, or are not all there.

    It makes the boot invalid, never bad: `reason` says what was wrong.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Suite(Protocol):
    """The contract of a module in this folder. A suite that measures in windows of its own, and not
    in those of lab/windows.py, also has a tuple `WINDOWS` of them; `COUNTED_BY` are those of the
    files of the kernel that its figures come from. One that knows what its figures are made of has
    a function `sources` with the arguments of `parse`. One for which a boot that hangs is a figure
    has a function `symptom` of the hang's signature and the window.
    """

    def parse(
        self, files: Mapping[str, bytes], window: Window, watch: tuple[int, ...]
    ) -> tuple[Measurement, ...]:
        """Figures of one window from its raw files (by name); SuiteError when they do not
        add up. Figures of a CPU carry it, figures of the whole boot have `cpu=None`.
        """


def find(name: str) -> Suite:
    """The suite module `name`; ConfigError when there is none."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,31}", name):
        raise ConfigError(f"{name!r} is no name of a suite", "use lower case letters and digits")
    try:
        module = importlib.import_module(f"rtbisect.suites.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"rtbisect.suites.{name}":
            raise
        raise ConfigError(
            f"there is no suite {name!r}", f"add bisect/rtbisect/suites/{name}.py or rename it"
        ) from error
    if not callable(getattr(module, "parse", None)):
        raise ConfigError(f"suites/{name}.py has no parse()", "see suites/base.py for the contract")
    return cast("Suite", module)


def no_figures(
    files: Mapping[str, bytes],  # noqa: ARG001  (of the contract)
    window: Window,  # noqa: ARG001
    watch: tuple[int, ...],  # noqa: ARG001
) -> tuple[Measurement, ...]:
    """The `parse` of a suite that only explains: what it does would change what it measures."""
    return ()


def counted_by(name: str) -> tuple[str, ...]:
    """Files of the kernel that make the figures of a suite: `COUNTED_BY` of its module. A commit in
    one of them may change what a figure means, and not what it tells of.
    """
    if not has_parser(name):
        return ()
    return tuple(getattr(importlib.import_module(f"rtbisect.suites.{name}"), "COUNTED_BY", ()))


def sources(
    name: str, files: Mapping[str, bytes], window: Window, watch: tuple[int, ...]
) -> tuple[Source, ...]:
    """What the figures of a suite came from in one window; none where it does not tell."""
    if not has_parser(name):
        return ()
    tell = getattr(importlib.import_module(f"rtbisect.suites.{name}"), "sources", None)
    return () if tell is None else tuple(tell(files, window, watch))


def symptom(name: str, signature: str, window: Window) -> tuple[Measurement, ...]:
    """What a boot that hung with `signature` measured of a suite; none where that is no figure."""
    if not has_parser(name):
        return ()
    tell = getattr(importlib.import_module(f"rtbisect.suites.{name}"), "symptom", None)
    return () if tell is None else checked(tuple(tell(signature, window)))


def counts_hangs(name: str) -> bool:
    """Whether a boot that hangs may be a figure of this suite."""
    if not has_parser(name):
        return False
    return hasattr(importlib.import_module(f"rtbisect.suites.{name}"), "symptom")


def guards(name: str) -> tuple[str, ...]:
    """Figures of a suite that only kernels with an option for it can tell: `GUARDS` of its module.
    Where the kernel cannot, `parse` leaves them out: that nothing was told is no 0.
    """
    if not has_parser(name):
        return ()
    return tuple(getattr(importlib.import_module(f"rtbisect.suites.{name}"), "GUARDS", ()))


def lengths(name: str) -> float:
    """Lengths of a window that a suite needs for its own: `LENGTHS` of its module, else 1."""
    if not has_parser(name):
        return 1.0
    return float(getattr(importlib.import_module(f"rtbisect.suites.{name}"), "LENGTHS", 1.0))


def has_parser(name: str) -> bool:
    """Whether the suite `name` is a module here; else its script reports figures by itself."""
    return importlib.util.find_spec(f"rtbisect.suites.{name}") is not None


def windows() -> tuple[Window, ...]:
    """The windows that suites bring by themselves: `WINDOWS` of the modules here, in order."""
    package = importlib.import_module("rtbisect.suites")
    found: list[Window] = []
    for name in sorted(module.name for module in pkgutil.iter_modules(package.__path__)):
        found += getattr(importlib.import_module(f"rtbisect.suites.{name}"), "WINDOWS", ())
    return tuple(found)


def checked(measurements: tuple[Measurement, ...]) -> tuple[Measurement, ...]:
    """The same measurements; InternalError when a suite uses a unit that nobody knows."""
    for each in measurements:
        if each.unit not in UNITS:
            raise InternalError(f"{each.suite}.{each.name} has the unknown unit {each.unit!r}")
    return measurements


def text(files: Mapping[str, bytes], name: str) -> str:
    """A file as text; it is ASCII or it was damaged on its way."""
    if name not in files:
        raise SuiteError(f"{name} is missing")
    try:
        content = files[name].decode("ascii")
    except UnicodeDecodeError:
        raise SuiteError(f"{name} has bytes that are not ASCII") from None
    # Half of a number is a number.
    if content and not content.endswith("\n"):
        raise SuiteError(f"{name} is cut off in a line")
    return content


def pairs(content: str, separator: str) -> dict[str, str]:
    """Lines of `key<separator>value`. An empty value is none; SuiteError for two that differ: which
    of them is right is not known.
    """
    found: dict[str, str] = {}
    for line in content.splitlines():
        name, between, told = line.partition(separator)
        key, value = name.strip(), told.strip()
        if not between:
            continue
        before = found.get(key, "")
        if before and value and before != value:
            raise SuiteError(f"{key[:40]} is both {before[:40]!r} and {value[:40]!r}")
        found[key] = before or value
    return found


def no_events_lost(found: Mapping[str, str], watch: tuple[int, ...], where: str) -> None:
    """SuiteError when the trace buffer of a watched CPU overran (`lost_events` of the device)."""
    for cpu in watch:
        for what in ("overrun", "dropped"):
            key = f"{what}_cpu{cpu}"
            if key in found and number(found, key, where) != 0:
                raise SuiteError(f"the tracer lost {found[key]} events of CPU {cpu}")


def number(found: Mapping[str, str], key: str, where: str) -> int:
    """A non-negative integer of `pairs`; SuiteError when it is missing or something else."""
    value = found.get(key)
    if value is None:
        raise SuiteError(f"{where} has no {key}")
    if not re.fullmatch(r"[0-9]{1,20}", value):
        raise SuiteError(f"{where}: {key} is {value[:40]!r}, not a count")
    return int(value)
