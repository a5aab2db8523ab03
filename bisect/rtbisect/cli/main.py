# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect`: the group of all commands, and the one place where errors become exit codes."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from rtbisect import __version__
from rtbisect.cli import bisect, check, config, demo, report, resume, status, tryrev, watch
from rtbisect.cli.output import Output, fail
from rtbisect.config import state_dir
from rtbisect.errors import Exit, InternalError, Interrupted, RtbisectError

if TYPE_CHECKING:
    from types import FrameType

#: What `try` adds to an exit code, so that `git bisect run` stops instead of skipping.
TRY_ERROR_BASE = 128


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="rtbisect")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    help="State directory (default: $RTBISECT_STATE, else $XDG_STATE_HOME/rtbisect).",
)
@click.pass_context
def main(context: click.Context, state: Path | None) -> None:
    """Find the commit that made isolated CPUs noisy, prove it, and write the mail.

    Example: rtbisect demo --seed 7
    """
    context.obj = Output(state_dir(state))


for command in (
    demo.demo,
    check.check,
    bisect.bisect,
    watch.watch,
    status.status,
    resume.resume,
    report.report,
    tryrev.try_revision,
    config.config,
):
    main.add_command(command)


def _on_term(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def entry() -> NoReturn:
    """Run the command line; every ending is an exit code of errors.Exit."""
    signal.signal(signal.SIGTERM, _on_term)
    asked_json = "--json" in sys.argv[1:]
    is_try = "try" in sys.argv[1:]
    code = _run(asked_json)
    if is_try and code not in (0, 1, tryrev.SKIP):
        code += TRY_ERROR_BASE
    sys.exit(code)


def _run(asked_json: bool) -> int:
    try:
        code = main.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return fail(_interrupted(), asked_json)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f"see `{context.command_path} --help`" if context else ""
        return fail(UsageError(error.format_message(), hint), asked_json)
    except RtbisectError as error:
        return fail(error, asked_json)
    except BrokenPipeError:
        return int(Exit.INTERNAL)
    except Exception as error:  # noqa: BLE001  (the last wall: no bare traceback for a user)
        return fail(InternalError(*_explain(error)), asked_json, error)
    return code if isinstance(code, int) else int(Exit.ANSWERED)


class UsageError(RtbisectError):
    """Wrong words on the command line."""

    exit_code = Exit.CONFIG


def _interrupted() -> Interrupted:
    return Interrupted("interrupted; the campaign is kept", "go on with `rtbisect resume`")


def _explain(error: Exception) -> tuple[str, str]:
    return (
        f"internal error: {type(error).__name__}: {error}",
        "the campaign is kept; please report this with internal-error.log of the state directory",
    )
