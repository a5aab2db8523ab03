# SPDX-License-Identifier: GPL-2.0-or-later
"""What the processes of a user leave each other about a campaign."""

from rtbisect.errors import Exit
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal
from rtbisect.store.session_files import SessionFiles

STANDS = Finding.of(Searches.STANDS, candidates=9, holding=2, likeliest="a" * 40, probability=0.7)


def test_a_stop_is_asked_for_once(tmp_path):
    files = SessionFiles.of(tmp_path, "run-1")
    files.forget_stop()
    assert not files.stop_asked()
    files.ask_to_stop()
    assert files.stop_asked()
    assert not SessionFiles.of(tmp_path, "run-2").stop_asked()
    files.forget_stop()
    assert not files.stop_asked()


def test_how_a_session_has_ended_is_kept_until_the_next_one(tmp_path):
    files = SessionFiles.of(tmp_path, "run-1")
    files.forget_end()
    assert files.end() is None
    files.keep_end(Exit.INTERRUPTED)
    assert SessionFiles.of(tmp_path, "run-1").end() is Exit.INTERRUPTED
    (files.folder / "end").write_text("77")
    assert files.end() is None
    files.forget_end()
    assert not (files.folder / "end").exists()


def test_a_store_whose_campaign_does_not_run_yet_begins(tmp_path):
    store = CampaignStore(tmp_path)
    assert not store.begins()
    with store.writer():
        assert store.begins()
        StoreJournal(store.database, store.create("run", "{}", ""))
        assert not store.begins()
        assert store.active() == "run-1"


def test_where_a_search_stands_is_kept_until_it_stands_elsewhere(tmp_path):
    files = SessionFiles.of(tmp_path, "run-1")
    assert files.standing() is None
    files.keep_standing(STANDS)
    assert SessionFiles.of(tmp_path, "run-1").standing() == STANDS
    (files.folder / "standing.json").write_bytes(b"\xff no finding")
    assert files.standing() is None


def test_where_nothing_can_be_noted_the_search_goes_on(tmp_path):
    (tmp_path / "sessions").write_text("in the way")
    files = SessionFiles.of(tmp_path, "run-1")
    files.keep_standing(STANDS)
    files.forget_stop()
    files.keep_end(Exit.LAB)
    assert files.standing() is files.end() is None
