# SPDX-License-Identifier: GPL-2.0-or-later
"""What options of all commands have in common."""

import json

import click

from rtbisect.cli import app
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


def test_the_help_of_run_says_where_the_state_directory_is_named():
    with click.Context(main) as context:
        shown = main.get_command(context, "run").get_help(context)
    assert "rtbisect --state DIR run" in " ".join(shown.split())


def test_json_of_the_measured_command_is_no_word_of_ours(tmp_path, capsys):
    words = ["run", "--repo", str(tmp_path / "gone"), "--good", "a", "--bad", "b"]
    assert app.run(["--state", str(tmp_path), *words, "--", "./bench", "--json"]) == 2
    assert capsys.readouterr().out == ""
    assert app.run(["--state", str(tmp_path), *words, "--json", "--", "./bench"]) == 2
    assert json.loads(capsys.readouterr().out)["exit_code"] == 2
