# SPDX-License-Identifier: GPL-2.0-or-later
"""What options of all commands have in common."""

import click

from rtbisect.cli.app import main


def commands(group, context):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield from commands(command, context) if isinstance(command, click.Group) else (command,)


def test_a_number_with_bounds_has_no_name_of_the_library():
    with click.Context(main) as context:
        kinds = {each.type.name for command in commands(main, context) for each in command.params}
    assert "whole number" in kinds
    assert not [kind for kind in kinds if kind.endswith(" range")]
