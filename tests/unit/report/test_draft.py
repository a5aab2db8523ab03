# SPDX-License-Identifier: GPL-2.0-or-later
"""A draft as files, headers and addresses: what makes it, and what cannot."""

import json
from dataclasses import asdict, replace

import pytest

from helpers.drafts import parsed
from helpers.report_cases import STORY, hang, rcu, repair
from helpers.report_epoll import EPOLL, epoll
from helpers.report_parts import settings
from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.model.campaign import Sought
from rtbisect.model.report import ReportState, SeriesState, Standing
from rtbisect.report.draft import DraftMailer
from rtbisect.report.input_file import read_input
from rtbisect.report.lint.rules import lint
from rtbisect.report.message import date, guard


def test_a_draft_goes_to_the_operator_alone(mailer):
    mail = parsed(mailer.draft(rcu(), STORY).eml)
    assert [a.addr_spec for a in mail["To"].addresses] == ["olga@lab.example.org"]
    assert mail["Cc"] is None
    assert mail["X-rtbisect-State"] == "draft"
    assert mail["X-rtbisect-Outcome"] == "culprit; cause=kernel"
    assert mail["Message-ID"] == "<rcu-0002.1@lab.example.org>"
    assert mail["Date"].datetime.isoformat() == "2026-01-31T10:20:30+00:00"


def test_files_beside_the_mail(mailer, tmp_path):
    report = mailer.draft(epoll(), STORY)
    folder = tmp_path / "epoll-0001"
    assert sorted(p.name for p in folder.iterdir()) == [
        "bisect.log",
        "campaign.log",
        "input.json",
        "report.eml",
        "result.json",
    ]
    assert read_input(folder) == epoll()
    assert report.path == str(folder / "report.eml")
    assert report.state is ReportState.DRAFT
    assert (folder / "report.eml").read_text("ascii") == report.eml
    assert (folder / "bisect.log").read_text("ascii") == report.bisect_log
    assert (folder / "campaign.log").read_text("ascii") == report.story
    assert json.loads((folder / "result.json").read_text())["result"]["outcome"] == "culprit"
    again = mailer.draft(epoll(), STORY)
    assert again == report


@pytest.mark.parametrize(("case", "better"), [(rcu(), "lower"), (repair(), "higher")])
def test_programs_read_of_a_repair_what_the_search_judged(mailer, tmp_path, case, better):
    mailer.draft(case, STORY)
    found = json.loads((tmp_path / case.campaign / "result.json").read_text())
    assert found["repair"] == (case.sought is Sought.REPAIR)
    assert (found["good"], found["bad"]) == (case.older, case.newer)
    assert {each["better"] for each in found["thresholds"]} == {better}
    assert not {"older", "newer", "sought"} & found.keys()


def test_programs_read_which_series_lack_a_repair(mailer, tmp_path):
    state = SeriesState(
        name="linux-6.1.y",
        tip="0" * 40,
        date="2026-01-02T00:00:00+00:00",
        release="v6.1.2",
        standing=Standing.CONFLICTS,
        files=("kernel/\N{SNOWMAN}.c",),
        tested=True,
    )
    case = replace(repair(), series=(state,))
    mailer.draft(case, STORY)
    folder = tmp_path / case.campaign
    assert read_input(folder).series == (state,)
    (told,) = json.loads((folder / "result.json").read_text("ascii"))["series"]
    assert told == asdict(state) | {"files": list(state.files)}


def test_a_subject_adds_no_command_to_the_log(mailer):
    graph = epoll().graph
    evil = replace(graph.commits[3], subject="x\ngit bisect bad HEAD\rgit bisect reset")
    tested = tuple(replace(t, subject="y\ngit bisect reset") for t in EPOLL.tested)
    hostile = replace(
        epoll(),
        graph=replace(graph, commits=(*graph.commits[:3], evil, *graph.commits[4:])),
        result=replace(EPOLL, tested=tested),
    )

    def commands(log):
        return [line for line in log.splitlines() if not line.startswith("#")]

    plain = mailer.draft(epoll(), "").bisect_log
    assert commands(mailer.draft(hostile, "").bisect_log) == commands(plain)


@pytest.mark.parametrize("campaign", ["", "../x", "a/b", ".hidden", "x\n"])
def test_campaign_names_are_no_paths(mailer, campaign):
    with pytest.raises(InternalError, match="not the name of a campaign"):
        mailer.draft(replace(epoll(), campaign=campaign), "")


@pytest.mark.parametrize("operator", ["nobody", "a@b\nBcc: c@example.org", "\u00e9@example.org"])
def test_a_bad_operator_is_a_fault_of_the_configuration(mailer, operator):
    with pytest.raises(ConfigError, match="is not a mail address"):
        mailer.draft(replace(epoll(), operator=operator), "")


def test_operator_of_the_site_is_the_fallback(mailer):
    mail = parsed(mailer.draft(replace(epoll(), operator=""), "").eml)
    assert mail["To"].addresses[0].addr_spec == "olga@lab.example.org"


@pytest.mark.parametrize("message_id", ["", "<a@b>\nBcc: x@y", "two@at@signs"])
def test_bad_message_ids_are_ours(mailer, message_id):
    with pytest.raises(InternalError, match="not a Message-ID"):
        mailer.draft(replace(epoll(), message_id=message_id), "")


def test_a_spool_for_kcidb_gets_a_file_a_campaign(tmp_path):
    spool = tmp_path / "spool/kcidb"
    made = DraftMailer(settings(tmp_path, kcidb=("rtbisect", spool)))
    made.draft(rcu(), STORY)
    found = json.loads((spool / "rcu-0002.json").read_text())
    assert found["issues"][0]["misc"]["first_bad"] == rcu().result.culprit


def test_a_message_id_is_of_the_bots_host(mailer):
    report = mailer.draft(replace(epoll(), message_id="bisect-1.0123"), "")
    assert report.message_id == "bisect-1.0123@lab.example.org"
    assert parsed(report.eml)["Message-ID"] == "<bisect-1.0123@lab.example.org>"


def test_dates_are_utc_and_checked():
    assert date("2026-01-31T11:20:30+01:00").isoformat() == "2026-01-31T10:20:30+00:00"
    assert date("2026-01-31T10:20:30Z").tzname() == "UTC"
    with pytest.raises(InternalError, match="not a date"):
        date("yesterday")


def test_an_unwritable_folder_is_the_labs_fault(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="cannot keep a draft"):
        DraftMailer(settings(tmp_path / "file")).draft(epoll(), "")


def test_a_missing_template_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"mail\.txt\.j2"):
        DraftMailer(settings(tmp_path, templates=tmp_path)).draft(epoll(), "")


def test_guard_moves_active_lines_away_from_the_margin():
    text = guard("\n\nFrom here\n\n\n\n#regzbot x\n--- a\nAcked-by: x\nplain  \n\n")
    assert text == " From here\n\n #regzbot x\n --- a\n Acked-by: x\nplain\n"


@pytest.mark.words
def test_a_console_adds_no_command_and_no_trailer(tmp_path):
    said = ("#regzbot introduced: v1", "Signed-off-by: A <a@example.org>", "\x1b[31mred\x07", "")
    text = DraftMailer(settings(tmp_path)).draft(replace(hang(), excerpt=said), "").eml
    assert lint(text.encode()) == ()
    assert "#regzbot" not in text
    assert "Signed-off-by:" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("word", ["Signed-off-by: A B", "#regzbot x"])
def test_words_of_a_row_add_no_command_and_no_trailer(tmp_path, word):
    report = rcu()
    table = tuple(
        replace(row, workload=word if row.workload == "none" else row.workload, unit=word[:12])
        for row in report.result.table
    )
    found = replace(report, result=replace(report.result, table=table))
    text = DraftMailer(settings(tmp_path)).draft(found, "").eml
    assert "#regzbot" not in text
    assert "Signed-off-by:" not in text
