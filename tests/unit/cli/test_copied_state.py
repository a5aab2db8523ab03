# SPDX-License-Identifier: GPL-2.0-or-later
"""A state directory that was copied or moved: its commands read and write what lies in it."""

import json
import shutil
from pathlib import Path

import pytest

from helpers.recorded import recording, rewritten
from rtbisect.cli import app
from rtbisect.errors import Exit


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The name of a campaign that has ended, and the state directory it ran in."""
    with pytest.MonkeyPatch.context() as patch:
        document, _ = recording("rcu")
        found = rewritten(document, tmp_path_factory.mktemp("ran"), patch)
    return found.campaign, found.store.state


@pytest.fixture
def answer(ran, tmp_path, capsys):
    """Asks a command of a copy of that state: its answer, and where the copy is."""
    name, state = ran
    copy = tmp_path / "copy"
    shutil.copytree(state, copy)

    def answered(*words):
        code = app.run(["--state", str(copy), *words, name, "--json"])
        assert code in (Exit.ANSWERED, Exit.REGRESSED)
        return json.loads(capsys.readouterr().out)

    return answered, copy


def seen(state):
    """All of a state but its database, which each reader touches."""
    files = (path for path in (state / "reports").rglob("*") if path.is_file())
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_the_page_of_a_copied_state_lies_in_the_copy(ran, answer):
    name, state = ran
    before = seen(state)
    asked, copy = answer
    written = Path(asked("report", "page")["path"])
    assert written == copy / "reports" / name / "index.html"
    assert '<a href="report.eml">' in written.read_text("utf-8")
    assert seen(state) == before


def test_a_draft_is_named_where_it_lies_now(ran, answer):
    name, _ = ran
    asked, copy = answer
    assert asked("report", "show")["path"] == str(copy / "reports" / name / "report.eml")


@pytest.mark.parametrize("words", [("report", "show"), ("report", "kcidb"), ("report", "page")])
def test_a_moved_state_needs_nothing_of_where_it_was(ran, answer, tmp_path, words):
    _, state = ran
    asked, _ = answer
    away = tmp_path / "away"
    state.rename(away)
    try:
        assert asked(*words)
    finally:
        away.rename(state)
