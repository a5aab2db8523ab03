# SPDX-License-Identifier: GPL-2.0-or-later
"""What documents name is there: commands, their options, targets of make, and files."""

import re
from pathlib import Path

import click
import pytest

from rtbisect.cli.app import main

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bisect").glob("*.md")]
)
#: Files that only a campaign, a lab, a reader or another tree has.
MADE = re.compile(
    r"^build/|tools/testing/|reports/<?campaign|reports/bisect|artefact/|lava-jobs/suites/(<suite>|switches|softirqs)"
    r"|(thresholds|docs/suites)/<suite>|thresholds/(switches|softirqs)|suites/(<suite>|softirqs)"
)


def relative(path):
    return str(path.relative_to(ROOT))


def lines_of(path):
    """Lines of a page; one that ends with a backslash goes on."""
    return path.read_text().replace("\\\n", " ").splitlines()


def words_of(text):
    """A command line without the program; quoted words are one, and those of a command are none."""
    return re.split(r"\s+", re.sub(r"'[^']*'|\"[^\"]*\"", "X", text).split(" -- ")[0].strip())[1:]


def commands_in(path):
    """Each `rtbisect ...` in backquotes or in a block, as words."""
    fenced = False
    for line in lines_of(path):
        fenced ^= line.startswith("```")
        found = re.findall(r"`(rtbisect [^`]+)`", line)
        if re.match(r"(    |)+(git bisect run |)rtbisect ", line) and (fenced or line[0] == " "):
            found.append(line.split("#")[0].strip().removeprefix("git bisect run "))
        for text in found:
            yield words_of(text)


def command_of(words):
    """The click command that words name; alternatives as in `up|down` are all looked up."""
    here = main
    for word in words:
        if not isinstance(here, click.Group):
            break
        names = re.split(r"[|]", word.rstrip(",.;)"))
        assert all(name in here.commands for name in names), (words, word)
        here = here.commands[names[0]]
    return here


def unknown_options(words):
    """Options of a command line that its command does not have."""
    command = command_of([word for word in words if not word.startswith("-")])
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    asked = (re.match(r"\[?(--[a-z-]+)", word) for word in words)
    return {found[1] for found in asked if found} - known - {"--help", "--state"}


def all_commands(group=main):
    for command in group.commands.values():
        yield command
        if isinstance(command, click.Group):
            yield from all_commands(command)


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_commands_and_options_that_a_page_names_are_there(path):
    for words in commands_in(path):
        assert unknown_options(words) == set(), words


def test_examples_of_help_are_commands():
    for command in all_commands():
        text = command.epilog.removeprefix("Example: ").removeprefix("git bisect run ")
        assert text.startswith("rtbisect "), command.name
        assert unknown_options(words_of(text)) == set(), text


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_targets_of_make_that_a_page_names_are_there(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = re.findall(r"(?:`|^ *|test_fresh\.sh )make ([a-z-]+)", path.read_text(), re.MULTILINE)
    assert set(asked) - targets == set()


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_files_that_a_page_names_are_there(path):
    for name in re.findall(r"`((?:[\w.<>-]+/)+[\w.*<>-]*)`", path.read_text()):
        top = name.split("/")[0]
        if not (ROOT / top).is_dir() or MADE.search(name):
            continue
        assert list(ROOT.glob(name.rstrip("/"))), name


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_links_of_a_page_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=relative)
def test_a_page_says_first_whom_it_is_for(path):
    assert re.match(r"# .+\n\nFor (whoever|whom) [^\n]+\n\n", path.read_text())


def test_the_glossary_has_twenty_words_at_most():
    rows = re.findall(r"^\| (?!word |---)", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    assert 0 < len(rows) <= 20
