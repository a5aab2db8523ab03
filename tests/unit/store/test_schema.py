# SPDX-License-Identifier: GPL-2.0-or-later
"""Stores of older programs: lifted whole or not at all, and their campaigns go on."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from helpers import kept_samples, old_stores
from helpers.campaigns import ROOT
from helpers.depth import deep
from helpers.findings import said
from rtbisect.campaign.fingerprint import (
    Fingerprint,
    MachineFingerprint,
    SetupChangedError,
    keep_setup,
    machine_parts,
    new_fingerprint,
    setup_parts,
)
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import CampaignRequest, Sought
from rtbisect.model.command import CommandRequest
from rtbisect.model.kinds.pipeline import Proofs
from rtbisect.model.report import ReportInput, ReportState
from rtbisect.store import codec, db, outbox, replies, schema
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal, recorded

STORES, FORMATS = ROOT / "tests/data/stores", ROOT / "tests/data/formats"

assert outbox.table.metadata is replies.table.metadata is db.metadata


def put(name, state, version=1):
    """A store as a program of that schema left it, by default of the first."""
    with closing(sqlite3.connect(state / "rtbisect.sqlite3")) as database:
        text = (STORES / f"schema-{version}-{name}.sql").read_text(encoding="utf-8")
        database.executescript(text)
    return state / "rtbisect.sqlite3"


def resumed(name, state, version=1, world=old_stores.world):
    """The world of the campaign in a recorded store."""
    (state / "aside").mkdir()
    here = world(state / "aside")
    put(name, state, version)
    here.store, here.campaign = CampaignStore(state), "bisect-1"
    return here


def dump(place):
    with closing(sqlite3.connect(place)) as database:
        return list(database.iterdump())


#: Schemas that `tests/data/stores/` has stores of.
VERSIONS = sorted({int(path.name.split("-")[1]) for path in STORES.glob("schema-*-boot.sql")})


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", old_stores.STORES)
def test_a_campaign_of_an_older_schema_resumes_with_the_same_answer(tmp_path, name, version):
    (tmp_path / "whole").mkdir()
    whole, _ = old_stores.go(old_stores.world(tmp_path / "whole"))
    before = len(recorded(resumed(name, tmp_path, version).store.database, "bisect-1", Fingerprint))
    (tmp_path / "again").mkdir()
    result, _ = old_stores.go(resumed(name, tmp_path / "again", version))
    assert before == 1
    assert (result.outcome, result.culprit) == (whole.outcome, old_stores.CULPRIT)


def test_a_search_for_a_repair_that_an_older_program_began_goes_on(tmp_path):
    """Its ends and thresholds were kept the other way round, its fingerprint holds them so."""
    (tmp_path / "whole").mkdir()
    whole, _ = old_stores.go(old_stores.repair(tmp_path / "whole"))
    here = resumed("repair", tmp_path, 4, old_stores.repair)
    (kept,) = recorded(here.store.database, "bisect-1", Fingerprint)
    assert json.loads(kept.document)["thresholds"][0]["better"] == "higher"
    assert here.store.get("bisect-1").request == here.request
    assert here.store.of_request(here.request) == ("bisect-1",)
    result, _ = old_stores.go(here)
    # One that begins today is surer, as the boots of its proof count, and one gate asks more.
    assert result.confidence < whole.confidence
    told = {"confidence": 0.0, "reasons": (), "gates": ()}
    assert replace(result, **told) == replace(whole, **told)
    assert result.culprit == old_stores.CULPRIT
    assert result.reasons[0].kind == Proofs.REPAIRS
    # What the older program came to, run to its end.
    assert f"{result.confidence:.3f}" == "0.972"


FIRST_REQUEST = {
    "kind": "bisect", "site": "s", "tree": "t", "good": "a", "bad": "b", "suite": None,
    "metric": None, "seed": 0, "extra": [["given", "g"]], "repo": "/elsewhere",
}  # fmt: skip
COMMAND = CommandRequest(argv=("true",), pass_fail=True)


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ({}, {}),
        ({"extra": [["find_fix", "1"], ["given", "g"]]}, {"sought": Sought.REPAIR}),
        *(
            (
                {
                    "kind": "run",
                    "extra": [["command", json.dumps(asdict(COMMAND) | {"find_fix": fix})]],
                },
                {
                    "kind": "run",
                    "extra": COMMAND.extra(),
                    "sought": Sought.REPAIR if fix else Sought.REGRESSION,
                },
            )
            for fix in (False, True)
        ),
    ],
    ids=["regression", "repair", "command", "command that repairs"],
)
def test_what_an_older_program_was_asked_is_found_by_one_of_today(tmp_path, kept, asked):
    place = put("repair", tmp_path, 4)
    with closing(sqlite3.connect(place)) as database:
        database.execute("UPDATE campaign SET request = ?", (json.dumps(FIRST_REQUEST | kept),))
        # What no program can read keeps what it has.
        database.execute(
            "INSERT INTO campaign (id, kind, request, state, created)"
            " VALUES ('x', 'run', ?, 's', ''), ('y', 'run', '{', 's', '')",
            ("[" * 100_000,),
        )
        database.commit()
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older="a", newer="b", extra=(("given", "g"),)
    )
    store = CampaignStore(tmp_path)
    assert store.of_request(replace(request, **asked)) == ("bisect-1",)
    assert store.get("bisect-1").request == replace(request, repo="/elsewhere", **asked)


def test_what_an_older_store_has_told_is_found(tmp_path):
    """A report that has left is asked for by the commit that the file beside it names."""
    place, folder = put("proof", tmp_path, 3), tmp_path / "reports/bisect-1"
    folder.mkdir(parents=True)
    text = kept_samples.recorded(FORMATS / "ReportInput-1.json")
    (folder / "input.json").write_text(text, encoding="utf-8")
    request, result, report = (
        json.loads(kept_samples.recorded(FORMATS / f"{name}-1.json"))
        for name in ("CampaignRequest", "Result", "Report")
    )
    report |= {"state": "sent", "path": str(folder / "report.eml"), "message_id": "m@example.org"}
    with closing(sqlite3.connect(place)) as database:
        values = map(json.dumps, (request, result, report))
        database.execute(
            "UPDATE campaign SET state = 'done', request = ?, result = ?, report = ?",
            tuple(values),
        )
        (ended_s,) = database.execute("SELECT max(finished_s) FROM step").fetchone()
        database.commit()
    store = CampaignStore(tmp_path)
    told = codec.from_json(ReportInput, (folder / "input.json").read_bytes()).culprit
    by_title = replace(told, sha=old_stores.CULPRIT, upstream="")
    assert store.reported_elsewhere("another", by_title) == ("bisect-1", ReportState.SENT)
    by_commit = replace(by_title, sha=result["culprit"], subject="another")
    assert store.reported_elsewhere("another", by_commit) == ("bisect-1", ReportState.SENT)
    assert store.reported_elsewhere("another", replace(by_title, subject="another")) is None
    assert store.of_message("<m@example.org>") == "bisect-1"
    assert store.of_request(codec.from_plain(CampaignRequest, request)) == ("bisect-1",)
    at = datetime.fromtimestamp(ended_s, UTC)
    assert store.ended_since(at) == ("bisect-1",)
    assert store.ended_since(at + timedelta(seconds=1)) == ()


def of_kernel(change):
    """A change of a set-up, from what it changes in the part for kernels."""
    return lambda s: replace(s, kernel=replace(s.kernel, **change(s.kernel)))


OTHERS = [
    of_kernel(lambda k: {"build": replace(k.build, fragments=("CONFIG_X=n\n",))}),
    of_kernel(lambda k: {"device": replace(k.device, memory_mib=2048)}),
    of_kernel(lambda k: {"profile": replace(k.profile, boot_line="quiet")}),
    of_kernel(lambda k: {"windows": k.windows[:1]}),
    of_kernel(lambda k: {"windows": (replace(k.windows[0], workload="none"), k.windows[1])}),
    lambda s: replace(s, thresholds=(replace(s.thresholds[0], limit=1.0), s.thresholds[1])),
    lambda s: replace(s, limits=replace(s.limits, max_boots=121)),
    of_kernel(lambda _k: {"explaining": ()}),
    of_kernel(lambda _k: {"rcu_calls": 101}),
]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("went_on", [False, True])
def test_with_another_site_file_a_campaign_of_the_first_schema_is_refused(tmp_path, other, went_on):
    here = resumed("boot", tmp_path)
    setup, parts = here.open()
    if went_on:
        keep_setup(setup, parts.journal)
    rows = dump(tmp_path / "rtbisect.sqlite3")
    with pytest.raises(SetupChangedError, match="bisect-1"):
        keep_setup(other(setup), parts.journal)
    assert dump(tmp_path / "rtbisect.sqlite3") == rows


def test_a_campaign_keeps_the_version_that_it_began_with(tmp_path):
    here = resumed("boot", tmp_path)
    setup, parts = here.open()
    keep_setup(setup, parts.journal)
    for kind in (Fingerprint, MachineFingerprint):
        (row,) = recorded(here.store.database, "bisect-1", kind)
        assert (row.version, bool(row.sha256), bool(row.document)) == (1, True, True)
    new = StoreJournal(here.store.database, here.store.create("bisect", "{}", "now"))
    keep_setup(setup, new)
    (row,) = recorded(here.store.database, new.campaign, Fingerprint)
    assert (row.version, row.sha256) == (2, "")
    keep_setup(setup, new)


def test_boots_of_a_campaign_of_the_first_schema_are_compared_with_those_of_today(tmp_path):
    here = resumed("boot", tmp_path)
    setup, _ = here.open()
    (row,) = recorded(here.store.database, "bisect-1", MachineFingerprint)
    slower = of_kernel(lambda k: {"device": replace(k.device, boot_s=900)})(setup)
    assert row.fits(machine_parts(slower))
    assert not row.fits(machine_parts(of_kernel(lambda _k: {"window_ms": 1})(setup)))


def test_the_migrations_make_the_tables_that_the_program_uses(tmp_path):
    with CampaignStore(tmp_path).database.write() as connection:
        assert compare_metadata(MigrationContext.configure(connection), db.metadata) == []
    assert ScriptDirectory(schema.MIGRATIONS).get_current_head() == schema.HEAD


def test_a_lifted_store_has_the_tables_of_a_new_one(tmp_path):
    (tmp_path / "new").mkdir()
    CampaignStore(tmp_path / "new")
    place = put("build", tmp_path)
    CampaignStore(tmp_path)
    shape = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
    found = []
    for file in (place, tmp_path / "new/rtbisect.sqlite3"):
        with closing(sqlite3.connect(file)) as database:
            rows = database.execute(shape).fetchall()
        found.append({name: "".join(sql.replace('"', "").split()) for name, sql in rows})
    assert found[0].keys() == found[1].keys()


def test_a_store_of_a_newer_program_is_refused_and_left_alone(tmp_path):
    store = CampaignStore(tmp_path)
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    before = dump(store.database.path)
    with pytest.raises(ConfigError, match="schema version 9999"):
        CampaignStore(tmp_path)
    assert dump(store.database.path) == before


def test_a_program_of_the_first_schema_finds_another_version(tmp_path):
    put("build", tmp_path)
    with CampaignStore(tmp_path).database.write() as connection:
        query = "SELECT value FROM meta WHERE key = 'schema_version'"
        assert connection.exec_driver_sql(query).scalar() != schema.FIRST


#: Opens each of the stores in a process of its own (one interpreter, which has imported all, begets
#: them) that kills itself when a migration sends a statement: the store's number times the step.
DIE = """
import os, signal, sys
import sqlalchemy as sa
from pathlib import Path
from rtbisect.store.campaigns import CampaignStore

left = 0

@sa.event.listens_for(sa.Engine, "after_cursor_execute")
def counted(connection, cursor, statement, *rest):
    global left
    if statement.lstrip().upper().startswith(("ALTER", "CREATE", "INSERT", "UPDATE")):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

for number, state in enumerate(sys.argv[2:]):
    if not (child := os.fork()):
        left = number * int(sys.argv[1])
        CampaignStore(Path(state))
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(code)
    if code == 0:
        break
"""


def test_a_kill_leaves_an_old_store_as_it_was(tmp_path):
    whole = put("build", tmp_path)
    before = dump(whole)
    states = [tmp_path / str(number) for number in range(60)]
    for state in states:
        state.mkdir()
        shutil.copy(whole, state)
    done = subprocess.run(
        [sys.executable, "-c", DIE, str(deep(5, 1)), *states],
        check=True,
        capture_output=True,
        text=True,
    )
    codes = [int(code) for code in done.stdout.split()]
    killed = len(codes) - 1
    assert killed > 2
    assert codes == [-signal.SIGKILL] * killed + [0], "the last number is past all statements"
    for state in states[:killed]:
        assert dump(state / whole.name) == before
    assert CampaignStore(states[killed]).names() == ("bisect-1",)


def test_what_a_kept_fingerprint_lacks_counts_as_unchanged(tmp_path):
    setup, _ = old_stores.world(tmp_path).open()
    kept = new_fingerprint(MachineFingerprint, machine_parts(setup))
    names = [(), ("device",), ("windows", 0), ("windows", 1), ("profile",), ("build",)]
    for path in names:
        document = json.loads(kept.document)
        part = document
        for step in path:
            part = part[step]
        for name in [key for key, value in part.items() if not isinstance(value, dict)]:
            older = json.loads(kept.document)
            place = older
            for step in path:
                place = place[step]
            value = place.pop(name)
            assert replace(kept, document=json.dumps(older)).fits(machine_parts(setup))
            place[name] = [value]
            assert not replace(kept, document=json.dumps(older)).fits(machine_parts(setup))
    assert not replace(kept, document='{"a": 1}').fits(machine_parts(setup))


def test_a_fingerprint_holds_nothing_that_is_for_readers_alone(tmp_path):
    setup, _ = old_stores.world(tmp_path).open()
    kept = new_fingerprint(Fingerprint, setup_parts(setup))
    told = replace(setup.thresholds[0], reason=said("said better"), title="named better")
    assert kept.fits(setup_parts(replace(setup, thresholds=(told, setup.thresholds[1]))))
