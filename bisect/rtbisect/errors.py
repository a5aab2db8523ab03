# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors that stop us, by who has to act. A failing kernel is a value, never an error.

Each message says what happened and where; the hint says what to do next. The exit
codes are those of `docs/exit-codes.md`.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command; `try` adds its own, see `cli.check`."""

    ANSWERED = 0
    REGRESSED = 1
    CONFIG = 2
    LAB = 3
    UNDECIDED = 4
    BUSY = 5
    INTERNAL = 70
    INTERRUPTED = 130


class RtbisectError(Exception):
    """Root of all errors: one line for a person, and the next step."""

    exit_code: Exit = Exit.INTERNAL

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class ConfigError(RtbisectError):
    """The user, the site file or the request is wrong."""

    exit_code = Exit.CONFIG


class MisaskedError(ConfigError):
    """The first run shows that the request has no answer; the campaign is over with it."""


class InfrastructureError(RtbisectError):
    """Power, network, disk, LAVA or a host tool failed; says nothing about a kernel."""

    exit_code = Exit.LAB

    def __init__(self, message: str, hint: str = "", *, retryable: bool = True) -> None:
        super().__init__(message, hint)
        self.retryable = retryable


class BusyError(RtbisectError):
    """Somebody else holds the store or the device."""

    exit_code = Exit.BUSY


class InternalError(RtbisectError):
    """Our own fault."""

    exit_code = Exit.INTERNAL


class Interrupted(RtbisectError):  # noqa: N818  (an interruption is not an error)
    """Ctrl-C or SIGTERM; the campaign is kept and can be resumed."""

    exit_code = Exit.INTERRUPTED


class CampaignInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM while a campaign runs, whose name and whose next step `told` has."""

    def __init__(self, told: Interrupted) -> None:
        super().__init__()
        self.told = told
