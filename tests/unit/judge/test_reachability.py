# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether what a commit changes runs."""

import pytest

from rtbisect.judge.gates import reachability
from rtbisect.model.code import Function
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Reach
from rtbisect.model.result import GateStatus

REACHED = reachability.Changed((Function("ep_insert"), Function("ep_poll_callback")), built=True)
BOOTED = reachability.Changed((Function("ep_insert"), Function("eventpoll_set", at_boot=True)))


def reach(kind, functions=2, **data):
    return Finding.of(kind, functions=functions, **data)


@pytest.mark.parametrize(
    ("changed", "ran", "refused", "status", "found"),
    [
        (
            REACHED,
            {"ep_insert": 0.5, "ep_poll_callback": 12.5},
            (),
            "pass",
            reach(Reach.RUNS, ran=2, function="ep_poll_callback", per_s=12.5),
        ),
        (
            REACHED,
            {"ep_poll_callback": 12.5},
            {"ep_insert"},
            "pass",
            reach(Reach.RUNS, ran=1, function="ep_poll_callback", per_s=12.5),
        ),
        (
            REACHED,
            {"ep_insert": 0.0, "ep_poll_callback": 0.0},
            (),
            "fail",
            reach(Reach.NEVER, names=("ep_insert", "ep_poll_callback")),
        ),
        # What ran at boot may have set what the window meets.
        (
            BOOTED,
            {"ep_insert": 0.0, "eventpoll_set": 0.0},
            (),
            "n/a",
            reach(Reach.AT_BOOT, function="eventpoll_set"),
        ),
        (
            BOOTED,
            {"ep_insert": 2.0, "eventpoll_set": 0.0},
            (),
            "pass",
            reach(Reach.RUNS, ran=1, function="ep_insert", per_s=2.0),
        ),
        (
            BOOTED,
            {"ep_insert": 0.0},
            {"eventpoll_set"},
            "n/a",
            reach(Reach.UNCOUNTED, function="eventpoll_set", uncounted=1),
        ),
        # What could not be counted may have run.
        (
            REACHED,
            {"ep_insert": 0.0},
            {"ep_poll_callback"},
            "n/a",
            reach(Reach.UNCOUNTED, function="ep_poll_callback", uncounted=1),
        ),
        (
            REACHED,
            {},
            {"ep_insert", "ep_poll_callback"},
            "n/a",
            reach(Reach.UNCOUNTED, function="ep_insert", uncounted=2),
        ),
        (REACHED, {}, (), "n/a", Finding.of(Reach.NOT_COUNTED)),
        (reachability.Changed(), {"f": 1.0}, (), "n/a", Finding.of(Reach.BUILDS_SILENT)),
        (reachability.Changed((), built=True), {}, (), "n/a", Finding.of(Reach.NO_FUNCTION)),
        (reachability.Changed(()), {}, (), "n/a", Finding.of(Reach.NO_FUNCTION)),
        (reachability.Changed((), built=False), {}, (), "fail", Finding.of(Reach.NOT_BUILT)),
    ],
)
def test_a_culprit_is_reached_not_reached_or_unknown(changed, ran, refused, status, found):
    gate = reachability.reachable(changed, ran, refused)
    assert (gate.name, gate.status) == ("G11 reachability", GateStatus(status))
    assert gate.reason == found
