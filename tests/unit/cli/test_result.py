# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of a campaign on a screen."""

from types import SimpleNamespace

import pytest

from helpers.report_cases import rcu
from rtbisect.cli.result import opening, text_of
from rtbisect.model.campaign import CampaignKind, CampaignRequest
from rtbisect.report.input_file import INPUT, input_json
from rtbisect.report.letter import opening_of
from rtbisect.report.wording import said


@pytest.fixture
def record(tmp_path):
    """A campaign whose report lies in a folder of the test."""
    report = rcu()
    request = CampaignRequest(
        kind=CampaignKind.BISECT, site="", tree=report.tree, older=report.older, newer=report.newer
    )
    (tmp_path / INPUT).write_text(input_json(report))
    return SimpleNamespace(
        id=report.campaign,
        kind=CampaignKind.BISECT,
        request=request,
        result=report.result,
        report=SimpleNamespace(folder=tmp_path, path=str(tmp_path / "report.eml")),
    )


def test_a_screen_says_what_the_mail_opens_with(record):
    text = " ".join(text_of(record, rcu().summary, (), opening(record)).split())
    for finding in opening_of(rcu()):
        assert said(rcu(), finding, 600) in text


@pytest.mark.parametrize("kept", [None, b"{", b"\xff"])
def test_an_answer_is_shown_without_its_mail(record, kept):
    place = record.report.folder / INPUT
    if kept is None:
        place.unlink()
    else:
        place.write_bytes(kept)
    text = text_of(record, rcu().summary, (), opening(record))
    assert text.startswith(f"{record.id}: {record.result.outcome}")
    assert said(rcu(), opening_of(rcu())[0], 600) not in " ".join(text.split())


def test_a_list_of_campaigns_reads_no_mail(record):
    """There may be thousands of them."""
    text = text_of(record, rcu().summary)
    assert said(rcu(), opening_of(rcu())[0], 600) not in " ".join(text.split())
