# SPDX-License-Identifier: GPL-2.0-or-later
"""Is RCU still right? The kernel's own module rcutorture, for boots of a proof.

Source: torture.txt, `seconds N` and `end SUCCESS|FAILURE|RCU_HOTPLUG` as the module said when it
was removed (kernel/rcu/rcutorture.c).
"""

from __future__ import annotations

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import Measurement, Window
from rtbisect.suites.base import Files, Suite, SuiteError, Watch, number, of_boot, pairs, text

NAME = "rcutorture"
FAILURES = "failures"

#: How long each flavour is looked at, and what it takes to load and remove the modules for it.
TEST_S = 60
_MODULES_S = 15.0

#: How a test may end, and whether that is a failure of RCU.
_ENDS = {"SUCCESS": 0.0, "FAILURE": 1.0, "RCU_HOTPLUG": 0.0}


def parse(
    files: Files,
    window: Window,
    watch: Watch,  # noqa: ARG001  (of the contract)
) -> tuple[Measurement, ...]:
    """`failures` (0 or 1) and the seconds that it was looked for."""
    values = pairs(text(files, "torture.txt"), " ")
    end = values.get("end")
    if end is None or end not in _ENDS:
        raise SuiteError(Raw.TEST_END, tool=NAME, end=end[:40] if end is not None else None)
    seconds = number(values, "seconds", "torture.txt")
    if seconds == 0:
        raise SuiteError(Raw.TEST_TIME, tool=NAME)
    return (
        *of_boot(NAME, window, "1", {FAILURES: _ENDS[end]}),
        *of_boot(NAME, window, "s", {"test_s": float(seconds)}),
    )


SUITE = Suite(
    name=NAME,
    parse=parse,
    # Both flavours explain what synchronize_rcu() costs: a grace period that ends early is quick.
    windows=tuple(
        Window(
            name=f"{NAME}-{flavour}",
            suites=(NAME,),
            explains="rcu-off",
            asked=True,
            least_s=TEST_S + _MODULES_S,
        )
        for flavour in ("rcu", "srcu")
    ),
    on_device={"RCUTORTURE_SECONDS": TEST_S},
    failures=FAILURES,
)
