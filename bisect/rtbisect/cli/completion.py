# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect completion`: scripts that let a shell complete our commands, and what they ask us."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
from click import shell_completion

from rtbisect.cli.options import answers

if TYPE_CHECKING:
    from rtbisect.cli.output import Output

NAME = "rtbisect"
#: Set by the scripts when they ask; click's own form.
VARIABLE = "_RTBISECT_COMPLETE"


@click.command(epilog="Example: rtbisect completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
@answers
def completion(output: Output, context: click.Context, shell: str) -> int:
    """Print a script that lets SHELL complete commands and options.

    \b
    bash: rtbisect completion bash >~/.local/share/bash-completion/completions/rtbisect
    zsh:  rtbisect completion zsh >DIR/_rtbisect, where DIR is in $fpath
    fish: rtbisect completion fish >~/.config/fish/completions/rtbisect.fish
    """  # noqa: D301  (click wants a backspace)
    made = shell_completion.get_completion_class(shell)
    assert made is not None, "click has these three"
    completer = made(context.find_root().command, {}, NAME, VARIABLE)
    # Not source(): for bash it starts one, to complain where that is old.
    script = completer.source_template % completer.source_vars()
    output.answer({"shell": shell, "script": script}, script)
    return 0


def asked(main: click.Group) -> int | None:
    """Answer what a script of `completion` asks; None where none asks."""
    question = os.environ.get(VARIABLE)
    if not question:
        return None
    # Scripts of shells say what is typed; without that click ends in a traceback.
    if question.endswith("_complete") and not _is_told(question):
        return 1
    return shell_completion.shell_complete(main, {}, NAME, VARIABLE, question)


def _is_told(question: str) -> bool:
    """Whether a question says which word of a line is to be completed."""
    place = os.environ.get("COMP_CWORD")
    by_number = not question.startswith("fish")
    return "COMP_WORDS" in os.environ and place is not None and (place.isdecimal() or not by_number)
