# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots on several devices: begun early, numbered by order, taken by who asks for them."""

import threading

import pytest

from rtbisect.errors import InfrastructureError, Interrupted
from rtbisect.model.lab import Run, RunStatus
from rtbisect.pipeline.boot_queue import BootQueue, BootRequest

A, B, C = (BootRequest(sha=each * 40, purpose="test") for each in "abc")


class Bench:
    """Boots that end when they are let; what has begun, in order."""

    def __init__(self, width):
        self.order = []
        self.free = {}
        self.boots = BootQueue(width, self.prepare)

    def prepare(self, number, ask):
        self.order.append((number, ask.sha[0]))
        gate = self.free[number] = threading.Event()

        def run():
            assert gate.wait(20)
            if ask.sha[0] == "c":
                raise InfrastructureError("no power", "see to it")
            return Run(run_id=f"r{number}", revision=ask.sha, status=RunStatus.COMPLETE)

        return run

    def take(self, ask, ahead=(), free=()):
        """The run's name; `free` are let go as soon as all have begun."""
        done = []
        thread = threading.Thread(target=lambda: done.append(self.boots.take(ask, ahead)))
        thread.start()
        for number in free:
            while number not in self.free:
                thread.join(0.01)
            self.free[number].set()
        thread.join(20)
        return done[0].run_id


def test_one_device_runs_one_boot_after_the_other():
    bench = Bench(1)
    assert bench.take(A, [B, A], free=[1]) == "r1"
    assert bench.take(B, [A], free=[2]) == "r2"
    assert bench.order == [(1, "a"), (2, "b")]


def test_a_second_device_begins_what_comes_next():
    bench = Bench(2)
    assert bench.take(A, [B, A, B], free=[1]) == "r1"
    # The second has begun beside it, and no third.
    assert bench.order == [(1, "a"), (2, "b")]
    # Asked for, it is no new one; what comes after it takes the free device.
    assert bench.take(B, [A, B], free=[2, 3]) == "r2"
    assert bench.order == [(1, "a"), (2, "b"), (3, "a")]
    assert bench.boots.begun == 3


def test_equal_boots_are_each_begun_once():
    bench = Bench(3)
    assert bench.take(A, [A, A, A], free=[1, 2, 3]) == "r1"
    assert bench.take(A, [A, A], free=[4]) == "r2"
    assert bench.order == [(n, "a") for n in range(1, 5)]


def test_what_was_begun_for_nothing_waits_and_blocks_nobody():
    bench = Bench(2)
    bench.take(A, [B], free=[1, 2])
    assert bench.take(A, [A], free=[3, 4]) == "r3"
    assert bench.take(A, [B], free=[]) == "r4"
    assert bench.take(B, free=[]) == "r2"
    assert bench.boots.begun == 4


def test_the_order_depends_on_no_clock():
    orders = []
    for free in ([1, 2], [2, 1]):
        bench = Bench(2)
        bench.take(A, [B], free=free)
        bench.take(B, [A], free=[3])
        orders.append(bench.order)
    assert orders[0] == orders[1]


def test_a_fault_of_the_lab_is_raised_where_the_boot_is_asked_for():
    bench = Bench(2)
    assert bench.take(A, [C], free=[1, 2]) == "r1"
    with pytest.raises(InfrastructureError, match="no power"):
        bench.boots.take(C)


def test_a_boot_for_the_story_is_the_same_boot():
    assert BootRequest(sha="a", purpose="search", left=3) == BootRequest(sha="a", purpose="verify")
    assert BootRequest(sha="a", purpose="search", explain="pf-on") != BootRequest(
        sha="a", purpose="search"
    )


def test_a_stop_waits_for_what_has_begun():
    """A third boot is not begun, and the two under way are measured."""
    bench = Bench(3)
    ended = []

    def prepare(number, ask):
        if number == 3:
            raise Interrupted("stopped", "resume it")
        run = Bench.prepare(bench, number, ask)
        return lambda: ended.append(run()) or ended[-1]

    bench.boots = BootQueue(3, prepare)
    raised = []

    def take():
        with pytest.raises(Interrupted):
            bench.boots.take(A, [B, A])
        raised.append(len(ended))

    thread = threading.Thread(target=take)
    thread.start()
    for number in (1, 2):
        while number not in bench.free:
            thread.join(0.01)
        bench.free[number].set()
    thread.join(20)
    assert raised == [2]
