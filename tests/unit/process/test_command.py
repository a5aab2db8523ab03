# SPDX-License-Identifier: GPL-2.0-or-later
"""The command runner: argv, environment, timeout, groups; and file locks."""

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from rtbisect.errors import BusyError, ConfigError, InfrastructureError, InternalError
from rtbisect.process import command, endings, locks


def sh(script, tmp_path, **kw):
    return command.run(["/bin/sh", "-c", script], cwd=tmp_path, timeout_s=20, **kw)


def test_output_and_exit_code_come_back(tmp_path):
    done = sh("echo out; echo err >&2; exit 3", tmp_path)
    assert (done.stdout, done.stderr, done.returncode, done.ok) == ("out\n", "err\n", 3, False)


def test_hostile_environment_stays_out(tmp_path, monkeypatch):
    for name in ("MAKEFLAGS", "GIT_DIR", "PYTHONPATH", "ARCH", "CROSS_COMPILE", "CFLAGS"):
        monkeypatch.setenv(name, "evil")
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    seen = dict(line.split("=", 1) for line in sh("env", tmp_path).stdout.splitlines())
    assert "evil" not in seen.values()
    assert seen["LC_ALL"] == "C"
    assert seen["GIT_CONFIG_GLOBAL"] == "/dev/null"


def test_stdin_is_empty_unless_given(tmp_path):
    assert sh("wc -c", tmp_path).stdout.strip() == "0"
    assert sh("cat", tmp_path, stdin=b"\xff\n").stdout == "\udcff\n"


def test_a_timeout_ends_the_whole_group(tmp_path):
    done = command.run(
        ["/bin/sh", "-c", "sleep 60 & echo $! > child; wait"], cwd=tmp_path, timeout_s=0.5
    )
    assert done.timed_out
    assert not done.ok
    child = int((tmp_path / "child").read_text())
    time.sleep(0.2)
    assert not endings.stat_of(child) or endings.stat_of(child)[0] == "Z"


def test_a_missing_program_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigError, match="no-such-program is not there"):
        command.run(["no-such-program"], cwd=tmp_path, timeout_s=1)


@pytest.mark.parametrize("argv", ["ls -l", [], ["ls", "a\0b"]])
def test_only_argument_lists_are_run(argv, tmp_path):
    with pytest.raises(InternalError):
        command.run(argv, cwd=tmp_path, timeout_s=1)


def test_check_raises_with_the_last_word_of_the_command(tmp_path):
    with pytest.raises(InfrastructureError, match=r"ended with 2 .*no space"):
        sh("echo 'no space' >&2; exit 2", tmp_path, check=True)


def test_a_log_file_gets_both_streams(tmp_path):
    log = tmp_path / "log"
    done = sh("echo out; echo err >&2", tmp_path, log=log)
    assert sorted(log.read_text().split()) == ["err", "out"]
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize("script", ["yes", "yes >&2", "yes | head -c 200000; sleep 60"])
def test_what_prints_too_much_is_ended(script, tmp_path):
    logs = {"log": tmp_path / "out", "error_log": tmp_path / "err"}
    done = sh(script, tmp_path, most_log_bytes=100_000, **logs)
    assert (done.overran, done.timed_out, done.ok) == (True, False, False)


def test_a_bound_of_logs_is_no_bound_of_time(tmp_path):
    log, most = tmp_path / "out", 100_000
    assert sh("sleep 0.6; echo x", tmp_path, log=log, most_log_bytes=most).ok
    words = {"cwd": tmp_path, "timeout_s": 0.5, "log": log, "most_log_bytes": most}
    assert command.run(["/bin/sleep", "60"], **words).timed_out


def test_printable_takes_the_teeth_out_of_foreign_text():
    assert command.printable("a\x1b[31mb\r\nc\u202e") == "a?[31mb??c?"
    assert len(command.printable("x" * 1000)) == 300


@pytest.mark.parametrize(("shared", "mode"), [(False, 0o600), (True, 0o666)])
def test_a_lock_that_is_shared_is_for_every_user(tmp_path, shared, mode):
    place = tmp_path / "lock"
    for _ in ("made", "there"):
        with locks.hold(place, shared=shared):
            assert place.stat().st_mode & 0o777 == mode


def test_a_lock_of_an_earlier_version_becomes_shared(tmp_path):
    (tmp_path / "lock").touch(0o600)
    with locks.hold(tmp_path / "lock", shared=True):
        assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o666


def test_a_lock_is_not_taken_through_a_link_nor_on_anything_else(tmp_path):
    (tmp_path / "precious").write_text("text")
    (tmp_path / "link").symlink_to("precious")
    os.mkfifo(tmp_path / "pipe")
    for name, why in (
        ("link", "symbolic links"),
        ("pipe", "not a regular file"),
        (".", "Is a directory"),
        ("precious/lock", "File exists|Not a directory"),
    ):
        with pytest.raises(ConfigError, match=why) as caught, locks.hold(tmp_path / name):
            pass
        assert str(tmp_path / name) in caught.value.message
        assert "remove it" in caught.value.hint
    assert (tmp_path / "precious").read_text() == "text"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_two_users_share_a_lock_of_a_folder_like_run_lock():
    with tempfile.TemporaryDirectory(prefix="rtbisect-") as folder:
        Path(folder).chmod(0o1777)
        with locks.hold(Path(folder) / "lock", shared=True):
            os.seteuid(65534)
            try:
                with pytest.raises(BusyError), locks.hold(Path(folder) / "lock", shared=True):
                    pass
            finally:
                os.seteuid(0)


def test_a_lock_is_exclusive_and_children_keep_it(tmp_path):
    place = tmp_path / "deep" / "lock"
    with locks.hold(place) as descriptor:
        busy = pytest.raises(BusyError, match=f"device x is in use by process {os.getpid()}")
        with busy, locks.hold(place, what="device x"):
            pass
        pid = os.posix_spawn(
            "/bin/sleep", ["sleep", "60"], os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, descriptor, 9)],
        )  # fmt: skip
    try:
        with pytest.raises(BusyError), locks.hold(place):
            pass
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    with locks.hold(place):
        pass


@pytest.mark.parametrize("most", [0, 100_000])
def test_an_end_is_told_and_not_looked_for(tmp_path, monkeypatch, most):
    """A look every 50 ms would make commands of 35 and of 60 ms equally long."""
    looks = []
    monkeypatch.setattr(subprocess.time, "sleep", looks.append)
    assert sh("sleep 0.2", tmp_path, log=tmp_path / "log", most_log_bytes=most).ok
    assert looks == []


@pytest.mark.parametrize("most", [0, 100_000])
def test_where_the_kernel_does_not_tell_it_is_looked_for(tmp_path, monkeypatch, most):
    monkeypatch.setattr(os, "pidfd_open", lambda _pid: os.open("/nowhere", os.O_RDONLY))
    words = {"log": tmp_path / "log", "most_log_bytes": most}
    assert sh("sleep 0.2", tmp_path, **words).ok
    assert command.run(["/bin/sleep", "60"], cwd=tmp_path, timeout_s=0.3, **words).timed_out


def test_a_daemon_that_keeps_the_output_open_is_not_waited_for(tmp_path):
    """It has left the group of its parent, so nothing that ends the group reaches it."""
    kept = tmp_path / "pid"
    argv = ["sh", "-c", f"echo said; setsid sleep 600 & echo $! > {kept}"]
    done = command.run(argv, cwd=tmp_path, timeout_s=0.5)
    os.kill(int(kept.read_text()), signal.SIGKILL)
    assert done.timed_out
    assert done.stdout == "said\n"


def test_a_command_that_has_begun_is_ended_where_nobody_learns_its_number(tmp_path, monkeypatch):
    """As by a Ctrl-C between the two."""
    begun = []

    class Interrupted(subprocess.Popen):
        def __init__(self, *words, **options):
            super().__init__(*words, **options)
            begun.append(self)
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        sh("exec sleep 60", tmp_path, clear=True, log=tmp_path / "log")
    (child,) = begun
    try:
        # It may still be ending.
        assert child.wait() == -signal.SIGTERM
    finally:
        child.kill()
