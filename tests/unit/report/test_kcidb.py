# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports in KCIDB's format, taken by kcidb-io's own validator."""

import json
from dataclasses import replace

import pytest
from kcidb_io import schema

from helpers.report_cases import CASES, backport, hang, rcu, repair
from helpers.report_epoll import epoll
from helpers.report_parts import sha
from rtbisect.errors import InternalError
from rtbisect.model.campaign import Cause, Sample, Sought
from rtbisect.report.kcidb import kcidb, kcidb_json


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_validator_takes_it(name):
    found = json.loads(kcidb_json(CASES[name](), "rtbisect"))
    schema.LATEST.validate(found)
    assert found["version"] == {"major": schema.LATEST.major, "minor": schema.LATEST.minor}
    ids = [each["id"] for part in ("checkouts", "builds", "tests") for each in found[part]]
    assert len(set(ids)) == len(ids)
    checkouts = {each["id"] for each in found["checkouts"]}
    builds = {each["id"] for each in found["builds"]}
    assert {each["checkout_id"] for each in found["builds"]} <= checkouts
    assert {each["build_id"] for each in found["tests"]} <= builds


def test_figures_have_numbers_and_units_of_the_si():
    found = kcidb(rcu(), "rtbisect")
    rows = {
        (each["build_id"], each["path"]): (each["number"], each["status"], each["misc"]["boots"])
        for each in found["tests"]
    }
    builds = {each["id"]: each["checkout_id"] for each in found["builds"]}
    shas = {each["id"]: each["git_commit_hash"] for each in found["checkouts"]}
    told = {(shas[builds[build]], path): row for (build, path), row in rows.items()}
    number, status, boots = told[sha(9), "rcu.p50_us.rcu-off"]
    value = pytest.approx(0.009, rel=1e-3)
    assert number == {"value": value, "unit": "s", "prefix": "metric"}
    assert (status, boots) == ("FAIL", 8)
    assert told[sha(8), "rcu.p50_us.rcu-off"][1] == "PASS"
    assert told[sha(9), "rcu.p50_us.rcu-on"][1] == "DONE"


def test_a_named_commit_is_an_issue_with_incidents():
    found = kcidb(rcu(), "rtbisect")
    (issue,) = found["issues"]
    assert issue["culprit"] == {"code": True, "tool": False, "harness": False}
    assert issue["misc"]["first_bad"] == sha(9)
    tests = {each["id"]: each["status"] for each in found["tests"]}
    assert {(tests[each["test_id"]], each["present"]) for each in found["incidents"]} == {
        ("FAIL", True),
        ("PASS", False),
    }


def test_a_tool_is_told_as_one_and_a_repair_is_no_issue():
    report = epoll()
    tool = replace(report, result=replace(report.result, cause=Cause.TOOL_INDUCED))
    assert kcidb(tool, "rtbisect")["issues"][0]["culprit"]["tool"] is True
    assert "issues" not in kcidb(replace(report, sought=Sought.REPAIR), "rtbisect")


def test_what_is_missing_is_no_figure():
    report = rcu()
    rows = tuple(replace(row, sample=Sample((float("nan"),))) for row in report.result.table)
    found = kcidb(replace(report, result=replace(report.result, table=rows)), "rtbisect")
    assert found["tests"] == []
    schema.LATEST.validate(found)


def test_the_same_campaign_has_the_same_ids():
    assert kcidb(rcu(), "rtbisect") == kcidb(rcu(), "rtbisect")
    with pytest.raises(InternalError, match="origin"):
        kcidb(rcu(), "no-dash")


def numbers(report):
    found = kcidb(report, "rtbisect")
    builds = {each["id"]: each["checkout_id"] for each in found["builds"]}
    shas = {each["id"]: each["git_commit_hash"] for each in found["checkouts"]}
    return {
        (shas[builds[each["build_id"]]], each["path"]): (each["status"], each["number"]["value"])
        for each in found["tests"]
    }


def test_a_repair_is_the_good_one_of_the_two():
    told = numbers(repair())
    assert told[sha(9), "rcu.p50_us.rcu-off"][0] == "PASS"
    assert told[sha(8), "rcu.p50_us.rcu-off"][0] == "FAIL"
    ends = replace(backport(), result=replace(
        backport().result, judgements=(backport().result.judgement,)))  # fmt: skip
    assert numbers(ends)[ends.older, "stall.frozen_periods.stall"] == ("FAIL", 8 / 12)
    assert numbers(ends)[ends.newer, "stall.frozen_periods.stall"] == ("PASS", 0.0)


def test_a_share_of_boots_is_their_mean():
    report = hang()
    report = replace(report, result=replace(report.result, judgements=(report.result.judgement,)))
    assert numbers(report)[report.newer, "stall.frozen_periods.stall"] == ("FAIL", 8 / 12)


def test_a_profile_without_smt_says_so():
    report = replace(rcu(), profile=replace(rcu().profile, smt=False))
    assert {t["environment"]["misc"]["smt"] for t in kcidb(report, "a")["tests"]} == {False}
    assert {t["environment"]["misc"]["smt"] for t in kcidb(rcu(), "a")["tests"]} == {True}


def test_a_cause_that_is_not_known_is_no_issue():
    report = rcu()
    unknown = replace(report, result=replace(report.result, cause=Cause.NONE))
    assert "issues" not in kcidb(unknown, "rtbisect")
