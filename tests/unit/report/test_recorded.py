# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails of campaigns that ran against their golden files; RTBISECT_UPDATE_GOLDEN=1 writes
them anew.
"""

import os

import pytest

from helpers.recorded import NAMES, written
from helpers.report_parts import GOLDEN
from rtbisect.report.lint.rules import lint

pytestmark = pytest.mark.words

PLACE = GOLDEN.parent / "recorded"


@pytest.mark.parametrize("name", NAMES)
def test_the_mail_of_a_recorded_campaign_is_its_golden_file(name, tmp_path, monkeypatch):
    _result, report = written(name, tmp_path, monkeypatch)
    for suffix, text in (("eml", report.eml), ("log", report.story)):
        golden = PLACE / f"{name}.{suffix}"
        if os.environ.get("RTBISECT_UPDATE_GOLDEN") == "1":
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(text, "ascii")
        assert text == golden.read_text("ascii")
    assert lint(report.eml.encode()) == ()


def test_no_golden_is_left_over():
    assert {path.stem for path in PLACE.iterdir()} == set(NAMES)
