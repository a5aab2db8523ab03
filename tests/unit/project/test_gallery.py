# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of docs/ are what the code draws, and the mail of the README is one that it writes."""

import re
from xml.etree import ElementTree as ET

import pytest

import bench_budget
from helpers import gallery
from helpers.campaigns import ROOT

GALLERY = ROOT / "docs/gallery"
DRAWN = [
    *GALLERY.glob("*.svg"),
    *(ROOT / "docs" / name for name in ("budgets.svg", "histories.svg", "layouts.svg", "road.svg")),
]


@pytest.mark.words
def test_gallery_has_the_pictures_of_the_pages():
    stale = {file: drawn for file, drawn in gallery.pictures().items()
             if (GALLERY / file).read_text("utf-8") != drawn}  # fmt: skip
    assert not stale, "run `make picture`, look at docs/gallery, commit it"
    assert {place.name for place in GALLERY.iterdir()} == {*gallery.PICTURES, *gallery.SCREENS}


def test_picture_and_table_of_budgets_are_those_of_the_trials():
    trials = bench_budget.load()
    assert bench_budget.svg(trials) == bench_budget.PICTURE.read_text("utf-8")
    assert bench_budget.table(trials) in (ROOT / "docs/run.md").read_text("utf-8")


@pytest.mark.parametrize("place", DRAWN, ids=lambda place: place.name)
def test_a_picture_needs_nothing_else_and_says_what_it_shows(place):
    root = ET.parse(place).getroot()
    named = {element.tag.partition("}")[2]: element for element in root.iter()}
    assert named["title"].text
    assert named["desc"].text
    assert not named.keys() & {"script", "image", "use", "foreignObject"}
    assert not re.search(r"url\(|var\(|&[a-z]+;", named["style"].text)


def test_mail_of_the_readme_is_one_that_the_program_writes():
    readme = (ROOT / "README.md").read_text("utf-8")
    place = re.search(r"\]\((tests/golden/[^)]+\.eml)\)", readme)[1]
    (shown,) = re.findall(r"^```\n(Subject: .*?)^```$", readme, re.MULTILINE | re.DOTALL)
    mail = (ROOT / place).read_text("utf-8")
    for part in re.split(r"\n\n\[\.\.\.\]\n\n|(?<=ms)\n\n", shown.rstrip("\n"), maxsplit=2):
        assert part in mail
