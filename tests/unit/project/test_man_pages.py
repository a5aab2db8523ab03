# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/man_pages.py: a page for each command, with all of its options."""

import re

import click

import man_pages
from rtbisect.cli.app import main

MACROS = {"TH", "SH", "TP", "PP", "B", "BR", "EX", "EE"}


def all_commands(group, path):
    yield path, group
    if isinstance(group, click.Group):
        for name, each in group.commands.items():
            yield from all_commands(each, f"{path}-{name}")


def test_each_command_has_a_page_with_its_options(tmp_path):
    commands = dict(all_commands(main, "rtbisect"))
    assert man_pages.write(tmp_path) == len(commands)
    assert {path.stem for path in tmp_path.glob("*.1")} == set(commands)
    for name, command in commands.items():
        text = (tmp_path / f"{name}.1").read_text().replace("\\-", "-")
        options = [each for each in command.params if isinstance(each, click.Option)]
        for each in (each for each in options if not each.hidden):
            assert each.opts[0] in text, name


def test_no_text_is_taken_for_a_macro_or_an_escape():
    @click.command("odd", epilog="Example: rtbisect odd 'a\\b'")
    @click.option("--dots", help=".SH is no heading, and \\n is no number.")
    def odd():
        """'quoted at the begin.

        \b
        .kept as it stands
        """

    ((_name, text),) = man_pages.pages(odd)
    assert set(re.findall(r"^[.'](\w+)", text, re.MULTILINE)) <= MACROS
    assert set(re.findall(r"\\(.)", text.partition("\n")[2])) <= {"-", "e", "&"}
    assert "\\&.kept as it stands" in text
