# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that no journal knows, or that run on this machine: who boots next ends them."""

import dataclasses

import pytest

from helpers.lava_bench import KEY
from rtbisect.errors import InfrastructureError
from rtbisect.model.ports import KeptNote, NoNote


def here(bench):
    """Devices on this machine: what runs there disturbs what it does next."""
    lock = bench.root / "machine.lock"
    bench.settings = dataclasses.replace(bench.settings, machine_lock=lock)
    return lock


def test_the_lock_is_not_let_go_beside_a_job_that_runs(bench):
    here(bench)
    bench.server.logs = [bench.good] * 2
    bench.server.looks = 9
    bench.server.script = [("GET jobs/100/", 405)]
    assert bench.run().complete
    # The first one was ended before the next try took the lock.
    assert bench.server.cancelled == [100]


def test_a_session_that_is_interrupted_leaves_no_job_on_this_machine(bench):
    here(bench)
    lab = bench.lab()

    def interrupted(*_words):
        raise KeyboardInterrupt

    lab.desk.wait = interrupted
    with pytest.raises(KeyboardInterrupt):
        lab.run(bench.request(), KeptNote())
    assert bench.server.cancelled == [100]


@pytest.mark.parametrize(
    ("ending", "on_this_machine", "cancelled"),
    [("loose", False, [100]), ("loose", True, [100]), ("kept", True, [100]), ("kept", False, [])],
)
def test_a_job_of_a_killed_session_is_ended_by_who_boots_next(
    bench, ending, on_this_machine, cancelled
):
    """`lab check`, `host accept` and known-good boots have no journal that could take it up."""
    if on_this_machine:
        here(bench)
    folder = bench.root / "work/under-way/ours"
    folder.mkdir(parents=True)
    lab = bench.lab()
    bench.server.looks = 5
    assert lab.rest.submit(lab._job_text(bench.request(), KEY)) == 100
    if ending == "loose" or on_this_machine:
        (folder / f"{KEY}.{ending}").touch()
    bench.server.looks, bench.server.logs = 1, [bench.good]
    assert bench.run(NoNote()).complete
    assert bench.server.cancelled == cancelled
    assert list(folder.iterdir()) == []


def test_a_job_that_somebody_waits_for_is_left_alone(bench):
    lab = bench.lab()
    bench.server.logs = ["", bench.good]
    assert lab.rest.submit(lab._job_text(bench.request(), KEY)) == 100
    with lab._under_way.hold(KEY, kept=False, wait_s=0.0):
        assert bench.run(NoNote()).complete
    assert bench.server.cancelled == []


def test_a_job_without_a_journal_is_entered_before_it_is_submitted(bench):
    """So that one can be found whose session was killed at any moment."""
    lab = bench.lab()
    submit, folder = lab.rest.submit, bench.root / "work/under-way/ours"
    seen = []

    def watched(text):
        seen.extend(folder.iterdir())
        return submit(text)

    lab.rest.submit = watched
    bench.server.logs = [bench.good]
    assert lab.run(bench.request(), NoNote()).complete
    (entry,) = seen
    assert entry.suffix == ".loose"
    assert entry.stem in bench.server.jobs[100]["description"]
    assert list(folder.iterdir()) == []


def test_a_job_that_cannot_be_ended_stays_entered(bench):
    lab = bench.lab()
    bench.server.script = [("GET jobs/100/", 502)] * 9
    bench.server.looks = 9
    bench.server.script += [("GET jobs/100/cancel/", 502), ("POST jobs/100/cancel/", 502)] * 9
    with pytest.raises(InfrastructureError, match="answers 502"):
        lab.run(bench.request(), NoNote())
    assert len(list((bench.root / "work/under-way/ours").iterdir())) == 1
    bench.server.script, bench.server.logs = [], [bench.good]
    assert bench.run(NoNote()).complete
    assert bench.server.cancelled == [100]
