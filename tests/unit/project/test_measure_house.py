# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the house: what is counted, and how."""

import measure_house

ROOT = measure_house.ROOT


def test_no_import_circle_not_even_for_types():
    assert measure_house.circles(measure_house.imports_of(ROOT)) == []


def test_rooms_in_no_layer_are_named_and_comments_are_no_tokens(tmp_path):
    program = tmp_path / "bisect" / "rtbisect"
    for room in ("top", "low"):
        (program / room).mkdir(parents=True)
        (program / room / "one.py").write_text("")
    (program / "loose.py").write_text("# a comment\nx = 1\n")
    contract = '[[tool.importlinter.contracts]]\ntype = "layers"\nlayers = ["rtbisect.top : low"]\n'
    (tmp_path / "pyproject.toml").write_text(contract)
    layers, sources = measure_house.layers_of(tmp_path), measure_house.sources_of(tmp_path)
    assert layers == [["top", "low"]]
    assert measure_house.in_no_layer(sources, layers) == ["loose"]
    assert {each.module: each.tokens for each in sources}["rtbisect.loose"] == 3


def test_chains_and_circles():
    edges = {("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("a", "d")}
    assert measure_house.circles(edges) == [["b", "c"]]
    assert measure_house.longest_chain(edges) == ["a", "b", "d"]


def test_tables_have_a_column_for_each_checkout():
    said = measure_house.table({"v1": {"layers": "32"}, "HEAD": {"layers": "12"}})
    assert said.splitlines() == ["| | v1 | HEAD |", "|---|---|---|", "| layers | 32 | 12 |"]
