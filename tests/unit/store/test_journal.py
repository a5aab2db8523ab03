# SPDX-License-Identifier: GPL-2.0-or-later
"""The journal: nothing is done twice, a kill at any write loses at most the open step."""

import fcntl
import subprocess
import time
from dataclasses import dataclass, replace

import pytest

from helpers.findings import lines, said
from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.code import AS_COMMITTED, BY_COMMAND, Build, BuildStatus
from rtbisect.model.formats import kept_as
from rtbisect.model.lab import REBUILT_S, Measurement, Run, RunStatus
from rtbisect.store import journal as journal_module
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal, end_leftovers, recorded, steps_of, summarise


@kept_as("Value")
@dataclass(frozen=True)
class Value:
    number: int
    words: tuple[str, ...] = ()


@pytest.fixture
def store(tmp_path):
    return CampaignStore(tmp_path)


def journal_of(store, campaign=None, **kw):
    return StoreJournal(store.database, campaign or store.create("bisect", "{}", "t"), **kw)


def test_a_finished_step_gives_back_its_value_and_is_not_done_again(store):
    journal = journal_of(store)
    done = []

    def effect(_note):
        done.append(1)
        return Value(3, ("a", "b"))

    assert journal.step("k", Value, effect) == Value(3, ("a", "b"))
    again = StoreJournal(store.database, journal.campaign)
    assert again.step("k", Value, effect) == Value(3, ("a", "b"))
    assert done == [1]


def test_steps_are_known_before_they_are_reached_again(store):
    journal = journal_of(store)
    for key in ("build/b", "build/a", "run/0001", "build/a/layout-1"):
        journal.step(key, Value, lambda _note: Value(1))
    journal_of(store).step("build/c", Value, lambda _note: Value(1))
    assert journal_of(store, journal.campaign).keys("build/") == ("b", "a", "a/layout-1")


def test_a_step_that_raised_is_done_again(store):
    journal = journal_of(store)

    def broken(_note):
        raise ConfigError("no")

    with pytest.raises(ConfigError):
        journal.step("k", Value, broken)
    assert journal.step("k", Value, lambda _note: Value(1)) == Value(1)


def test_a_step_recorded_as_another_kind_is_refused(store):
    journal = journal_of(store)
    journal.step("k", Value, lambda _note: Value(1))
    with pytest.raises(InternalError, match="another version"):
        journal.step("k", Build, lambda _note: None)


def test_the_story_is_told_once(store):
    journal = journal_of(store)
    journal.tell(said("one"))
    journal.tell(said("two"))
    again = StoreJournal(store.database, journal.campaign)
    again.tell(said("one"))
    again.tell(said("two"))
    again.tell(said("three"))
    assert again.story() == lines("one\ntwo\nthree")


def test_what_a_killed_session_left_running_can_be_ended_before_the_resume(store):
    journal = journal_of(store)
    groups = [subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(2)]

    def killed(note):
        note(f"pgid:{groups[0].pid}")
        raise Killed

    def done(note):
        note(f"pgid:{groups[1].pid}")
        return Value(1)

    with pytest.raises(Killed):
        journal.step("open", Value, killed)
    journal.step("finished", Value, done)
    try:
        assert end_leftovers(store.database) == 1
        assert groups[0].wait(timeout=10) != 0
        assert groups[1].poll() is None
        assert end_leftovers(store.database) == 0
    finally:
        for group in groups:
            group.kill()
            group.wait()


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the program may catch it."""


def some_campaign(journal, effects):
    """Three steps with notes and lines between them."""
    for n in range(3):

        def effect(note, n=n):
            note("job:17")
            effects.append(n)
            return Value(n)

        journal.step(f"step/{n}", Value, effect)
        journal.tell(said(f"line {n}"))


def writes_of_a_campaign(tmp_path):
    heard = []
    store = CampaignStore(tmp_path / "count")
    some_campaign(journal_of(store, heard=heard.append), [])
    return len(heard)


def test_a_kill_after_any_write_loses_at_most_the_open_step(tmp_path):
    total = writes_of_a_campaign(tmp_path)
    assert total == 1 + 3 * 4
    for stop in range(1, total + 1):
        store = CampaignStore(tmp_path / str(stop))
        campaign = store.create("bisect", "{}", "t")
        effects, count = [], [0]

        def heard(_what, count=count, stop=stop):
            count[0] += 1
            if count[0] == stop:
                raise Killed

        with pytest.raises(Killed):
            some_campaign(StoreJournal(store.database, campaign, heard=heard), effects)
        done_before = list(effects)
        again = StoreJournal(store.database, campaign)
        some_campaign(again, effects)
        assert again.story() == lines("line 0\nline 1\nline 2")
        assert set(effects) == {0, 1, 2}
        repeated = [n for n in effects if effects.count(n) > 1]
        assert repeated in ([], done_before[-1:] * 2)


def test_an_open_step_is_told_what_was_left_until_it_notes_anew(tmp_path):
    """A job on a server outlives any number of kills."""
    store = CampaignStore(tmp_path)
    campaign = store.create("bisect", "{}", "t")
    seen = []

    def effect(note, then):
        seen.append(note.left)
        if then is not None:
            note(then)
        raise Killed

    for then in ("lava:key:7", None, "lava:other:8", None):
        with pytest.raises(Killed):
            StoreJournal(store.database, campaign).step(
                "run/0001", Value, lambda note, then=then: effect(note, then)
            )
    assert seen == ["", "lava:key:7", "lava:key:7", "lava:other:8"]


def test_two_campaigns_at_once_are_refused_with_the_holder(store):
    from rtbisect.errors import BusyError

    with store.writer(), pytest.raises(BusyError, match="in use by process"), store.writer():
        pass
    with store.writer():
        pass


def test_a_reader_beside_another_takes_no_campaign_for_running(store):
    journal_of(store)
    place = store.state / "campaign.lock"
    with store.writer():
        pass
    with place.open() as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert store.active() == ""


def test_the_campaign_that_runs_is_that_of_the_writers_own_session(store):
    """A writer looks at machine and lab for minutes before its campaign begins."""
    paused = journal_of(store).campaign
    with store.writer():
        assert CampaignStore(store.state).active() == ""
        running = journal_of(store).campaign
        assert CampaignStore(store.state).active() == running != paused
    assert store.active() == ""


def test_asking_makes_no_lock(store):
    assert store.active() == ""
    assert not (store.state / "campaign.lock").exists()


def run_of(revision, status=RunStatus.COMPLETE):
    return Run(
        run_id="r",
        revision=revision,
        status=status,
        measurements=(Measurement(suite="ipi", name="x", window="w", value=1.0, unit="1"),),
    )


def test_a_clock_that_is_set_meanwhile_changes_no_duration(store, monkeypatch):
    """A day on, then a day back."""
    journal = journal_of(store)
    began = time.time()
    jumps = iter([86400.0, 86400.0, -86400.0, -86400.0])
    monkeypatch.setattr(journal_module.time, "time", lambda: began + next(jumps, -86400.0))
    journal.step("run/0001", Value, lambda _note: Value(1))
    journal.step("run/0002", Value, lambda _note: Value(2))
    assert 0 <= journal.summary().wall_s < 3600
    (first, second) = steps_of(store.database, "bisect-1")
    assert began - 3600 < first.started_s <= first.finished_s <= second.started_s < began + 3600


def test_summary_counts_builds_boots_and_skipped_revisions():
    steps = [
        (Build(revision="a", config_name="c", status=BuildStatus.OK), 10.0),
        (Build(revision="b", config_name="c", status=BuildStatus.OK, reused=True), 0.5),
        (Build(revision="c", config_name="c", status=BuildStatus.FAILED), 3.0),
        (run_of("a"), 12.0),
        (run_of("b", RunStatus.BOOT_FAILED), 20.0),
        (run_of("a", RunStatus.INVALID), 12.0),
        # These built and reached the suite, and are no evidence all the same.
        (run_of("d", RunStatus.INVALID), 4.0),
        (run_of("d", RunStatus.HUNG), 2.0),
        (None, 1.0),
    ]
    got = summarise(steps, 77.0)
    assert (got.builds, got.boots, got.skipped) == (2, 5, 2)
    assert (got.wall_s, got.build_s, got.boot_s) == (77.0, 13.5, 50.0)


def test_summary_of_a_command_counts_what_was_built_and_what_had_no_figure():
    again = replace(run_of("a"), facts=((REBUILT_S, "2.500"),))
    steps = [
        (Build(revision="a", config_name=BY_COMMAND, status=BuildStatus.OK), 3.0),
        (Build(revision="b", config_name=BY_COMMAND, status=BuildStatus.FAILED), 1.0),
        (Build(revision="c", config_name=AS_COMMITTED, status=BuildStatus.OK), 0.0),
        (run_of("a"), 10.0),
        (again, 12.5),
        (run_of("c", RunStatus.INVALID), 4.0),
    ]
    got = summarise(steps, 77.0)
    assert (got.builds, got.boots, got.skipped) == (3, 3, 2)
    assert (got.build_s, got.boot_s) == (6.5, 24.0)


def test_a_run_survives_the_journal_unchanged(store):
    journal = journal_of(store)
    run = Run(
        run_id="r1", revision="abc", status=RunStatus.COMPLETE,
        measurements=(Measurement(suite="ipi", name="res_per_iwi", window="pf-on", value=0.1 + 0.2,
        unit="1", cpu=3),),
        facts=(("smt", "1"),), window_order=("a", "b"), seconds=1.5,
    )  # fmt: skip
    journal.step("run/1", Run, lambda _note: run)
    assert StoreJournal(store.database, journal.campaign).step("run/1", Run, None) == run


def test_recorded_values_come_back_by_kind_and_in_order(store):
    journal = journal_of(store)
    for n in (2, 1):
        journal.step(f"v/{n}", Value, lambda _note, n=n: Value(n))
    journal.step("run/1", Run, lambda _note: run_of("a"))
    assert recorded(store.database, journal.campaign, Value) == [Value(2), Value(1)]
    assert [run.revision for run in recorded(store.database, journal.campaign, Run)] == ["a"]
