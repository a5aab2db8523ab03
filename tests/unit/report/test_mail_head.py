# SPDX-License-Identifier: GPL-2.0-or-later
"""What is shown first of a mail."""

from helpers.report_parts import GOLDEN
from rtbisect.report.mail_head import head_of


def test_a_mail_begins_with_its_subject_in_one_line_and_its_first_section():
    eml = (GOLDEN.parent / "recorded/rcu.eml").read_text("ascii")
    subject, first = head_of(eml)
    head, _, body = eml.partition("\n\n")
    assert "\n" not in subject
    # The header is folded.
    assert f"Subject: {subject}" in head.replace("\n ", " ")
    assert "\n".join(first) == body.partition("\n\n")[0]


def test_a_mail_without_a_text_has_no_section():
    assert head_of("Subject: none\nContent-Type: image/png\n\n") == ("none", ())
