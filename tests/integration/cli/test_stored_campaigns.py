# SPDX-License-Identifier: GPL-2.0-or-later
"""What is told of campaigns that stand in a store, as JSON and for a person."""

import sqlite3

from helpers.command_line import documented
from helpers.filled_store import KEY, filled, record, result
from helpers.findings import said
from helpers.results import other_result
from rtbisect.model.campaign import (
    CampaignRequest,
    Judgement,
    Level,
    Outcome,
    Sample,
)
from rtbisect.store import codec
from rtbisect.store.journal import StoreJournal


def test_status_lists_the_newest_and_what_is_not_done(cli):
    paused = cli.store.create("check", "{}", "2026-01-01T00:00:00+00:00")
    asked = codec.to_json(
        CampaignRequest, CampaignRequest(kind="check", site="s", tree="t", older="a", newer="b")
    )
    answer = other_result(Outcome.NO_REGRESSION)
    for _ in range(60):
        cli.store.finish(cli.store.create("check", asked, "now"), answer, None)
    found = cli.run("status", "--json").data
    assert [row["campaign"] for row in found["campaigns"]] == [
        paused, *(f"check-{number}" for number in range(12, 62))
    ]  # fmt: skip
    assert found["older"] == 10
    everything = cli.run("status", "--all", "--json").data
    assert (len(everything["campaigns"]), everything["older"]) == (61, 0)
    assert cli.run("status").out.startswith("10 older ones")


def test_json_has_the_documented_keys(cli):
    filled(cli)
    common = set(documented("campaign"))
    assert len(common) == 24
    status = cli.run("status", "--json").data
    rows, *more, older = documented("status")
    assert set(status) == {rows, older}
    assert [set(row) for row in status[rows]] == [common | set(more)] * 4
    assert set(cli.run("resume", "bisect-1", "--json").data) == common | {"commits"}
    check = cli.run("resume", "check-2", "--json")
    level, inner, *names = documented("check")
    figures = names.index("figures")
    assert (check.code, set(check.data)) == (1, common | {level, inner, "figures"})
    assert set(check.data[inner][0]) == set(names[:figures]) - {"pass"}
    assert set(check.data["figures"][0]) == set(names[figures + 1 :])
    tried = cli.run("resume", "try-3", "--json")
    assert (tried.code, tried.data["verdict"]) == (1, "bad")
    assert set(tried.data) == common | set(documented("try"))
    demo = cli.run("resume", "demo-4", "--json")
    assert (demo.code, demo.data["correct"]) == (0, True)
    assert set(demo.data) == common | set(documented("demo"))
    show = cli.run("report", "show", "bisect-1", "--json")
    assert set(show.data) == set(documented("report show"))
    assert show.data["eml"] == "Subject: x\n\nbody\n"
    assert set(cli.run("config", "check", "--json").data) == set(documented("config check"))


def test_a_check_has_a_row_for_each_figure(cli):
    filled(cli)
    done = cli.run("resume", "check-2")
    rows = [" ".join(line.split()) for line in done.out.splitlines() if "throughput" in line]
    assert rows == [
        "events of 1 thread epoll-throughput 30 [20..60]/ms 24 [21..40]/ms -20%",
        "events of 8 threads epoll-throughput 0 [0..0]/ms 2 [2..2]/ms -",
        "epoll.frozen epoll-throughput 0 [0..0]/ms 0.333 [0..1.00]/ms -",
    ]
    found = cli.run("resume", "check-2", "--json").data["figures"]
    assert [found[0][name] for name in ("base", "tip", "n")] == [[30, 20, 60], [24, 21, 40], [3, 3]]


def test_status_of_one_campaign_shows_all_of_its_answer(cli):
    filled(cli)
    for name in ("bisect-1", "check-2"):
        assert cli.run("status", name).out == cli.run("resume", name).out
        found = cli.run("status", name, "--json").data
        assert [row["campaign"] for row in found["campaigns"]] == [name]
    assert cli.run("status", "try-3").out.startswith("try-3: regressed")
    assert "nosuch" in cli.refused(2, "status", "nosuch")


def test_status_needs_no_site(cli):
    filled(cli)
    before = cli.run("status", "--json")
    cli.site.unlink()
    after = cli.run("status", "--json")
    assert after == before
    assert after.data["campaigns"][0]["repo"] == "/srv/linux"


def test_numbers_that_json_does_not_know_are_null(cli):
    odd = Judgement(
        key=KEY,
        level=Level.UNDECIDED,
        base=Sample(()),
        new=Sample(()),
        effect=float("inf"),
        interval=(0.0, float("nan")),
        p=1.0,
        reason=said("odd"),
    )
    answer = other_result(Outcome.INCONCLUSIVE, judgements=(odd,))
    record(cli, "check", answer=answer)
    done = cli.run("resume", "check-1", "--json")
    assert done.code == 4
    assert done.data["judgements"][0]["effect"] is None
    assert done.data["judgements"][0]["interval"] == [0.0, None]


def test_nothing_to_resume_and_nothing_to_show(cli):
    assert "there is no unfinished campaign; see `rtbisect status`" in cli.refused(2, "resume")
    assert "no campaign 'nosuch'" in cli.refused(2, "resume", "nosuch")
    assert "no campaign ''" in cli.refused(2, "resume", "")
    assert "no campaign 'nosuch'" in cli.refused(2, "report", "show", "nosuch")
    filled(cli)
    assert "there is no unfinished campaign" in cli.refused(2, "resume")
    assert "campaign check-2 has no draft" in cli.refused(2, "report", "show", "check-2")
    (cli.store.state / "reports/bisect-1/draft.eml").unlink()
    assert "No such file" in cli.refused(2, "report", "show", "bisect-1")


def test_an_internal_error_is_a_line_and_a_log(cli):
    name = cli.store.create("bisect", '{"of": "another shape"}', "now")
    line = cli.refused(70, "--state", str(cli.state), "resume", name, env={"RTBISECT_STATE": "/x"})
    assert "made by another version" in line
    log = (cli.state / "internal-error.log").read_text()
    assert "Traceback" in log
    assert "ValueError: no CampaignRequest of version 1" in log


def test_one_unreadable_campaign_hides_no_other(cli):
    cli.store.create("bisect", '{"of": "another shape"}', "now")
    name = record(cli, "check", answer=result(Outcome.CULPRIT_SET))
    broken, odd = record(cli, "check"), record(cli, "check")
    with sqlite3.connect(cli.state / "rtbisect.sqlite3") as database:
        database.execute("UPDATE campaign SET result = '[1]' WHERE id = ?", (broken,))
        database.execute("UPDATE campaign SET state = 'aborted' WHERE id = ?", (odd,))
    done = cli.run("status", "--json")
    rows = done.data["campaigns"]
    states = [row["state"] for row in rows]
    assert (done.code, states) == (0, ["unreadable", "done", "unreadable", "unreadable"])
    assert len({frozenset(row) for row in rows}) == 1
    assert cli.run("resume", name).code == 1
    assert "cannot be read" in cli.refused(70, "report", "show", broken)


def test_an_unfinished_campaign_runs_or_is_paused(cli):
    request = CampaignRequest(kind="bisect", site="s", tree="rt", older="a" * 40, newer="b" * 40)
    name = cli.store.create("bisect", codec.to_json(CampaignRequest, request), "now")
    StoreJournal(cli.store.database, name)
    assert cli.run("status", "--json").data["campaigns"][0]["state"] == "paused"
    with cli.store.writer():
        StoreJournal(cli.store.database, name)
        assert cli.run("status", "--json").data["campaigns"][0]["state"] == "running"
