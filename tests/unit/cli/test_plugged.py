# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of other packages: a broken one is a line of its own, and breaks no other."""

import sys
from importlib.metadata import EntryPoint

import click
import pytest
from click.testing import CliRunner

from rtbisect.cli.app import add_commands
from rtbisect.cli.lazy import Commands
from rtbisect.errors import ConfigError
from rtbisect.process import plugins

MODULE = """
import click
@click.command()
def good(): click.echo("done")
bad = 3
"""


@pytest.fixture
def main(tmp_path, monkeypatch):
    """A group, and a group in it, with commands of a package of the test."""
    (tmp_path / "plugged_here.py").write_text(MODULE)
    (tmp_path / "plugged_broken.py").write_text("raise RuntimeError('one line\\nand another')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "plugged_here", raising=False)
    monkeypatch.delitem(sys.modules, "plugged_broken", raising=False)
    entries = [
        EntryPoint("good", "plugged_here:good", plugins.COMMANDS),
        EntryPoint("inner.good", "plugged_here:good", plugins.COMMANDS),
        EntryPoint("alone.good", "plugged_here:good", plugins.COMMANDS),
        EntryPoint("nowhere.good", "plugged_here:good", plugins.COMMANDS),
        EntryPoint("bad", "plugged_here:bad", plugins.COMMANDS),
        EntryPoint("gone", "plugged_here:gone", plugins.COMMANDS),
        EntryPoint("broken", "plugged_broken:it", plugins.COMMANDS),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group else ())
    own = {"inner": lambda: click.Group("inner"), "alone": lambda: click.Command("alone")}
    commands = Commands(own)
    add_commands(commands)
    return click.Group("main", commands)


def test_a_command_goes_into_the_group_that_its_name_says(main):
    assert set(main.commands) == {"inner", "alone", "good", "bad", "gone", "broken"}
    assert set(main.commands["inner"].commands) == {"good"}


@pytest.mark.parametrize("name", ["bad", "gone", "broken"])
def test_one_that_is_none_says_so_when_it_is_called(main, name):
    with pytest.raises(ConfigError) as caught:
        main.main([name, "--any", "word"], standalone_mode=False)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_of_commands_says_of_no_module_that_it_is_missing(main):
    shown = CliRunner().invoke(main, ["--help"]).output
    assert "gone" in shown
    assert "Not there" not in shown


def test_only_the_command_that_is_called_is_imported(main):
    assert CliRunner().invoke(main, ["good"]).output == "done\n"
    assert "plugged_broken" not in sys.modules
    assert "plugged_here" in sys.modules
