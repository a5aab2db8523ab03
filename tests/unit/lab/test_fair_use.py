# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues of a lab, and manners in one that is somebody else's."""

from datetime import UTC, datetime

import pytest

from rtbisect.lab.lava import fair_use
from rtbisect.lab.lava.fair_use import FairUse
from rtbisect.lab.lava.rest_types import DeviceState, JobState
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs


def job(number, submitter="other", state="Submitted"):
    return JobState(
        job=number,
        name="name",
        state=state,
        health="Unknown",
        device_type="qemu-smt",
        device="",
        submitter=submitter,
        start_time="",
        end_time="",
    )


def device(name, health="Good", state="Idle"):
    return DeviceState(
        name=name, device_type="qemu-smt", health=health, state=state, worker="lab1", offline=False
    )


def test_a_place_in_the_queue():
    queue = [job(1), job(2), job(5, "bot")]
    devices = [device("a", state="Running"), device("b", "Maintenance")]
    runs = Finding.of(Labs.IN_SERVICE, device="a", state="running")
    rests = Finding.of(Labs.NOT_GOOD, device="b", health="maintenance")
    found = fair_use.standing_of(5, queue, devices)
    assert found == Finding.of(Labs.AHEAD, ahead=2, devices=(runs, rests))
    assert fair_use.standing_of(5, [], []) == Finding.of(Labs.AHEAD, ahead=0, devices=())
    assert fair_use.hopeless("qemu-smt", devices) is None
    assert fair_use.hopeless("rt", devices[1:]) == Finding.of(Labs.NONE_FITS, whys=(rests,))
    assert fair_use.hopeless("rt", []) == Finding.of(Labs.NO_DEVICE, device_type="rt")


@pytest.mark.parametrize(
    ("manners", "hour", "queue", "wanted"),
    [
        (FairUse(), 12, [], None),
        (FairUse(), 12, [job(1)] * 9, None),
        (FairUse(), 12, [job(1, "bot"), job(2, "bot")], Finding.of(Labs.OURS_WAIT, jobs=2)),
        (FairUse(yields=True), 12, [job(1)], Finding.of(Labs.OTHERS_WAIT, jobs=1)),
        (FairUse((19, 7)), 12, [], Finding.of(Labs.HOURS, begin=19, end=7)),
        (FairUse((19, 7)), 23, [], None),
        (FairUse((19, 7)), 3, [], None),
        (FairUse((7, 19)), 12, [], None),
        (FairUse((7, 19)), 19, [], Finding.of(Labs.HOURS, begin=7, end=19)),
    ],
)
def test_a_guest_has_manners(manners, hour, queue, wanted):
    now = datetime(2026, 1, 31, hour, 30, tzinfo=UTC)
    assert fair_use.hold_back(manners, now, "bot", queue, 2) == wanted
