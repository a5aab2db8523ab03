# SPDX-License-Identifier: GPL-2.0-or-later
"""The one command runner: argv lists, a timeout always, an allow-listed environment.

Nothing else in the program imports subprocess. Children run in a process group of their
own, read /dev/null unless they are given input, and are ended as a group.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import IO

from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.process import endings

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

#: Variables that a command of the user's own never inherits: they would lead its git elsewhere.
NEVER_INHERITED = ("GIT_",)

#: Poll counts milliseconds in a C int; a longer wait looks again and again after that.
_LONGEST_POLL_S = 86_400.0

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
    return inherited | FIXED | dict(extra or {}) | endings.MARK


def whole_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command that the user wrote: all of ours, without what leads git
    elsewhere, then `extra` and the mark.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(NEVER_INHERITED)}
    return inherited | dict(extra) | endings.MARK


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
    RTBISECT_RUN (`endings.RUN_MARK`). `check` raises
    InfrastructureError when the command fails; a missing program is a ConfigError.
    """
    if isinstance(argv, str) or not argv or any("\0" in word for word in argv):
        raise InternalError(f"not an argument list: {argv!r}")
    begin = time.monotonic()
    mark = token_hex(8)
    if clear:
        env = {**(env or {}), endings.RUN_MARK: mark}
    whole = whole_environment(env or {}) if whole_env else environment(env)
    child: subprocess.Popen[bytes] | None = None
    try:
        child = _child(argv, cwd, whole, stdin, (log, error_log), pass_fds)
        logs = tuple(path for path in (log, error_log) if path is not None)
        given = stdin if isinstance(stdin, bytes) else None
        wait = partial(_communicate, child, given, timeout_s, logs, most_log_bytes)
        done = _wait(child, wait, on_start, argv, begin)
    finally:
        if clear and child is not None:
            endings.end_started(child.pid, mark)
        elif clear:
            # Ctrl-C may come when it has begun, and before anybody knows its number.
            endings.end_run(mark)
    if check and not done.ok:
        raise InfrastructureError(failure(done), "see the log" if log else "")
    return done


def _child(  # noqa: PLR0913  (of `run`)
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | int | None,
    logs: tuple[Path | None, Path | None],
    pass_fds: Sequence[int],
) -> subprocess.Popen[bytes]:
    """A child that has begun; see `run`."""
    log, error_log = logs
    sink = _sink(log, subprocess.PIPE)
    error_sink = _sink(error_log, subprocess.PIPE if log is None else subprocess.STDOUT)
    try:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=env,
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
            # The input is given once.
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
    """What `child.communicate` gives. Where a child has no pipes, Python looks every 50 ms whether
    it has ended, which is long beside a command of 30 ms: so first the kernel is asked to say when,
    by pidfd_open(2). Where it has none, Python looks as ever.
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
        return child.communicate(timeout=endings.GRACE_S)
    except subprocess.TimeoutExpired as error:
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()
        return error.stdout, error.stderr


def _end_child(child: subprocess.Popen[bytes]) -> None:
    """End our own child and its whole group; the child is reaped, so the wait is short."""
    with suppress(endings.ForeignError):
        endings.signal_group(child.pid, signal.SIGTERM)
    try:
        with suppress(subprocess.TimeoutExpired):
            child.wait(endings.GRACE_S)
    finally:
        # At once where another Ctrl-C ends the wait.
        endings.signal_group(child.pid, signal.SIGKILL)
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


def is_text(text: str) -> bool:
    """Whether it is UTF-8, as what is kept of a campaign has to be; a path may be any bytes."""
    return whole_text(text) == text


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
