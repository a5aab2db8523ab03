# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/adding-a-suite.md without a boot: what is found by name, and what is refused."""

import subprocess
import sys
from dataclasses import replace

import pytest
from yaml import safe_load

from helpers import new_suite
from helpers.findings import Like, innermost
from helpers.lab_logs import block, files, good_job, request
from rtbisect.config.thresholds import load_thresholds
from rtbisect.lab import job_log
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.job_log import CaseResult
from rtbisect.lab.measurements import MOST_CASES, InvalidBoot, evidence
from rtbisect.lab.windows import of_suites
from rtbisect.model.kinds.boot import Boots, Raw
from rtbisect.model.lab import Window
from rtbisect.suites import base, reported
from rtbisect.suites.base import SuiteError

OFF = Window(name="switches-off", suites=("switches",))


@pytest.fixture
def page(tmp_path, monkeypatch):
    folder = new_suite.make(tmp_path / "copy")
    new_suite.install(monkeypatch, folder)
    yield folder
    sys.modules.pop("rtbisect.suites.softirqs", None)


def test_the_page_has_every_file_that_it_speaks_of(page):
    assert set(new_suite.files()) == {
        "lava-jobs/suites/switches/switches.sh",
        "thresholds/switches.yaml",
        "lava-jobs/suites/softirqs/softirqs.sh",
        "bisect/rtbisect/suites/softirqs.py",
        "thresholds/softirqs.yaml",
    }
    for name in new_suite.files():
        if name.endswith(".sh"):
            subprocess.run(["/bin/busybox", "sh", "-n", str(page / name)], check=True)


def test_both_kinds_of_suite_are_found_by_name(page):
    limits = load_thresholds(page / "thresholds", new_suite.SUITES)
    metrics = [(t.key.suite, t.key.window) for t in limits]
    assert base.find("switches") == base.Suite(name="switches")
    assert [w.name for w in of_suites(["switches"], metrics)] == ["switches-off"]
    softirqs = base.find("softirqs")
    assert softirqs in base.every()
    assert [w.name for w in softirqs.windows] == ["softirqs-off"]
    # A suite that is not asked for brings no window.
    assert [w.name for w in of_suites(["rcu"], metrics)] == ["rcu-off", "rcu-on"]


def test_the_parser_of_the_page(page):
    before = b"      CPU0 CPU1 CPU2\n  HI:  0 0 1\nTIMER: 5 6 7\n"
    after = b"      CPU0 CPU1 CPU2\n  HI:  9 0 3\nTIMER: 5 6 9\n"
    suite = base.find("softirqs")
    (window,), parse = suite.windows, suite.parse
    got = parse({"before.txt": before, "after.txt": after}, window, (1, 2))
    assert {(m.cpu, m.value) for m in got} == {(None, 4.0), (1, 0.0), (2, 4.0)}
    with pytest.raises(SuiteError) as caught:
        parse({"before.txt": after, "after.txt": before}, window, (1, 2))
    assert caught.value.found.kind == Raw.BACKWARDS
    with pytest.raises(SuiteError) as caught:
        parse({"before.txt": b"", "after.txt": after}, window, (1, 2))
    assert caught.value.found.kind == Raw.UNREADABLE


def case(name="switches-off.switches_per_s", result="pass", measurement="12.5", units="1/s"):
    return CaseResult(
        suite="0_rtbisect", case=name, result=result, measurement=measurement, units=units
    )


def test_figures_that_the_device_reports_itself():
    others = [case("osnoise-off", measurement="", units=""), case("other.figure")]
    got = reported.parse([*others, case()], "switches", OFF)
    assert [(m.suite, m.name, m.value, m.unit, m.cpu) for m in got] == [
        ("switches", "switches_per_s", 12.5, "1/s", None)
    ]
    assert reported.parse([case(measurement="3.20000000000000017763568394003")], "switches", OFF)


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([], Raw.NO_FIGURE),
        ([case(), case()], Raw.CASE_TWICE),
        ([case(result="fail")], Raw.CASE_FAILED),
        ([case(measurement="nan")], Raw.CASE_NUMBER),
        ([case(measurement="1e999")], Raw.CASE_INFINITE),
        ([case(measurement="")], Raw.CASE_NUMBER),
        ([case(units="furlong")], Raw.CASE_UNIT),
        ([case("switches-off.Bad name")], Raw.CASE_NAME),
    ],
)
def test_reports_that_are_no_figures_are_refused(cases, reason):
    with pytest.raises(SuiteError) as caught:
        reported.parse(cases, "switches", OFF)
    assert caught.value.found.kind == reason


def test_a_reported_figure_is_evidence_and_a_flood_of_cases_is_not():
    asked = request((OFF,))
    results = dict.fromkeys(expected_cases(asked), "pass")

    def log(extra):
        text = good_job(results, ["x", *block(files(asked)), "RTBISECT-DONE"])
        parsed = job_log.parse(text)
        return replace(parsed, results=(*parsed.results, *extra))

    (found,) = evidence(asked, log([case()])).measurements
    assert (found.suite, found.value) == ("switches", 12.5)
    with pytest.raises(InvalidBoot) as caught:
        evidence(asked, log([]))
    assert caught.value.found == Like(Boots.SUITE, suite="switches", window="switches-off")
    assert innermost(caught.value.found).kind == Raw.NO_FIGURE
    flood = [case(f"switches-off.n{n}") for n in range(MOST_CASES)]
    with pytest.raises(InvalidBoot) as caught:
        evidence(asked, log(flood))
    assert caught.value.found == Like(Boots.MANY_CASES, most=100)


def test_thresholds_of_the_page_are_valid_yaml():
    for name, content in new_suite.files().items():
        if name.endswith(".yaml"):
            assert safe_load(content)["suite"] in new_suite.SUITES
