# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs beside a measurement in plain words; what a site runs is called by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.lab import site_program

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What a workload of ours does, by its name and mode, and on what; short enough for a line below a
#: table without that. Events are called as `perf list` calls them.
_DOES: Mapping[str, str] = {
    "perf-epoll-reader": "a thread waits in epoll for perf events",
    "perf-epoll-reader:clock": "a thread waits in epoll for cpu-clock perf events",
    "perf-epoll-reader:pf": "a thread waits in epoll for page-fault perf events",
    "the tool perf-epoll-reader": "it takes, with epoll, cpu-clock perf events",
    "page faults alone": "programs make page faults",
    "epoll-cfs-bandwidth": (
        "a thread that uses up its CFS bandwidth wakes another, which waits with epoll"
    ),
    "epoll-producers": "threads write eventfds that one other thread waits for with epoll",
}
#: Behind the name: other levels of it.
_LEVELS: Mapping[str, str] = {
    "/4": ", a quarter as often",
    "+bpf": ", told by a BPF program",
}
#: Where those are that it waits for.
_ON: Mapping[str, str] = {
    "perf-epoll-reader": " of the measured CPUs",
    "the tool perf-epoll-reader": " of all isolated CPUs",
    "page faults alone": " on the measured CPUs",
}
_NONE = "no workload"

#: What runs in windows of ours: a figure that was only judged has the name of its window alone.
_WINDOWS: Mapping[str, str] = {
    "osnoise-off": "none",
    "clock-on": "perf-epoll-reader:clock",
    "clock-quarter": "perf-epoll-reader:clock/4",
    "clock-bpf": "perf-epoll-reader:clock+bpf",
    "pf-off": "page faults alone",
    "pf-on": "perf-epoll-reader:pf",
    "pf-quarter": "perf-epoll-reader:pf/4",
    "pf-bpf": "perf-epoll-reader:pf+bpf",
    "rcu-off": "none",
    "rcu-on": "perf-epoll-reader:clock",
}


def level_of(window: str) -> str:
    """What runs beside the measurement in a window of ours; "" where that is not known."""
    return _WINDOWS.get(window, "")


def does(level: str) -> str:
    """What runs at a level, as it goes on behind "while"; "" of what only a site knows."""
    return _told(level, {})


def doing(level: str) -> str:
    """The same with where, and with its name, which then stands for it."""
    if told := _told(level, _ON):
        return f"{told} ({level})"
    return f"{_named(level)} runs"


def _told(level: str, on: Mapping[str, str]) -> str:
    name, how = level, ""
    for behind, words in _LEVELS.items():
        if level.endswith(behind):
            name, how = level.removesuffix(behind), words
    if name not in _DOES:
        return ""
    return f"{_DOES[name]}{on.get(name) or on.get(name.partition(':')[0], '')}{how}"


def beside(level: str) -> str:
    """What runs beside a figure, over a column and in a heading."""
    return _NONE if level == "none" else f"with {_named(level)}"


def _named(level: str) -> str:
    return site_program(level) or level
