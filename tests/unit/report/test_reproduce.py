# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipe of a report: what is published decides what it says, and every line would run."""

import shlex
from dataclasses import replace

import pytest

from helpers.findings import said
from helpers.report_cases import CASES, hang, rcu, two_modes
from helpers.report_parts import BOARD
from rtbisect.model.kinds.recipe import Recipe
from rtbisect.report.reproduce import (
    Published,
    Step,
    in_data,
    lines_of,
    own_boots,
    recipe,
    recipe_of_command,
)

PROGRAM = "https://lab.example.org/rtbisect-0.1.0-py3-none-any.whl"
EVIDENCE = "https://lab.example.org/evidence/rcu-0002/"
ALL = Published(PROGRAM, EVIDENCE)


def kinds(steps):
    return [step.about.kind for step in steps]


def data_of(steps, kind):
    return next(step.about.data for step in steps if step.about.kind == kind)


@pytest.mark.parametrize(
    ("published", "wanted"),
    [
        (ALL, [Recipe.DATA, Recipe.PROGRAM, Recipe.BUILD, Recipe.MEASURE, Recipe.BOOT]),
        (Published("", EVIDENCE), [Recipe.DATA, Recipe.BUILD, Recipe.MEASURE, Recipe.BOOT]),
        (Published(PROGRAM, ""), [Recipe.PROGRAM, Recipe.CLONE, Recipe.LAB]),
        (Published(), [Recipe.CLONE, Recipe.LAB]),
    ],
    ids=["all", "data", "program", "nothing"],
)
def test_a_recipe_names_what_is_published_and_nothing_else(published, wanted):
    steps = recipe(rcu(), published)
    assert kinds(steps) == wanted
    text = "\n".join(lines_of(steps))
    assert ("lab.example.org" in text) is bool(published.program or published.evidence)


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_recipe_is_short_and_its_lines_are_those_of_a_shell(case):
    report = CASES[case]()
    for steps in (recipe(report, ALL), (*recipe(report, Published()), *own_boots(report))):
        lines = lines_of(steps)
        assert len(lines) <= 14
        for line in "\n".join(lines).replace("\\\n", "").splitlines():
            assert line.startswith("  # ") or shlex.split(line)
        assert all(len(line) <= 76 for line in lines if "://" not in line)


def test_what_a_line_is_for_stands_behind_it_where_there_is_room():
    about = said("what it does")
    assert lines_of([Step(about, ("sh boot.sh",))]) == ("  sh boot.sh  # what it does",)
    long = "x" * 60
    assert lines_of([Step(about, (long,))]) == ("  # what it does", f"  {long}")
    two = lines_of([Step(about, ("sh a.sh", "sh b.sh"))])
    assert two == ("  # what it does", "  sh a.sh", "  sh b.sh")


def test_who_has_the_data_fetches_nothing():
    assert kinds(in_data(rcu())) == [Recipe.IN_DATA, Recipe.BUILD, Recipe.MEASURE, Recipe.BOOT]
    assert in_data(replace(rcu(), culprit=None)) == own_boots(replace(rcu(), culprit=None)) == ()


def test_on_an_emulator_there_is_no_machine_to_measure_on():
    report = rcu()
    steps = recipe(replace(report, device=replace(BOARD, emulated=True)), ALL)
    assert Recipe.MEASURE not in kinds(steps)
    assert data_of(steps, Recipe.BOOT)["emulated"] is True


def test_a_guest_in_the_place_of_a_machine_is_told():
    told = data_of(recipe(rcu(), ALL), Recipe.BOOT)
    assert (told["emulated"], told["other"]) == (False, True)


@pytest.mark.parametrize(
    ("report", "boots", "seen", "of"), [(hang, 3, 8, 12), (two_modes, 4, 9, 16)]
)
def test_what_not_every_boot_shows_takes_more_boots(report, boots, seen, of):
    steps = recipe(report(), ALL)
    told = data_of(steps, Recipe.MEASURE_OFTEN)
    assert told == {"boots": boots, "seen": seen, "of": of}
    # It is said once.
    assert steps[-1].about.kind == Recipe.BOOT
    assert steps[-1].lines == (f"sh boot.sh {boots}",)
    (own,) = own_boots(report())
    assert (own.about.kind, own.about.data["seen"]) == (Recipe.BOOT_OFTEN, seen)


def test_what_every_boot_shows_takes_one():
    steps = recipe(rcu(), ALL)
    assert steps[-1].lines == ("sh boot.sh",)


@pytest.mark.parametrize(
    "repo",
    [
        "/srv/linux.git",
        "file:///srv/linux.git",
        "git@git.example.org:linux.git",
        "https://git.example.org/a\nb.git",
        "https://git.example.org/\u00e4.git",
        "https://git.example.org/x-by: y",
        "https://git.example.org/" + "x" * 600,
        "--upload-pack=x:y",
    ],
)
def test_a_tree_that_a_reader_cannot_clone_is_not_cloned(repo):
    steps = recipe(replace(rcu(), repo=repo), ALL)
    assert kinds(steps) == [Recipe.DATA, Recipe.PROGRAM, Recipe.BOOT]
    assert data_of(steps, Recipe.BOOT)["other"] is False


def test_an_address_is_one_word_for_the_shell():
    repo = "https://git.example.org/a b;c'd$(e).git"
    (line,) = (
        line
        for line in "\n".join(lines_of(recipe(replace(rcu(), repo=repo), ALL)))
        .replace("\\\n", "")
        .splitlines()
        if "git clone" in line
    )
    assert shlex.split(line) == ["git", "clone", repo, "linux"]


def test_a_command_that_a_mail_cannot_have_as_it_is_is_left_out():
    steps = recipe(replace(rcu(), command="rtbisect bisect 'a\u00e4'"), Published())
    assert kinds(steps) == [Recipe.CLONE]


def test_the_recipe_of_a_command_is_the_command():
    report = replace(rcu(), command="rtbisect run --good v1 --bad v2 -- make 'a b'")
    assert kinds(recipe_of_command(report, "")) == [Recipe.REPOSITORY]
    steps = recipe_of_command(report, PROGRAM)
    assert kinds(steps) == [Recipe.PROGRAM, Recipe.REPOSITORY]
    assert steps[-1].lines == (report.command,)
    assert recipe_of_command(replace(report, command=""), PROGRAM) == ()
