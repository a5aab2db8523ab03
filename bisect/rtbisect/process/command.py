# SPDX-License-Identifier: GPL-2.0-or-later
"""The one command runner: argv lists, a timeout always, an allow-listed environment.

Nothing else in the program imports subprocess. Children run in a process group of their
own, read /dev/null unless they are given input, and are ended as a group.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from pathlib import Path
from secrets import token_hex
from typing import IO

from rtbisect.errors import ConfigError, InfrastructureError, InternalError

#: Variables that a child may inherit. Everything else (MAKEFLAGS, GIT_DIR, PYTHONPATH,
#: ARCH, CROSS_COMPILE, CFLAGS, ...) changes what is measured and stays out.
INHERITED = ("PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "TZ", "SSL_CERT_FILE")

#: What every child gets; git then reads neither the user's nor the system's configuration.
FIXED = {
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
    "GIT_AUTHOR_NAME": "rtbisect",
    "GIT_AUTHOR_EMAIL": "rtbisect@lab.example.org",
    "GIT_COMMITTER_NAME": "rtbisect",
    "GIT_COMMITTER_EMAIL": "rtbisect@lab.example.org",
}

#: By this variable processes of a session are known after it was killed; the value is drawn anew by
#: each process of rtbisect.
MARK = {"RTBISECT_SESSION": token_hex(16)}

#: By this one what a command started is known that is to be cleared away; drawn anew for each.
RUN_MARK = "RTBISECT_RUN"

#: Variables that a command of the user's own never inherits: they would lead its git elsewhere.
NEVER_INHERITED = ("GIT_",)

PROC = Path("/proc")

#: Poll counts milliseconds in a C int; a longer wait looks again and again after that.
_LONGEST_POLL_S = 86_400.0

#: The external id of a process group. Programs of the first schema noted no mark, later ones no
#: place.
_RECORDED = re.compile(r"pgid:([0-9]+):([0-9]+):([^:]*)(?::([^:]*))?(?::([^:]*))?")

#: Seconds between SIGTERM and SIGKILL when a child is ended.
GRACE_S = 5.0

#: Seconds between two looks at logs that may grow too long.
LOOK_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A command that ended."""

    argv: tuple[str, ...]
    #: Minus the signal where one ended it.
    returncode: int
    #: "" where they went to a log file. Foreign bytes as `decode` gives them.
    stdout: str
    stderr: str
    seconds: float
    #: We ended it when its time was over.
    timed_out: bool
    #: Its logs are longer than they may be; we ended it, unless that was faster.
    overran: bool = False

    @property
    def stopped(self) -> bool:
        """Whether its exit code says nothing, because we may have ended it."""
        return self.timed_out or self.overran

    @property
    def ok(self) -> bool:
        return self.returncode == 0 and not self.stopped


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a child: inherited names, fixed values, `extra`, the mark."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | FIXED | dict(extra or {}) | MARK


def whole_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command that the user wrote: all of ours, without what leads git
    elsewhere, then `extra` and the mark.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(NEVER_INHERITED)}
    return inherited | dict(extra) | MARK


def end_group(pgid: int, grace_s: float | None = None) -> bool:
    """End a process group: SIGTERM, then SIGKILL. True when there was one to end. Who is dead and
    waits for a parent to hear of it, as where process 1 reaps nobody, is not waited for.
    InfrastructureError where who lives in it then belongs to another user, as what sudo started.
    """
    if pgid <= 1 or pgid == os.getpgrp():
        raise InternalError(f"process group {pgid} must not be ended by rtbisect")
    with suppress(_ForeignError):
        if not _signal_group(pgid, signal.SIGTERM):
            return False
    deadline = time.monotonic() + (GRACE_S if grace_s is None else grace_s)
    # What sudo started may just be about to end by itself.
    while members(pgid) and time.monotonic() < deadline:
        time.sleep(0.05)
    # Also where no member was seen: one that was just forked is in no list yet.
    _signal_group(pgid, signal.SIGKILL)
    return True


class _ForeignError(InfrastructureError):
    """All who live in a process group belong to another user."""


def _signal_group(pgid: int, number: signal.Signals) -> bool:
    """Send a signal to a group; False where nobody is in it. _ForeignError where nobody in it
    takes one from us.
    """
    try:
        os.killpg(pgid, number)
    except ProcessLookupError:
        return False
    except PermissionError as error:
        if not members(pgid):
            return False
        raise _ForeignError(
            f"process group {pgid} cannot be ended: what is left of it belongs to another user",
            f"end it, as by `sudo kill -KILL -- -{pgid}`; `rtbisect resume` goes on then",
            retryable=False,
        ) from error
    return True


def _end_marked(is_marked: Callable[[int], bool], grace_s: float = GRACE_S) -> bool:
    """End all processes with a mark, also servers that left the group; True when there was one. Not
    what we were started from, as a terminal server that a command of the session began.
    """
    spared = _ourselves()
    # One that ends has no variables any more before it is gone: then its start tells.
    marked = {pid: _start_ticks(pid) for pid in _pids() if pid not in spared and is_marked(pid)}
    deadline = time.monotonic() + grace_s
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in marked:
            # Not a stranger that has the number meanwhile.
            if is_marked(pid):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        while time.monotonic() < deadline and any(starmap(_lives, marked.items())):
            time.sleep(0.05)
    return bool(marked)


def _lives(pid: int, start_ticks: int) -> bool:
    return stat_of(pid)[:1] not in ([], ["Z"]) and _start_ticks(pid) == start_ticks


def _ourselves() -> set[int]:
    """This process and all that it descends from."""
    pid, found = os.getpid(), set[int]()
    while pid > 1 and pid not in found:
        found.add(pid)
        pid = int((stat_of(pid) or ["", "0"])[1])
    return found


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def members(pgid: int) -> list[int]:
    """The living members of a process group."""
    fields = ((pid, stat_of(pid)) for pid in _pids())
    return [pid for pid, of in fields if of and int(of[2]) == pgid and of[0] != "Z"]


def stat_of(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on (state is index 0), [] when it is gone. Source:
    proc(5).
    """
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def group_id(pgid: int, place: Path) -> str:
    """External id of a process group that was just started, by which it is found again where a
    killed rtbisect has left it behind. `place` is the file in which it is kept: in a copy of that
    it says nothing, as the group is the business of the original.

    A process id alone may have been given to somebody else meanwhile. A living leader is ours if it
    was started in the same boot at exactly the recorded time (proc(5), field 22 of stat). Where the
    leader is dead, a stranger may have had its number and be gone, too: then one of the group has
    to carry the mark of the killed session in its environment.
    """
    (mark,) = MARK.values()
    return f"pgid:{pgid}:{_start_ticks(pgid)}:{_boot_id()}:{mark}:{_file_id(place)}"


def _file_id(place: Path) -> str:
    """What tells a file from a copy of it, for as long as the machine is not started again."""
    status = place.stat()
    return f"{status.st_dev:x}-{status.st_ino:x}"


def end_leftover(external_id: str, place: Path) -> bool:
    """End what is left of a recorded group, and what users' commands of its session left running
    beside it; True when there was something to end. `place` as in `group_id`.
    """
    match = _RECORDED.fullmatch(external_id)
    if match is None:
        return False
    pgid, started, boot, mark = int(match[1]), int(match[2]), match[3], match[4] or ""
    if boot != _boot_id() or (match[5] and match[5] != _file_id(place)):
        return False
    ended = _is_ours(pgid, started, mark) and end_group(pgid)
    return _end_marked(partial(_is_of_command, mark=mark)) or ended


def _is_ours(pgid: int, started: int, mark: str) -> bool:
    """Whether a group is the recorded one, and has somebody to end."""
    alive = members(pgid)
    if leader := _start_ticks(pgid):
        return bool(alive) and leader == started
    return any(_carries_mark(pid, mark) for pid in alive)


def _is_of_command(pid: int, mark: str) -> bool:
    """Whether a command that was to be cleared away has started a process, in that session."""
    run_mark = f"{RUN_MARK}=".encode()
    return _carries_mark(pid, mark) and any(
        variable.startswith(run_mark) for variable in _variables(pid)
    )


def _carries_mark(pid: int, mark: str) -> bool:
    """Whether a process carries the mark of a session."""
    (name,) = MARK
    return bool(mark) and _has_variable(pid, f"{name}={mark}")


def _has_variable(pid: int, variable: str) -> bool:
    """Whether a living process began with NAME=VALUE; not where we may not look."""
    return os.fsencode(variable) in _variables(pid)


def _variables(pid: int) -> list[bytes]:
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _start_ticks(pid: int) -> int:
    """Clock ticks from the boot to the start of a process, 0 when it is gone."""
    fields = stat_of(pid)
    return int(fields[19]) if fields else 0


def _boot_id() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def run(  # noqa: PLR0913  (keyword-only; each one is a property of a child process)
    argv: Sequence[str],
    *,
    cwd: Path,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    stdin: bytes | int | None = None,
    log: Path | None = None,
    error_log: Path | None = None,
    check: bool = False,
    pass_fds: Sequence[int] = (),
    on_start: Callable[[int], None] | None = None,
    whole_env: bool = False,
    clear: bool = False,
    most_log_bytes: int = 0,
) -> Completed:
    """Run `argv` to its end or for `timeout_s` seconds.

    `stdin` is what it reads, or a descriptor to read from. With `log` both outputs are streamed
    to that file (appended), with `error_log` stderr to one of its own; where these grow over
    `most_log_bytes`, which is not 0, it is ended. `on_start` gets the process group id before the
    caller waits, so that it can be recorded. `whole_env`: see `whole_environment`. With `clear`
    nothing that it started outlives it, unless that left the group and dropped the variable
    RTBISECT_RUN (RUN_MARK). `check` raises
    InfrastructureError when the command fails; a missing program is a ConfigError.
    """
    if isinstance(argv, str) or not argv or any("\0" in word for word in argv):
        raise InternalError(f"not an argument list: {argv!r}")
    begin = time.monotonic()
    mark = token_hex(8)
    if clear:
        env = {**(env or {}), RUN_MARK: mark}
    sink = _sink(log, subprocess.PIPE)
    error_sink = _sink(error_log, subprocess.PIPE if log is None else subprocess.STDOUT)
    try:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=whole_environment(env or {}) if whole_env else environment(env),
            stdin=_source(stdin),
            stdout=sink,
            stderr=error_sink,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )
    except FileNotFoundError as error:
        missing = argv[0] if error.filename == argv[0] else str(error.filename)
        raise ConfigError(f"{missing} is not there", "run `make setup`") from error
    except OSError as error:
        raise InfrastructureError(f"{argv[0]} cannot be started: {error.strerror}") from error
    finally:
        for opened in (sink, error_sink):
            if not isinstance(opened, int):
                opened.close()
    try:
        logs = tuple(path for path in (log, error_log) if path is not None)
        given = stdin if isinstance(stdin, bytes) else None
        wait = partial(_communicate, child, given, timeout_s, logs, most_log_bytes)
        done = _wait(child, wait, on_start, argv, begin)
    finally:
        if clear:
            end_group(child.pid)
            _end_marked(partial(_has_variable, variable=f"{RUN_MARK}={mark}"))
    if check and not done.ok:
        raise InfrastructureError(failure(done), "see the log" if log else "")
    return done


def _source(stdin: bytes | int | None) -> int:
    given = subprocess.DEVNULL if stdin is None else stdin
    return subprocess.PIPE if isinstance(given, bytes) else given


def _sink(path: Path | None, default: int) -> IO[bytes] | int:
    return default if path is None else path.open("ab", buffering=0)


def _communicate(
    child: subprocess.Popen[bytes],
    stdin: bytes | None,
    timeout_s: float,
    logs: tuple[Path, ...],
    most_log_bytes: int,
) -> tuple[bytes | None, bytes | None]:
    """What a child says until it ends; TimeoutExpired, and _OverrunError where its logs grow over
    a bound.
    """
    if not most_log_bytes:
        return _said(child, stdin, timeout_s)
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            said = _said(child, stdin, max(0.0, min(LOOK_S, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            # It is given once.
            stdin = None
            _check_size(logs, most_log_bytes)
            if time.monotonic() >= deadline:
                raise
        else:
            _check_size(logs, most_log_bytes)
            return said


def _said(
    child: subprocess.Popen[bytes], stdin: bytes | None, timeout_s: float
) -> tuple[bytes | None, bytes | None]:
    """`communicate`. Of a child without pipes that looks every 50 ms whether it has ended, which is
    long beside a command of 30 ms: so the kernel is asked to tell. Where it cannot, it looks.
    """
    begin = time.monotonic()
    if not (child.stdin or child.stdout or child.stderr):
        with suppress(OSError):
            handle = os.pidfd_open(child.pid)
            try:
                ended = select.poll()
                ended.register(handle, select.POLLIN)
                ended.poll(min(timeout_s, _LONGEST_POLL_S) * 1000)
            finally:
                os.close(handle)
    return child.communicate(stdin, timeout=max(0.0, timeout_s - (time.monotonic() - begin)))


class _OverrunError(Exception):
    """The logs of a child are too long."""


def _check_size(logs: tuple[Path, ...], most_bytes: int) -> None:
    if sum(path.stat().st_size for path in logs if path.is_file()) > most_bytes:
        raise _OverrunError


def _wait(
    child: subprocess.Popen[bytes],
    wait: Callable[[], tuple[bytes | None, bytes | None]],
    on_start: Callable[[int], None] | None,
    argv: Sequence[str],
    begin: float,
) -> Completed:
    timed_out = overran = False
    try:
        if on_start is not None:
            on_start(child.pid)
        out, err = wait()
    except (subprocess.TimeoutExpired, _OverrunError) as error:
        overran = isinstance(error, _OverrunError)
        timed_out = not overran
        _end_child(child)
        out, err = _remaining_output(child)
    except BaseException:
        _end_child(child)
        raise
    return Completed(
        argv=tuple(argv),
        returncode=child.returncode,
        stdout=decode(out),
        stderr=decode(err),
        seconds=time.monotonic() - begin,
        timed_out=timed_out,
        overran=overran,
    )


def _remaining_output(child: subprocess.Popen[bytes]) -> tuple[bytes | None, bytes | None]:
    """What a child that was ended has said. A daemon of its own that left the group may hold the
    pipes open for ever: it is not waited for.
    """
    try:
        return child.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired as error:
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()
        return error.stdout, error.stderr


def _end_child(child: subprocess.Popen[bytes]) -> None:
    """End our own child and its whole group; the child is reaped, so the wait is short."""
    with suppress(_ForeignError):
        _signal_group(child.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        child.wait(GRACE_S)
    _signal_group(child.pid, signal.SIGKILL)
    child.wait()


def decode(data: bytes | None) -> str:
    """Foreign bytes as text that can be turned back into the same bytes."""
    return (data or b"").decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes that `decode` made a text of."""
    return text.encode("utf-8", "surrogateescape")


#: In which people write mails. Python knows many more codecs, and some of them are no charsets.
CHARSETS = frozenset((
    "us-ascii", "ascii", "utf-8", "utf8", "iso-8859-1", "iso-8859-2", "iso-8859-15", "windows-1252",
    "windows-1251", "koi8-r", "gb2312", "gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp",
    "shift_jis", "euc-kr",
))  # fmt: skip


def whole_text(text: str) -> str:
    """Text of foreign bytes (`decode`) that every encoder takes: the bytes that are no UTF-8 are
    written out, the same ones always in the same way.
    """
    return text.encode("utf-8", "backslashreplace").decode()


def failure(done: Completed) -> str:
    """One line that says how a command failed, with its last word."""
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    last = f": {printable(lines[-1])}" if lines else ""
    how = "ran into its timeout" if done.timed_out else f"ended with {done.returncode}"
    return f"{' '.join(done.argv[:3])} {how} after {done.seconds:.0f} s{last}"


#: Longest message, in characters.
_LONGEST_LINE = 2000


def one_line(text: str) -> str:
    """Foreign text in a message: one line, nothing that steers a terminal."""
    return printable(" ".join(text.split()), _LONGEST_LINE)


def printable(text: str, limit: int = 300) -> str:
    """Foreign text without control characters, cut at `limit` characters."""
    return "".join(c if c.isprintable() else "?" for c in cut(text, limit))


def cut(text: str, limit: int = 300) -> str:
    """Foreign text as it is, which is made harmless where it is told: `limit` characters of it."""
    return text.strip()[:limit]
