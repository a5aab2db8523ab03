# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that other packages bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from rtbisect.errors import ConfigError
from rtbisect.process import plugins

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def add_commands(main: click.Group) -> None:
    """Put each command that a plug-in has into the group that its name says."""
    for entry in plugins.plugins(plugins.COMMANDS):
        *above, name = entry.name.split(".")
        group = main
        for part in above:
            subgroup = group.commands.get(part)
            if not isinstance(subgroup, click.Group):
                break
            group = subgroup
        else:
            group.add_command(_command(entry, name), name)


def _command(entry: EntryPoint, name: str) -> click.Command:
    """The command, or one of its name that says why it is not there."""
    try:
        command = plugins.load(entry)
    except ConfigError as error:
        return _absent(name, error)
    if not isinstance(command, click.Command):
        return _absent(name, ConfigError(f"{entry.value} is no command", "tell its author"))
    return command


def _absent(name: str, error: ConfigError) -> click.Command:
    def refuse(**_words: object) -> NoReturn:
        raise error

    return click.Command(
        name,
        callback=refuse,
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        help=f"Not there: {error.message}.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )
