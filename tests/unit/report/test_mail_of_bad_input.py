# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails about campaigns of which nothing is as a mail would like it."""

from dataclasses import replace

import pytest

from helpers.drafts import body, parsed
from helpers.page_cases import badly_told, many_candidates
from helpers.report_cases import hang, rcu
from helpers.report_parts import BOARD
from rtbisect.report.draft import MOST_LINES
from rtbisect.report.lint.rules import lint
from rtbisect.report.text import PROSE, TABLE

#: 256 CPUs, none of them beside the next.
EVERY_OTHER = ",".join(str(cpu) for cpu in range(0, 512, 2))


def wide():
    """A machine of so many CPUs that no line holds their list."""
    line = f"nohz_full={EVERY_OTHER} isolcpus={EVERY_OTHER}"
    profile = replace(rcu().profile, isolated=EVERY_OTHER, watch=EVERY_OTHER, boot_line=line)
    return replace(rcu(), profile=profile, device=replace(BOARD, sockets=8, cores=64))


def nameless():
    return replace(rcu(), culprit=replace(rcu().culprit, author="", author_email=""))


def long_stack():
    stack = "rtbisect-stack: reader: " + " < ".join(
        f"a_rather_long_function_{n}" for n in range(40)
    )
    return replace(hang(), excerpt=(stack,) * 16)


CASES = {
    "badly told": lambda: badly_told()[0],
    "forty candidates": many_candidates,
    "many CPUs": wide,
    "author without a name": nameless,
    "a stack of many functions": long_stack,
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_mail_keeps_its_form(mailer, case):
    text = body(mailer, CASES[case]())
    lines = text.splitlines()
    assert text.isascii()
    assert len(lines) <= MOST_LINES
    for line in lines:
        # What has no blank is broken nowhere.
        assert len(line) <= (PROSE if line[:1].isalpha() else TABLE) or len(line.split()) <= 2
    assert "<script" not in parsed(mailer.draft(CASES[case](), ()).eml)["Subject"]


@pytest.mark.words
@pytest.mark.parametrize("case", ["many CPUs", "author without a name"])
def test_a_draft_is_clean(mailer, case):
    assert lint(mailer.draft(CASES[case](), ()).eml.encode()) == ()
