# SPDX-License-Identifier: GPL-2.0-or-later
"""How processes are ended: groups, what a killed session left, and who is spared."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from rtbisect.errors import InfrastructureError, InternalError
from rtbisect.process import command, endings

#: Where the names of process groups are kept.
PLACE = endings.PROC


def is_alive(pid):
    return endings.stat_of(pid)[:1] not in ([], ["Z"])


@pytest.fixture
def left_behind():
    """What a killed session left: a dead group, and a server that has left it. `start` says whether
    a user's command started it.
    """
    servers = []

    def start(*, of_command):
        mark = {endings.RUN_MARK: "of the killed session"} if of_command else {}
        # The pipe ends with the leader: nobody waits for the server.
        child = subprocess.Popen(
            ["/bin/sh", "-c", "setsid sh -c 'echo $$; exec sleep 60 >/dev/null' &"],
            start_new_session=True, stdout=subprocess.PIPE, text=True,
            env=command.environment(mark),
        )  # fmt: skip
        name = endings.group_id(child.pid, PLACE)
        servers.append(int(child.communicate()[0]))
        return name, servers[-1]

    yield start
    for server in servers:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGKILL)


def test_a_server_of_a_killed_session_is_ended(left_behind):
    name, server = left_behind(of_command=True)
    assert is_alive(server)
    assert endings.end_leftover(name, PLACE)
    assert not is_alive(server)
    assert not endings.end_leftover(name, PLACE)


def test_servers_of_others_live_on(left_behind):
    name, ours = left_behind(of_command=False)
    assert not endings.end_leftover(name, PLACE)
    other, server = left_behind(of_command=True)
    before, _, mark = other.rpartition(":")[0].rpartition(":")
    for changed in (f"{before}:{'0' * len(mark)}", before, other.replace(before[-36:], "x" * 36)):
        assert not endings.end_leftover(changed, PLACE)
    assert is_alive(ours)
    assert is_alive(server)


@pytest.fixture
def forbidden(monkeypatch):
    """Signals to groups are refused, as those to what sudo started; gives the children."""
    children, begin = [], subprocess.Popen

    def refuse(_pgid, _number):
        raise PermissionError

    def started(*words, **options):
        children.append(begin(*words, **options))
        return children[-1]

    monkeypatch.setattr(command.os, "killpg", refuse)
    monkeypatch.setattr(command.subprocess, "Popen", started)
    monkeypatch.setattr(endings, "GRACE_S", 0.1)
    yield children
    for child in children:
        child.kill()
        child.wait()


@pytest.mark.parametrize("clear", [True, False])
def test_processes_of_another_user_are_told_and_not_waited_for(tmp_path, forbidden, clear):
    words = {"cwd": tmp_path, "timeout_s": 0.2, "clear": clear, "log": tmp_path / "log"}
    with pytest.raises(InfrastructureError) as error:
        command.run(["/bin/sleep", "600"], **words)
    assert str(forbidden[0].pid) in error.value.hint


def test_processes_of_another_user_that_end_by_themselves_are_waited_for(forbidden, monkeypatch):
    """As the rest of what sudo started."""
    monkeypatch.setattr(endings, "GRACE_S", 60)
    child = command.subprocess.Popen(["/bin/sleep", "0.2"], start_new_session=True)
    assert forbidden == [child]
    assert endings.end_group(child.pid)


def test_dead_processes_of_another_user_are_no_fault(forbidden):
    child = subprocess.Popen(["/bin/true"], start_new_session=True)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert forbidden == [child]
    assert not endings.end_group(child.pid)


def test_who_was_started_from_what_a_killed_session_left_is_spared(left_behind):
    """A terminal server that its command was the first to start, and all that is started there."""
    name, server = left_behind(of_command=True)
    script = (
        f"from rtbisect.process import endings; print(endings.end_leftover({name!r}, endings.PROC))"
    )
    mark = {endings.RUN_MARK: "of the killed session"}
    done = subprocess.run(
        ["/bin/sh", "-c", f'{sys.executable} -c "$1"; echo lives', "sh", script],
        env=command.environment(mark), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["True", "lives"], done.stderr
    assert not is_alive(server)


def test_our_own_process_group_is_never_ended():
    with pytest.raises(InternalError):
        endings.end_group(os.getpgrp())


def test_the_dead_that_nobody_reaps_are_not_waited_for(monkeypatch):
    """As in a container whose process 1 is no init."""
    child = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    sleep, looks = time.sleep, []

    def look(seconds):
        looks.append(seconds)
        assert len(looks) < 100
        sleep(seconds)

    monkeypatch.setattr(endings.time, "sleep", look)
    assert endings.end_group(child.pid, grace_s=3600.0)
    assert child.wait() == -signal.SIGTERM


@pytest.fixture
def started():
    """Starts `sh -c SCRIPT` in a group of its own, which does not outlive the test."""
    begun = []

    def start(script, environ=None):
        child = subprocess.Popen(
            ["/bin/sh", "-c", script], start_new_session=True, stdout=subprocess.PIPE, text=True,
            env=command.environment() if environ is None else environ,
        )  # fmt: skip
        begun.append(child)
        return child

    yield start
    for child in begun:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def test_a_leftover_group_is_ended_and_only_in_its_boot(started):
    child = started("exec sleep 60")
    name = endings.group_id(child.pid, PLACE)
    assert not endings.end_leftover(name.replace(name.split(":")[3], "another-boot"), PLACE)
    assert endings.end_leftover(name, PLACE)
    assert child.wait() == -signal.SIGTERM
    assert not endings.end_leftover(name, PLACE)


def test_a_command_is_found_as_soon_as_it_has_begun(started, monkeypatch):
    """Who starts it goes on before the kernel has put its variables into its memory."""
    for mark in map(str, range(10)):
        child = started("exec sleep 60", {**command.environment(), endings.RUN_MARK: mark})
        monkeypatch.setattr(endings, "_pids", [child.pid].copy)
        endings.end_run(mark)
        assert child.wait(timeout=20) == -signal.SIGTERM


def test_a_copy_of_where_it_is_kept_ends_nothing_of_the_original(started, tmp_path):
    place, copy = tmp_path / "store", tmp_path / "copy"
    place.write_text("a store")
    shutil.copy2(place, copy)
    child = started("exec sleep 60")
    name = endings.group_id(child.pid, place)
    assert not endings.end_leftover(name, copy)
    assert child.poll() is None
    moved = place.rename(tmp_path / "moved")
    assert endings.end_leftover(name, moved)


def test_what_an_older_program_has_noted_is_ended(started):
    child = started("exec sleep 60")
    name, _, _place = endings.group_id(child.pid, PLACE).rpartition(":")
    assert endings.end_leftover(name, PLACE)


@pytest.mark.parametrize("moved", [-1, 1, -(10**6), 10**9])
def test_a_stranger_that_was_given_the_number_is_left_alone(started, moved):
    """The number came round: its new owner was started at any other time."""
    child = started("exec sleep 60", environ={})
    parts = endings.group_id(child.pid, PLACE).split(":")
    parts[2] = str(max(0, int(parts[2]) + moved))
    for name in (":".join(parts), ":".join(parts[:4])):
        assert not endings.end_leftover(name, PLACE)
    assert child.poll() is None


#: A leader that dies and leaves a member of its group behind; that tells its number.
ORPHAN = "sleep 60 >/dev/null & echo $!"


def test_what_a_dead_leader_left_is_ended(started):
    child = started(ORPHAN)
    name = endings.group_id(child.pid, PLACE)
    orphan = int(child.stdout.readline())
    child.wait()
    assert endings.members(child.pid) == [orphan]
    assert endings.end_leftover(name, PLACE)
    assert endings.members(child.pid) == []


def test_a_strangers_group_whose_leader_is_dead_is_left_alone(started):
    other = {**command.environment(), **dict.fromkeys(endings.MARK, "another session")}
    for environ in ({}, other):
        child = started(ORPHAN, environ)
        child.stdout.readline()
        child.wait()
        parts = endings.group_id(child.pid, PLACE).split(":")
        for name in (":".join(parts), ":".join(parts[:4]), ":".join([*parts[:4], ""])):
            assert not endings.end_leftover(name, PLACE)
        assert len(endings.members(child.pid)) == 1


@pytest.mark.parametrize("text", ["", "pgid:x:1:b", "pgid:1:2", "job:17", "pgid:-5:0:b"])
def test_ids_that_are_no_groups_end_nothing(text):
    assert not endings.end_leftover(text, PLACE)


@pytest.mark.parametrize("leaves", ["", "setsid "])
def test_further_ctrl_cs_end_at_once_what_heeds_no_sigterm(tmp_path, monkeypatch, leaves):
    """The second one ends the wait for the command, the others those for what it left."""
    stubborn = f"trap '' TERM; {leaves}sh -c 'echo $$ >pid; mv pid child; exec sleep 60' & wait"
    wait = subprocess.Popen.wait

    def interrupted_wait(child, timeout=None):
        if timeout is not None:
            raise KeyboardInterrupt
        return wait(child)

    def interrupted_sleep(_seconds):
        raise KeyboardInterrupt

    def begun(_pgid):
        while not (tmp_path / "child").exists():
            time.sleep(0.01)
        monkeypatch.setattr(subprocess.Popen, "wait", interrupted_wait)
        monkeypatch.setattr(time, "sleep", interrupted_sleep)
        raise KeyboardInterrupt

    words = ["/bin/sh", "-c", stubborn]
    with pytest.raises(KeyboardInterrupt):
        command.run(
            words, cwd=tmp_path, timeout_s=60, log=tmp_path / "log", on_start=begun, clear=True
        )
    monkeypatch.undo()
    child = int((tmp_path / "child").read_text())
    for _ in range(300):
        if not is_alive(child):
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail("it lives on")
