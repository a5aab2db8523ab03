# SPDX-License-Identifier: GPL-2.0-or-later
"""Revisions of a mail have the names that tags give them, and their shas where none does."""

from dataclasses import replace

import pytest

from helpers.findings import first
from helpers.report_cases import inconclusive, rcu
from helpers.report_parts import BOT, sha
from rtbisect.model.kinds.report import Found
from rtbisect.report.commit_view import revision_name
from rtbisect.report.kernel_table import kernel_table
from rtbisect.report.letter import letter
from rtbisect.report.message import subject


def range_of(report):
    found = first(letter(report, BOT).said, Found.RANGE)
    return found["older"], found["newer"]


def test_the_ends_of_a_range_have_their_tags():
    assert range_of(rcu()) == ("v6.12.3", "v6.12.10")
    assert range_of(replace(rcu(), names=())) == (sha(1)[:12], sha(17)[:12])
    ((newest),) = first(letter(rcu(), BOT).said, Found.STILL).values()
    assert newest == "v6.12.10"


def test_a_subject_has_them_too():
    report = replace(inconclusive(), names=((inconclusive().newer, "v6.12.10"),))
    assert all(name in subject(report) for name in (report.older[:12], "v6.12.10"))


@pytest.mark.parametrize(
    ("name", "told"),
    [("v6.12.9~2", "v6.12.9~2"), ("v6.12.10-rt3~14^2~31", sha(8)[:12])],
    ids=["short", "no room"],
)
def test_the_parent_has_its_tag_where_the_table_has_room(name, told):
    lines = kernel_table(replace(rcu(), names=((sha(8), name),)))
    (parent,) = (line for line in lines if line.strip().startswith("parent "))
    assert parent.split()[1] == told


@pytest.mark.parametrize(
    "name", ["v7\nBcc: x@example.org", "\u202ev7", "v7 Fixes: 1", "#regzbot x"]
)
def test_a_name_stays_in_its_place(name):
    told = revision_name(replace(rcu(), names=((rcu().older, name),)), rcu().older)
    assert told.isascii()
    assert told.isprintable()
    assert "Fixes: " not in told
    assert "#regzbot" not in told


def test_a_revision_that_is_no_sha_has_no_name_of_another():
    assert revision_name(rcu(), "") == ""
