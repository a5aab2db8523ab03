# SPDX-License-Identifier: GPL-2.0-or-later
"""How processes are ended that nobody may signal, or that have left their group."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from rtbisect.errors import InfrastructureError
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
