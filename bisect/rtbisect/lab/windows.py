# SPDX-License-Identifier: GPL-2.0-or-later
"""The windows of a boot, and the order that they run in.

Every workload has its control: the same window without the reader. The order is drawn
for each boot, so that nothing that changes over a boot (caches, warm hosts, leftovers of
an earlier window) can pass for an effect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rtbisect.lab.profile import WATCHED
from rtbisect.model.lab import Window
from rtbisect.suites.base import every, find
from rtbisect.suites.reader import READER, Reader

#: 1200 events a second on 3 watched CPUs, which two emulating cores keep up. In 10 + 10 boots of
#: 2000 ms one boot with the spinlock looked like the rwlock at this dose, so RES/s of one boot is
#: evidence and not proof; RES/IWI of pf-on never overlapped.
CLOCK = Reader("clock", period_us=20_000, timers=8)
PF = Reader("pf", period_us=1000)

#: The smaller dose is one of so many.
PART = 4

#: What the device starts for them (lava-jobs/suites/run-windows.sh).
ON_DEVICE = {
    "CLOCK_READER": CLOCK.options,
    "CLOCK_QUARTER_READER": CLOCK.part(PART).options,
    "PF_READER": PF.options,
    "PF_QUARTER_READER": PF.part(PART).options,
}

#: Events a second that the timers of all watched CPUs ask for.
CLOCK_EVENTS_PER_S = WATCHED * CLOCK.asked_per_s

#: A page fault a millisecond on each watched CPU would be 3000 events a second. Three
#: busy children and their reader share two host cores under emulation, so the nominal
#: dose is what every boot on a quiet host reached: 1000 a second (seen 1000 to 1900). It
#: is not the median on purpose: a kernel that starves the reader lowers its own dose, and a
#: gate at half the median would drop bad boots more often than good ones.
PF_EVENTS_PER_S = 1000.0

#: Windows of the suites that share them. The device knows a window by its name: the function
#: `window_<name>` of one of its scripts (lava-jobs/suites) runs it.
WINDOWS = (
    Window(name="osnoise-off", suites=("ipi", "osnoise")),
    Window(
        name="clock-on",
        suites=("ipi", "osnoise"),
        workload=f"{READER}:clock",
        synthetic=True,
        nominal_events_per_s=CLOCK_EVENTS_PER_S,
    ),
    # The busy children alone: they are ours too, but the reader is the factor that is off.
    Window(name="pf-off", suites=("ipi",), synthetic=True),
    Window(
        name="pf-on",
        suites=("ipi",),
        workload=f"{READER}:pf",
        synthetic=True,
        nominal_events_per_s=PF_EVENTS_PER_S,
    ),
    Window(name="rcu-off", suites=("rcu",)),
    # No snapshot is taken beside the RCU calls, so the dose of this window is not recorded.
    Window(name="rcu-on", suites=("rcu",), workload=f"{READER}:clock", synthetic=True),
)

#: Other levels of the reader: a quarter of the dose, since interrupts that grow faster than the
#: events feed themselves; and fed by a BPF program, as tracers have it.
LEVELS = tuple(
    replace(
        window,
        name=window.name.replace("-on", f"-{level}"),
        suites=("ipi",),
        workload=window.workload + behind,
        nominal_events_per_s=window.nominal_events_per_s * dose,
        explains=window.name,
    )
    for level, behind, dose in (("quarter", f"/{PART}", 1 / PART), ("bpf", "+bpf", 1.0))
    for window in WINDOWS
    if window.nominal_events_per_s
)

#: The same and those that a suite has for itself.
ALL_WINDOWS = (*WINDOWS, *LEVELS, *(window for suite in every() for window in suite.windows))


def of_suites(suites: Iterable[str], metrics: Iterable[tuple[str, str]] = ()) -> tuple[Window, ...]:
    """The windows that these suites measure in. One without a parser has no windows of its own to
    tell: they are those of its `metrics`, pairs of suite and window.
    """
    wanted = set(suites)
    windows = [w for w in ALL_WINDOWS if wanted & set(w.suites) and not w.explains]
    known = {suite for window in windows for suite in window.suites}
    own = {window: suite for suite, window in metrics if suite in wanted - known}
    return (*windows, *(Window(name=name, suites=(suite,)) for name, suite in sorted(own.items())))


def explaining(window: Window) -> tuple[Window, ...]:
    """The windows that explain the figures of the window `window`: another dose, those that suites
    bring for it, and its twin with probes. Where a hang is a figure there is no twin, which could
    be what hangs.
    """
    windows = tuple(other for other in ALL_WINDOWS if other.explains == window.name)
    if any(find(suite).symptom for suite in window.suites):
        return windows
    return (*windows, *(suite.twin(window) for suite in every() if suite.twin))
