# SPDX-License-Identifier: GPL-2.0-or-later
"""One look at branches: what a new tip is compared with."""

import pytest

from helpers.command_line import documented, site_text
from rtbisect.process import locks


def test_watch_goes_on_when_a_branch_has_vanished(cli, repo):
    def more(data):
        data["build_configs"] = {
            "gone": {"tree": "stable-rt", "branch": "vanished"},
            "rt": {"tree": "stable-rt", "branch": "main"},
            "still": {"tree": "stable-rt", "branch": "start"},
        }

    cli.site.write_text(site_text(f"file://{repo[0]}", more))
    cli.store.mark_checked("rt", repo[1]["d"], "regressed", "now")
    done = cli.run("watch", "--once", "--json")
    (name,) = set(done.data)
    inner, *keys = documented("watch")
    assert name == inner
    rows = {row["build_config"]: row for row in done.data[name]}
    assert [set(row) for row in rows.values()] == [set(keys)] * 3
    assert (done.code, rows["gone"]["exit"], rows["gone"]["level"]) == (2, 2, "error")
    assert "no branch 'vanished'" in rows["gone"]["note"]
    assert (rows["rt"]["level"], rows["rt"]["exit"]) == ("unchanged", 0)
    assert (rows["still"]["level"], rows["still"]["good"]) == ("unchanged", repo[1]["a"])
    assert cli.store.checked_revisions("still") == {repo[1]["a"]: "first-seen"}
    assert done.err.count("\n") == 1
    assert done.err.startswith("rtbisect: gone: no branch 'vanished'")
    assert not cli.store.names()


def in_itself(data):
    data["build_configs_defaults"]["reference"]["branch"] = "main"


def without_reference(data):
    del data["build_configs_defaults"]["reference"]


@pytest.mark.parametrize("change", [in_itself, without_reference])
def test_the_first_tip_of_a_branch_without_a_base_is_the_base(cli, repo, change):
    shas = repo[1]
    cli.site.write_text(site_text(f"file://{repo[0]}", change))
    cli.store.mark_checked("rt", "1" * 40, "pass", "now")
    (row,) = cli.run("watch", "--once", "--json").data["trees"]
    assert (row["level"], row["good"], row["bad"], row["exit"]) == (
        "unchanged", shas["d"], shas["d"], 0,
    )  # fmt: skip
    (again,) = cli.run("watch", "--once", "--json").data["trees"]
    assert (again["level"], again["exit"]) == ("unchanged", 0)
    assert row["note"] != again["note"]


@pytest.mark.parametrize(
    ("seen", "good"),
    [
        ((), "a"),
        ((("b", "pass"),), "b"),
        ((("b", "pass"), ("c", "regressed")), "c"),
        ((("b", "pass"), ("c", "undecided")), "b"),
        ((("s", "pass"),), "b"),
        ((("b", "pass"), ("gone", "pass")), "b"),
        ((("b", "first-seen"), ("c", "undecided")), "b"),
    ],
    ids=[
        "first sight",
        "last pass",
        "told already",
        "undecided",
        "rebased",
        "commit is gone",
        "first seen",
    ],
)
def test_what_watch_compares_a_new_tip_with(cli, repo, seen, good):
    shas = repo[1] | {"gone": "1" * 40}
    for name, level in seen:
        cli.store.mark_checked("rt", shas[name], level, "now")
    (row,) = cli.run("watch", "--once", "--json").data["trees"]
    # There is no lab here: the look ends where a campaign would begin.
    assert (row["good"], row["bad"], row["exit"]) == (shas[good], shas["d"], 2)
    assert "make setup" in row["note"]
    assert shas["d"] not in cli.store.checked_revisions("rt")


def test_a_lock_of_ours_is_what_the_program_waits_for(cli):
    cli.state.mkdir()
    with locks.hold(cli.state / "campaign.lock", what="test"):
        (row,) = cli.run("watch", "--once", "--json").data["trees"]
        assert row["exit"] == 5
