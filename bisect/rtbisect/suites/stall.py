# SPDX-License-Identifier: GPL-2.0-or-later
"""Does a machine stand still for good when a task has no CFS bandwidth left in an epoll callback?

Each figure is 0 or 1 for a boot; the share of boots is what is compared. A boot that gets to its
end has stall.txt (lava-jobs/suites/stall/epollstall.c) and 0 for every symptom that its kernel can
tell (lines `sees_<symptom> 1`), but for `lockdep`, which a boot outlives. One that does not get
there names its symptom on the console, and tells nothing of the others: which of them comes first
is chance.
"""

from __future__ import annotations

from rtbisect.model.kinds.boot import Raw, Symptom
from rtbisect.model.lab import Measurement, Window
from rtbisect.suites.base import Files, Suite, SuiteError, Watch, number, of_boot, pairs, text

NAME = "stall"

#: The figure that a boot has or has not: it stands still.
FROZEN = "frozen_periods"

#: What the console of a boot that hangs tells (lab/classify.py), and the figure that it is 1 of.
SYMPTOMS = {
    Symptom.FROZEN_PERIODS: FROZEN,
    Symptom.GRACE_PERIOD: "rcu_stall",
    Symptom.BLOCKED_TASK: "blocked_task",
    Symptom.SOFT_LOCKUP: "soft_lockup",
}

#: Figure: whether the kernel warned of locks that are taken in a wrong order.
LOCKDEP = "lockdep"

#: What only a kernel with a detector for it tells, and only while that is switched on.
GUARDS = ("rcu_stall", "blocked_task", "soft_lockup", LOCKDEP)

#: Fewer periods than this say that nobody was throttled: the boot tested nothing.
FEWEST_PERIODS = 50


def parse(
    files: Files,
    window: Window,
    watch: Watch,  # noqa: ARG001  (of the contract)
) -> tuple[Measurement, ...]:
    """The symptoms that the kernel can tell absent, and how much was tried; SuiteError when too
    little was.
    """
    values = pairs(text(files, "stall.txt"), " ")
    counts = {
        key: number(values, key, "stall.txt")
        for key in ("nr_periods", "nr_throttled", "writes", "waits")
    }
    if counts["nr_throttled"] < FEWEST_PERIODS or counts["nr_throttled"] > counts["nr_periods"]:
        raise SuiteError(
            Raw.FEW_PERIODS,
            throttled=counts["nr_throttled"],
            periods=counts["nr_periods"],
            least=FEWEST_PERIODS,
        )
    symptoms = dict.fromkeys(sorted(SYMPTOMS.values()), 0.0)
    symptoms[LOCKDEP] = float(number(values, LOCKDEP, "stall.txt") > 0)
    for guard in GUARDS:
        if values.get(f"sees_{guard}") != "1":
            del symptoms[guard]
    return of_boot(
        NAME, window, "1", symptoms | {key: float(count) for key, count in counts.items()}
    )


def symptom(seen: Symptom, window: Window) -> tuple[Measurement, ...]:
    """The one figure that a boot tells which hung with this symptom."""
    return of_boot(NAME, window, "1", {SYMPTOMS[seen]: 1.0})


SUITE = Suite(
    name=NAME,
    parse=parse,
    windows=(Window(name="stall", suites=(NAME,), workload="epoll-cfs-bandwidth", synthetic=True),),
    symptom=symptom,
    of_boots=(FROZEN,),
    guards=GUARDS,
)
