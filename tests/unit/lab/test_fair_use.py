# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues of a lab, and manners in one that is somebody else's."""

from datetime import UTC, datetime

import pytest

from rtbisect.lab.lava import fair_use
from rtbisect.lab.lava.fair_use import FairUse
from rtbisect.lab.lava.rest_types import DeviceState, JobState


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


def test_a_place_in_the_queue_is_one_line():
    queue = [job(1), job(2), job(5, "bot")]
    devices = [device("a", state="Running"), device("b", "Maintenance")]
    assert fair_use.standing_of(5, queue, devices) == "2 jobs ahead; a running, b is in maintenance"
    assert fair_use.hopeless("qemu-smt", devices) == ""
    assert fair_use.hopeless("qemu-smt", []) == "the lab shows no device of type qemu-smt"


@pytest.mark.parametrize(
    ("manners", "hour", "queue", "said"),
    [
        (FairUse(), 12, [], ""),
        (FairUse(), 12, [job(1)] * 9, ""),
        (FairUse(), 12, [job(1, "bot"), job(2, "bot")], "2 jobs of ours wait"),
        (FairUse(yields=True), 12, [job(1)], "1 jobs of others wait"),
        (FairUse((19, 7)), 12, [], "from 19:00 to 07:00 UTC"),
        (FairUse((19, 7)), 23, [], ""),
        (FairUse((19, 7)), 3, [], ""),
        (FairUse((7, 19)), 12, [], ""),
        (FairUse((7, 19)), 19, [], "from 07:00 to 19:00 UTC"),
    ],
)
def test_a_guest_has_manners(manners, hour, queue, said):
    now = datetime(2026, 1, 31, hour, 30, tzinfo=UTC)
    found = fair_use.hold_back(manners, now, "bot", queue, 2)
    assert said in found
    assert bool(said) == bool(found)
