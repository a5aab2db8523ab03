# SPDX-License-Identifier: GPL-2.0-or-later
"""Fingerprints of version 1, as campaigns of the first schema kept them. Frozen.

They were hashes of `repr()` of dataclasses. Names of classes, fields and members stand here as
text of that time, whatever they are called today, and fields that came later are missing: campaigns
of then had no say in them. Change nothing but the attributes that values are read from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rtbisect.model.campaign import Better, Limits, MetricKey, Scale, Threshold
from rtbisect.model.code import BuildRequest
from rtbisect.model.lab import DeviceType, HostProfile, Window

#: The parts of then, in their order: of a set-up, and of what boots must have in common.
MACHINE = ("build", "device", "profile", "windows", "window_ms", "rcu_calls")
SETUP = (*MACHINE, "thresholds", "limits", "explaining")

#: What was in a fingerprint and changes no figure: version 2 leaves it out.
_FOR_READERS = ("reason", "title")


@dataclass(frozen=True, slots=True)
class _Old:
    """A dataclass as it was written then."""

    name: str
    fields: tuple[tuple[str, Any], ...]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.fields)})"


@dataclass(frozen=True, slots=True)
class _OldMember:
    """A member of an enumeration as it was written then: `<Better.LOWER: 'lower'>`."""

    name: str
    value: str

    def __repr__(self) -> str:
        return f"<{self.name}.{self.value.upper()}: {self.value!r}>"


def text(names: tuple[str, ...], parts: Mapping[str, Any]) -> str:
    """What was hashed."""
    return repr(tuple(_part(name, parts[name]) for name in names))


def known(names: tuple[str, ...], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The same values in the types of JSON: all that a campaign of then knows of."""
    return {name: _plain(_part(name, parts[name])) for name in names}


#: Of what stands in the place of a kernel's parts (model/command.py).
_CLASSES = {
    "build": "BuildRequest",
    "device": "DeviceType",
    "profile": "HostProfile",
    "windows": "Window",
}


def _part(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_part(name, part) for part in value)
    if isinstance(value, dict):
        return _Old(_CLASSES[name], tuple(value.items()))
    return _old(value)


def _plain(value: Any) -> Any:
    if isinstance(value, _OldMember):
        return value.value
    if isinstance(value, _Old):
        return {name: _plain(part) for name, part in value.fields if name not in _FOR_READERS}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value


#: Today's classes with their names and fields of then, in the order of then.
_FIELDS: Mapping[type, tuple[str, tuple[str, ...]]] = {
    BuildRequest: (
        "BuildRequest",
        ("revision", "config_name", "base", "fragments", "modules", "variant", "fresh"),
    ),
    DeviceType: (
        "DeviceType",
        (
            *("name", "template", "sockets", "cores", "threads", "memory_mib", "emulated"),
            *("cpu_model", "boot", "boot_s"),
        ),
    ),
    HostProfile: (
        "HostProfile",
        (
            *("name", "housekeeping", "isolated", "watch", "boot_line", "isolates", "smt"),
            "fifo",
        ),
    ),
    Window: (
        "Window",
        (
            *("name", "suites", "workload", "synthetic", "nominal_events_per_s", "instrument"),
            *("explains", "asked", "least_s"),
        ),
    ),
    MetricKey: ("MetricKey", ("suite", "name", "window")),
    Threshold: (
        "Threshold",
        (
            *("key", "unit", "better", "scale", "statistic", "min_effect", "limit", "floor"),
            *("role", "control", "reason", "exposure", "title"),
        ),
    ),
    Limits: (
        "Limits",
        (
            *("confidence", "calibrate_min", "calibrate_max", "max_boots", "max_builds"),
            *("verify_boots", "revert_boots", "layout_below", "without_rt_boots"),
        ),
    ),
}

#: Members that were written as such; of the others the value was.
_MEMBERS: Mapping[type, str] = {Better: "Better", Scale: "Scale"}


def _old(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_old(part) for part in value)
    if isinstance(value, Enum):
        member = _MEMBERS.get(type(value))
        return _OldMember(member, value.value) if member else value.value
    if type(value) not in _FIELDS:
        return value
    name, fields = _FIELDS[type(value)]
    return _Old(name, tuple((each, _old(getattr(value, each))) for each in fields))
