# SPDX-License-Identifier: GPL-2.0-or-later
"""The gates of a campaign: what its fresh boots say about themselves before a culprit is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.suites import base, ipi
from rtbisect.trust import gates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbisect.model.campaign import Gate, Threshold
    from rtbisect.model.lab import Run, Window

#: The fact of a boot that its raw files are told by (lab/evidence.py).
RAW = "raw_sha256"


@dataclass(frozen=True, slots=True)
class Examined:
    """A culprit and its parent: the searched metric, all windows of a boot, the fresh boots of both
    kernels, whether the device type is an emulator, and the files that the culprit changes.
    """

    threshold: Threshold
    windows: tuple[Window, ...]
    emulated: bool
    parent: tuple[Run, ...]
    culprit: tuple[Run, ...]
    files: tuple[str, ...] = ()


def examine(what: Examined) -> tuple[Gate, ...]:
    """Every gate that these boots can be asked; one that has nothing to look at says so."""
    key = what.threshold.key
    window = next((w for w in what.windows if w.name == key.window), None)
    parent, culprit = (
        tuple(run for run in side if run.complete) for side in (what.parent, what.culprit)
    )
    both = (*parent, *culprit)
    told = dict(both[-1].facts) if both else {}
    hashes = {run.run_id: dict(run.facts).get(RAW, "") for run in both}
    found = [
        gates.raw_data_differ({run: digest for run, digest in hashes.items() if digest}),
        *(
            gates.varies(f"{key} of {name}", _values(side, key.suite, key.name, key.window))
            for name, side in (("the parent", parent), ("the culprit", culprit))
        ),
        gates.origin(
            emulated=what.emulated, synthetic=window is not None and window.synthetic, told=told
        ),
        gates.dose(
            *(_values(side, ipi.NAME, "events_per_s", key.window) for side in (parent, culprit)),
            per_event=what.threshold.unit == "1",
        ),
        *_isolation(what.windows, parent),
        gates.same_meaning(key.suite, what.files, base.counted_by(key.suite)),
    ]
    return tuple(found)


def _isolation(windows: Sequence[Window], parent: Sequence[Run]) -> Iterable[Gate]:
    """The tick on idle CPUs of the parent: a culprit may be what brought it back."""
    for window in windows:
        values = _values(parent, ipi.NAME, "loc_per_s", window.name)
        if window.workload == "none" and not window.synthetic and values:
            yield gates.quiet(window.name, max(values))


def _values(runs: Iterable[Run], suite: str, name: str, window: str) -> list[float]:
    """A figure of the whole boot, one value a boot that has it."""
    return [
        m.value
        for run in runs
        for m in run.measurements
        if m.cpu is None and (m.suite, m.name, m.window) == (suite, name, window)
    ]
