# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/architecture.md and its picture are what the code is."""

import ast
import itertools
import re
import xml.etree.ElementTree as ET

import pytest

import draw_house
import measure_house

ROOT = measure_house.ROOT
PAGE = (ROOT / "docs" / "architecture.md").read_text()
#: Larger files are slow to look at in a browser, and nobody reads so much at a glance.
MOST_BYTES = 40_000


@pytest.fixture(scope="module")
def house():
    return draw_house.house_of(ROOT)


def section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(title):
    """The cells of a table, by the first one, without the lines of its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")][2:]
    return {cells[0]: cells[1:] for cells in (re.split(r" *\| *", x.strip("| ")) for x in lines)}


def test_each_room_says_what_comes_in_and_goes_out():
    package = ROOT / "bisect" / "rtbisect"
    folders = {path.parent for path in package.rglob("*.py")} - {package}
    for folder in folders - {package / "store" / "migrations" / "versions"}:
        told = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
        assert re.search(r"\bcomes? in\b", told), folder
        assert re.search(r"\bgo(es)? out\b", told), folder


def test_picture_is_that_of_the_code(house):
    stale = draw_house.Picture(house).svg() != draw_house.PICTURE.read_text()
    assert not stale, "docs/architecture.svg is stale: run `make picture`, look at it, commit it"


def test_picture_needs_nothing_else_and_says_what_it_shows():
    assert draw_house.PICTURE.stat().st_size < MOST_BYTES
    root = ET.parse(draw_house.PICTURE).getroot()
    named = {element.tag.partition("}")[2]: element for element in root.iter()}
    assert named["title"].text
    assert all(stop.words in named["desc"].text for stop in draw_house.ROAD)
    assert not named.keys() & {"script", "image", "use", "foreignObject"}
    assert "url(" not in named["style"].text


def test_picture_refuses_a_road_that_leads_nowhere(house, monkeypatch):
    no_import = (draw_house.Stop("cli", "cli/bisect.py", "judge", ""),)
    gone = (draw_house.Stop("cli", "cli/gone.py", "", ""),)
    for road, said in ((gone, "not there"), (no_import, "no import, no port")):
        monkeypatch.setattr(draw_house, "ROAD", road)
        with pytest.raises(ValueError, match=said):
            draw_house.check(house, ROOT)


def test_layers_of_the_page_are_those_of_the_contract(house):
    block = [line for line in section("Rooms").splitlines() if line.startswith("    ")]
    told = [re.split(r" \| ", re.split(r" {3,}", line.strip())[0]) for line in block]
    assert told == house.layers


def test_what_a_room_may_touch_is_what_it_touches(house):
    told = {}
    for names, cells in rows("What a room touches").items():
        kinds = zip(("files", "commands", "network"), cells, strict=True)
        what = sorted(kind for kind, cell in kinds if cell != "-")
        told |= dict.fromkeys(re.findall(r"`(\w+)`", names), what)
    assert told == house.touches


WALKS = re.findall(r"^- .*(?:\n  .*)*", section("Walks"), re.MULTILINE)


@pytest.mark.parametrize("walk", WALKS, ids=[walk[2:].partition(":")[0] for walk in WALKS])
def test_a_walk_has_no_way_back(walk, house):
    """Each room is called by one before it, which imports it or has a port for it; none twice."""
    for line in walk.split(";"):
        files = re.findall(r"`([\w/]+\.py)`", line)
        rooms = [room for room, _ in itertools.groupby(name.split("/")[0] for name in files)]
        assert len(set(rooms)) == len(rooms) > 1, rooms
        for place, room in enumerate(rooms[1:], 1):
            before = rooms[:place]
            by_port = "pipeline" in before and room in house.ports
            assert by_port or any((one, room) in house.edges for one in before), (before, room)


def test_files_of_the_program_that_the_page_names_are_there():
    package = ROOT / "bisect" / "rtbisect"
    for name in re.findall(r"`([\w/]+\.py)`", PAGE):
        found = any((place / name).is_file() for place in (ROOT, package.parent, package))
        assert found or ("/" not in name and any(package.rglob(name))), name
