# SPDX-License-Identifier: GPL-2.0-or-later
"""The gate on public code that only tests use."""

import unused

PROGRAM = """
def called(one, two=2, *, three=3, four=4): ...
def idle(): ...
def plugged(): ...
def handed(key=None): ...
class Thing:
    def __init__(self, size=1): ...
    def used(self, often=False): ...
    def left(self): ...
    def _own(self): ...
class FakeThing:
    def spare(self): ...
def _main():
    called(1, three=2)
    Thing().used()
    sorted([], key=handed)
"""


def test_what_nobody_calls_or_sets_is_found(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/it.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").write_text('[project.entry-points.x]\nit = "it:plugged"\n')
    assert unused.found(tmp_path, ("src",)) == [
        "it.py:called(two)",
        "it.py:called(four)",
        "it.py:idle",
        "it.py:Thing.__init__(size)",
        "it.py:Thing.used(often)",
        "it.py:Thing.left",
    ]


def test_the_program_has_none_but_what_is_told(capsys):
    assert unused.main() == 0, capsys.readouterr().err
