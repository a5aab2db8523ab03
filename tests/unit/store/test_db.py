# SPDX-License-Identifier: GPL-2.0-or-later
"""The database: who only looks waits for nobody, and a connection is made once."""

import sqlite3
import threading
from contextlib import closing

import pytest
import sqlalchemy as sa

from rtbisect.errors import BusyError
from rtbisect.store import db
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import summary_of


@pytest.fixture
def store(tmp_path):
    here = CampaignStore(tmp_path)
    here.create("check", "{}", "now")
    return here


@pytest.fixture
def writer(store):
    """Somebody who is in the middle of a write."""
    with closing(sqlite3.connect(store.database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE campaign SET note = 'half-way'")
        yield other
        other.execute("ROLLBACK")


def test_who_looks_sees_what_was_written_last_and_does_not_wait(store, writer):
    assert store.get("check-1").note == ""
    assert store.names() == ("check-1",)
    assert summary_of(store.database, "check-1").boots == 0


def test_a_store_is_opened_while_somebody_writes(store, writer):
    assert CampaignStore(store.state).names() == ("check-1",)


def test_who_writes_waits_for_who_writes(store, writer, monkeypatch):
    monkeypatch.setattr(db, "BUSY_TIMEOUT_MS", 50)
    with pytest.raises(BusyError, match="locked"):
        CampaignStore(store.state).note("check-1", "mine")


def test_a_connection_is_made_once(store):
    made = []
    sa.event.listen(store.database.engine, "connect", lambda *words: made.append(words))
    for _ in range(5):
        store.note("check-1", store.get("check-1").note)
    assert made == []


def test_threads_write_one_after_the_other(store):
    def write(number):
        store.mark_checked("rt", f"{number:040}", "pass", "now")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(store.checked_revisions("rt")) == len(threads)
