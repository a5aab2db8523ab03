# SPDX-License-Identifier: GPL-2.0-or-later
"""The group of all commands, with those that other packages bring, and the one place where errors
become exit codes.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from rtbisect import __version__
from rtbisect.cli import completion
from rtbisect.cli.lazy import Commands, Loader, command_of
from rtbisect.cli.streams import (
    RESUME,
    drop_stdout,
    fail,
    fault_of,
    keep_traceback,
    told_of,
    tolerate_any_text,
)
from rtbisect.config.paths import state_dir
from rtbisect.errors import (
    ConfigError,
    Exit,
    InternalError,
    Interrupted,
    RtbisectError,
)
from rtbisect.process import plugins
from rtbisect.program.output import SKIP

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: What `try` adds to an exit code, so that `git bisect run` stops instead of skipping.
TRY_ERROR_BASE = 128

#: Each command of the program, with module and name in this folder.
COMMANDS = Commands(
    {
        "bisect": partial(command_of, "bisect", "bisect"),
        "check": partial(command_of, "check", "check"),
        "completion": partial(command_of, "completion", "completion"),
        "config": partial(command_of, "config", "config"),
        "doctor": partial(command_of, "doctor", "doctor"),
        "figures": partial(command_of, "rejudge", "figures"),
        "host": partial(command_of, "host", "host"),
        "lab": partial(command_of, "host", "lab"),
        "mail": partial(command_of, "mail", "mail"),
        "rejudge": partial(command_of, "rejudge", "rejudge"),
        "report": partial(command_of, "report", "report"),
        "resume": partial(command_of, "campaigns", "resume"),
        "run": partial(command_of, "bisect", "run"),
        "status": partial(command_of, "campaigns", "status"),
        "stop": partial(command_of, "campaigns", "stop"),
        "try": partial(command_of, "check", "try_revision"),
        "watch": partial(command_of, "watch", "watch"),
    }
)


@click.group(
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
)
@click.version_option(__version__, prog_name="rtbisect")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    help="State directory (default: $RTBISECT_STATE, else $XDG_STATE_HOME/rtbisect, else"
    " ~/.local/state/rtbisect).",
)
@click.pass_context
def main(context: click.Context, state: Path | None) -> None:
    """Find the commit that changed a noisy measurement. `run` works for any command in any git
    repository; `bisect`, `check` and `watch` are for Linux kernels whose isolated CPUs became
    noisy.

    Example: rtbisect run --good v1.2 --bad main --metric p99_us -- ./bench.sh
    """
    from rtbisect.cli.output import Output  # noqa: PLC0415  (the store, which no --version needs)

    context.obj = Output(state_dir(state))
    context.meta["command"] = context.invoked_subcommand


def add_commands(commands: Commands) -> None:
    """Put each command that a plug-in has where its name says: `demo`, or `lab.host` in a group."""
    for entry in plugins.plugins(plugins.COMMANDS):
        group, _, name = entry.name.rpartition(".")
        if not group:
            commands.later(name, partial(_plugged, entry, name))
        elif group in commands:
            commands.later(group, partial(_with_plugged, commands.loader(group), entry, name))


def _with_plugged(loader: Loader, entry: EntryPoint, name: str) -> click.Command:
    group = loader()
    if isinstance(group, click.Group):
        group.add_command(_plugged(entry, name), name)
    return group


def _plugged(entry: EntryPoint, name: str) -> click.Command:
    try:
        command = plugins.load(entry)
    except ConfigError as error:
        return _absent(name, error)
    if not isinstance(command, click.Command):
        return _absent(name, ConfigError(f"{entry.value} is no command", "tell its author"))
    return command


def _absent(name: str, error: ConfigError) -> click.Command:
    """A command of that name that says why it is not there."""

    def refuse(**_words: object) -> NoReturn:
        raise error

    return click.Command(
        name,
        callback=refuse,
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        help=f"Not there: {error.message}.",
        short_help="Not installed; `rtbisect doctor` says what is missing.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )


add_commands(COMMANDS)


class UsageError(RtbisectError):
    """Wrong words on the command line."""

    exit_code = Exit.CONFIG


def run(words: Sequence[str]) -> int:
    """Exit code of a command line; tells its errors."""
    if (code := completion.asked(main)) is not None:
        return code
    tolerate_any_text()
    # What stands behind it are words of a command that is measured.
    ours = words[: words.index("--")] if "--" in words else words
    asked_json = "--json" in ours
    context: click.Context | None = None
    try:
        with main.make_context("rtbisect", list(words)) as context:
            code = main.invoke(context)
    except Exception as error:  # noqa: BLE001  (the last wall: no bare traceback for a user)
        code = _tell(error, asked_json, _state(context))
    except KeyboardInterrupt as error:
        # A second Ctrl-C must not break the last words.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        code = fail(told_of(error), asked_json)
    return _for_git(code if isinstance(code, int) else Exit.ANSWERED, context, ours)


def _tell(error: Exception, asked_json: bool, state: Path) -> int:
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.exceptions.Abort):
        return fail(Interrupted("interrupted", RESUME), asked_json)
    if isinstance(error, BrokenPipeError):
        drop_stdout()
        return Exit.INTERRUPTED
    our_error = _as_our_error(error)
    if isinstance(our_error, InternalError):
        keep_traceback(error, state)
    return fail(our_error, asked_json)


def _as_our_error(error: Exception) -> RtbisectError:
    """The error in the words of errors.py: who has to act, and how."""
    if isinstance(error, RtbisectError):
        return error
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "rtbisect"
        return UsageError(error.format_message().rstrip("."), f"see `{path} --help`")
    if isinstance(error, OSError) and error.strerror:
        return fault_of(error)
    return InternalError(
        f"internal error: {type(error).__name__}: {error}",
        "the campaign is kept; please report this with internal-error.log of the state directory",
    )


def _state(context: click.Context | None) -> Path:
    """The state directory, also when the command line could not be read."""
    output = context.obj if context is not None else None
    return state_dir(None) if output is None else output.state


def _for_git(code: int, context: click.Context | None, words: Sequence[str]) -> int:
    """The code of `try` in the language of `git bisect run`, where 128 and more is an error.

    A command line that could not be read counts as `try` when the word stands in it: git
    would take a plain 2 for "bad".
    """
    named = context.meta.get("command") if context is not None else None
    is_try = named == "try" or (named is None and "try" in words)
    if not is_try or code in (0, 1, SKIP) or code >= TRY_ERROR_BASE:
        return code
    return code + TRY_ERROR_BASE
