# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits and scripts that want to write headers of our mails."""

import email
from dataclasses import replace
from email.policy import default

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.depth import deep
from rtbisect.config.schema import MailEntry
from rtbisect.mail.recipients import propose
from rtbisect.model.report import CommitText
from rtbisect.report.lint.form import ADDRESS
from rtbisect.report.policy import Purpose
from rtbisect.words.speak import speak

COMMIT = CommitText(
    sha="a" * 40,
    subject="title",
    author="An Author",
    author_email="author@kernel.example.org",
    date="",
    files=("fs/x.c",),
)
NOW = "2026-02-01T10:00:00+00:00"

HOSTILE = st.text(max_size=60) | st.sampled_from(
    ["a@b.example\nBcc: x@y.example", "=?utf-8?q?x?= <a@b.example>", '"; X: y" <a@b.example>',
     "x@y.example, z@y.example", "<a@b.example> <c@d.example>", "\u202eevil <a@b.example>"]
)  # fmt: skip


@settings(max_examples=deep(100, 400))
@given(
    st.builds(
        replace,
        st.just(COMMIT),
        author=HOSTILE,
        author_email=HOSTILE,
        committer=HOSTILE,
        committer_email=HOSTILE,
        signed_off=st.lists(HOSTILE, max_size=4).map(tuple),
        links=st.lists(HOSTILE.map("https://lore.kernel.org/r/".__add__), max_size=3).map(tuple),
        date=HOSTILE,
    ),
    st.lists(HOSTILE, max_size=6).map(tuple),
)
def test_no_commit_adds_a_header(commit, named):
    named = (*named, "L <l@lists.example.org> (list)")
    who = propose(commit, "mainline", MailEntry(), named, NOW, Purpose.TRACKED)
    text = "".join(
        f"{name}: {', '.join(map(str, each))}\n" for name, each in (("To", who.to), ("Cc", who.cc))
    )
    text += f"In-Reply-To: {who.parent}\n\n"
    mail = email.message_from_string(text, policy=default)
    assert mail.keys() == ["To", "Cc", "In-Reply-To"]
    assert text.isascii()
    assert text.count("\n") == 4
    read = [each.addr_spec for name in ("To", "Cc") for each in mail[name].addresses]
    assert tuple(read) == who.addresses
    assert all(ADDRESS.fullmatch(each) for each in read)
    everybody = (*who.to, *who.cc, *who.dropped)
    assert all(str(speak(each.reason)).isascii() for each in everybody)
