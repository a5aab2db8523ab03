# SPDX-License-Identifier: GPL-2.0-or-later
"""Fingerprints of version 1, as campaigns of the first schema kept them. Frozen.

They were hashes of `repr()` of dataclasses. Names of classes, fields and members stand here as
text of that time, whatever they are called today, and fields that came later are missing: campaigns
of then had no say in them. Change nothing but the attributes that values are read from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.model.campaign import Better, Limits, MetricKey, Scale, Threshold
from rtbisect.model.code import BuildRequest
from rtbisect.model.lab import DeviceType, HostProfile, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


def _old(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_old(part) for part in value)
    makers: dict[type, Callable[[Any], _Old]] = {
        BuildRequest: _build,
        DeviceType: _device,
        HostProfile: _profile,
        Window: _window,
        MetricKey: _key,
        Threshold: _threshold,
        Limits: _limits,
    }
    maker = makers.get(type(value))
    return maker(value) if maker else value


def _build(value: BuildRequest) -> _Old:
    return _Old(
        "BuildRequest",
        (
            ("revision", value.revision),
            ("config_name", value.config_name),
            ("base", value.base),
            ("fragments", value.fragments),
            ("modules", value.modules),
            ("variant", value.variant),
            ("fresh", value.fresh),
        ),
    )


def _device(value: DeviceType) -> _Old:
    return _Old(
        "DeviceType",
        (
            ("name", value.name),
            ("template", value.template),
            ("sockets", value.sockets),
            ("cores", value.cores),
            ("threads", value.threads),
            ("memory_mib", value.memory_mib),
            ("emulated", value.emulated),
            ("cpu_model", value.cpu_model),
            ("boot", value.boot),
            ("boot_s", value.boot_s),
        ),
    )


def _profile(value: HostProfile) -> _Old:
    return _Old(
        "HostProfile",
        (
            ("name", value.name),
            ("housekeeping", value.housekeeping),
            ("isolated", value.isolated),
            ("watch", value.watch),
            ("boot_line", value.boot_line),
            ("isolates", value.isolates),
            ("smt", value.smt),
            ("fifo", value.fifo),
        ),
    )


def _window(value: Window) -> _Old:
    return _Old(
        "Window",
        (
            ("name", value.name),
            ("suites", value.suites),
            ("workload", value.workload),
            ("synthetic", value.synthetic),
            ("nominal_events_per_s", value.nominal_events_per_s),
            ("instrument", value.instrument),
            ("explains", value.explains),
            ("asked", value.asked),
            ("least_s", value.least_s),
        ),
    )


def _key(value: MetricKey) -> _Old:
    return _Old(
        "MetricKey",
        (("suite", value.suite), ("name", value.name), ("window", value.window)),
    )


def _better(value: Better) -> _OldMember:
    return _OldMember("Better", value.value)


def _scale(value: Scale) -> _OldMember:
    return _OldMember("Scale", value.value)


def _threshold(value: Threshold) -> _Old:
    return _Old(
        "Threshold",
        (
            ("key", _old(value.key)),
            ("unit", value.unit),
            ("better", _better(value.better)),
            ("scale", _scale(value.scale)),
            ("statistic", value.statistic.value),
            ("min_effect", value.min_effect),
            ("limit", value.limit),
            ("floor", value.floor),
            ("role", value.role.value),
            ("control", _old(value.control)),
            ("reason", value.reason),
            ("exposure", _old(value.exposure)),
            ("title", value.title),
        ),
    )


def _limits(value: Limits) -> _Old:
    return _Old(
        "Limits",
        (
            ("confidence", value.confidence),
            ("calibrate_min", value.calibrate_min),
            ("calibrate_max", value.calibrate_max),
            ("max_boots", value.max_boots),
            ("max_builds", value.max_builds),
            ("verify_boots", value.verify_boots),
            ("revert_boots", value.revert_boots),
            ("layout_below", value.layout_below),
            ("without_rt_boots", value.without_rt_boots),
        ),
    )
