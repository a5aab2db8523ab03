# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole mails against their golden files; RTBISECT_UPDATE_GOLDEN=1 writes them anew."""

from email import message_from_bytes
from email.policy import default

import pytest

from helpers.golden import is_golden
from helpers.report_cases import CASES, STORY
from helpers.report_mails import NOTICES, PUBLIC
from helpers.report_parts import GOLDEN, settings
from rtbisect.report.draft import MAX_BYTES, MOST_LINES, DraftMailer
from rtbisect.report.lint.rules import lint

pytestmark = pytest.mark.words

HEADERS = [
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "X-rtbisect-Campaign",
    "X-rtbisect-Outcome",
    "X-rtbisect-State",
    "Content-Type",
    "Content-Transfer-Encoding",
    "MIME-Version",
]


@pytest.fixture(params=sorted(CASES))
def case(request, tmp_path):
    report = DraftMailer(settings(tmp_path)).draft(CASES[request.param](), STORY)
    return request.param, report


@pytest.mark.parametrize("suffix", ["eml", "log"])
def test_mail_is_its_golden_file(case, suffix):
    name, report = case
    text = report.eml if suffix == "eml" else report.story
    is_golden(GOLDEN / f"{name}.{suffix}", text)


@pytest.mark.parametrize("name", sorted(NOTICES))
def test_a_notice_is_its_golden_file(name, tmp_path):
    template, headers, told = NOTICES[name]()
    text = DraftMailer(settings(tmp_path)).notice(template, headers, told)
    is_golden(GOLDEN / f"{name}.eml", text)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_mail_to_other_people_is_its_golden_file(name, tmp_path):
    text = DraftMailer(settings(tmp_path)).public(*PUBLIC[name]())
    is_golden(GOLDEN / f"{name}.eml", text)


def test_drafts_have_these_headers(case):
    mail = message_from_bytes((GOLDEN / f"{case[0]}.eml").read_bytes(), policy=default)
    assert [name for name in mail if name != "X-rtbisect-Kind"] == HEADERS


@pytest.mark.parametrize("place", sorted(GOLDEN.glob("*.eml")), ids=lambda path: path.stem)
def test_golden_mails_keep_the_rules(place):
    raw = place.read_bytes()
    assert raw.isascii()
    assert lint(raw) == ()
    mail = message_from_bytes(raw, policy=default)
    assert not mail.defects
    assert mail.get_content_type() == "text/plain"
    assert mail.get_content_charset() == "us-ascii"
    assert mail["Content-Transfer-Encoding"] == "7bit"
    assert "format" not in mail["Content-Type"].params
    body = mail.get_content()
    lines = body.splitlines()
    assert len(lines) <= MOST_LINES
    assert len(body) <= MAX_BYTES
    # Tags and commands to regzbot are one line, however long.
    folded = [line for line in lines if not line.lstrip().startswith(("Fixes: ", "#regzbot "))]
    assert max(map(len, folded)) <= 76
    assert all(len(line) <= 72 for line in folded if line[:1].isalpha())
    assert all(line == line.rstrip() for line in lines)
    assert "\n\n\n" not in body
    assert max(map(len, raw.decode().split("\n\n")[0].splitlines())) <= 78


def test_no_golden_is_left_over():
    assert {path.stem for path in GOLDEN.iterdir()} == {*CASES, *NOTICES, *PUBLIC}
