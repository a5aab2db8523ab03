# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/adding-a-suite.md carried out: its files, a ramdisk with them, a real boot."""

import sys

import pytest

from helpers import new_suite
from rtbisect.config.thresholds import load_thresholds
from rtbisect.lab.windows import of_suites
from rtbisect.suites import base


@pytest.fixture
def page(tmp_path, monkeypatch):
    folder = new_suite.make(tmp_path / "copy")
    new_suite.install(monkeypatch, folder)
    yield folder
    sys.modules.pop("rtbisect.suites.softirqs", None)


def test_the_suites_of_the_page_measure_a_real_kernel(page, lab, request_of):
    limits = load_thresholds(page / "thresholds", new_suite.SUITES)
    windows = of_suites(["switches"], ((t.key.suite, t.key.window) for t in limits))
    softirqs = base.find("softirqs").windows
    request = request_of("road-new-suites", windows=(*windows, *softirqs))
    run = lab(lava_jobs=page / "lava-jobs").run(request, lambda _note: None)
    assert run.complete, run.reason
    found = {(m.suite, m.name, m.unit) for m in run.measurements}
    assert found == {("switches", "switches_per_s", "1/s"), ("softirqs", "softirqs", "1")}
    assert {m.cpu for m in run.measurements if m.suite == "softirqs"} == {None, 2, 3, 4}
    assert all(m.value >= 0 for m in run.measurements)
