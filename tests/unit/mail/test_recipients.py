# SPDX-License-Identifier: GPL-2.0-or-later
"""Whom a report goes to, and why not to others."""

from dataclasses import replace

import pytest

from rtbisect.config.schema import MailEntry
from rtbisect.errors import ConfigError
from rtbisect.mail.recipients import propose
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import AddressSource, Refusal, Thread
from rtbisect.model.report import CommitText
from rtbisect.report.message import answers_to
from rtbisect.report.policy import Purpose, refusal

COMMIT = CommitText(
    sha="a" * 40,
    subject="epoll: Take another lock",
    author="An Author",
    author_email="author@kernel.example.org",
    date="2026-01-05T10:00:00+00:00",
    files=("fs/eventpoll.c",),
    committer="A Committer",
    committer_email="committer@kernel.example.org",
    signed_off=("An Author <author@kernel.example.org>", "Third <third@kernel.example.org>"),
    links=(
        "https://lore.kernel.org/r/cover@kernel.example.org",
        "https://patch.msgid.link/p1@x.example",
    ),
)
NAMED = (
    "Viro <viro@kernel.example.org> (maintainer:FILESYSTEMS (VFS))",
    "fs@lists.example.org (open list:FILESYSTEMS)",
)
RULES = MailEntry(lists={"eventpoll": "rt@lists.example.org"})
NOW = "2026-02-01T10:00:00+00:00"


def found(commit=COMMIT, rules=RULES, *, tracked=True, kind="mainline", named=NAMED, now=NOW):
    purpose = Purpose.TRACKED if tracked else Purpose.TOLD
    return propose(commit, kind, rules, named, now, purpose)


def reasons(people):
    return [(each.address, each.reason.kind, *each.reason.data.values()) for each in people]


def ruled(**changes):
    return RULES.model_copy(update=changes)


def test_who_wrote_and_who_keeps_it():
    who = found()
    assert [str(each) for each in who.to] == [
        "An Author <author@kernel.example.org>",
        "A Committer <committer@kernel.example.org>",
    ]
    assert reasons(who.cc) == [
        ("regressions@lists.linux.dev", AddressSource.REGRESSIONS, "mainline"),
        ("rt@lists.example.org", AddressSource.SITE, "eventpoll"),
        ("viro@kernel.example.org", AddressSource.MAINTAINER, "maintainer:FILESYSTEMS (VFS)"),
        ("fs@lists.example.org", AddressSource.MAINTAINER, "open list:FILESYSTEMS"),
        ("third@kernel.example.org", AddressSource.SIGNED_OFF),
    ]
    assert who.dropped == ()


@pytest.mark.parametrize(
    ("kind", "tracked", "lists"),
    [
        ("mainline", True, {"regressions@lists.linux.dev"}),
        ("stable", True, {"regressions@lists.linux.dev", "stable@vger.kernel.org"}),
        ("stable", False, set()),
    ],
)
def test_lists_for_regressions_get_regressions_of_their_trees(kind, tracked, lists):
    who = found(kind=kind, tracked=tracked)
    assert {each.address for each in who.cc if not each.address.endswith("example.org")} == lists


def test_the_patch_is_answered_while_it_is_fresh():
    assert found().parent == "<p1@x.example>"
    old = found(now="2026-06-01T10:00:00+00:00")
    assert (old.parent, old.thread) == ("", Finding.of(Thread.NOT_FRESH, age_days=147))
    assert found(now="2025-06-01T10:00:00+00:00").parent == ""
    assert found().thread == Finding.of(Thread.ANSWER, age_days=27)
    unknown = found(replace(COMMIT, date="some day"))
    assert (unknown.parent, unknown.thread.kind) == ("", Thread.UNKNOWN_AGE)
    lore = "https://lore.kernel.org/r/"
    bad = (lore, f"{lore}a%0AX:b@c", f"{lore}a%01@c.example", "mail me at a@b")
    bad += (f"{lore}%3D%3Futf-8%3Fq%3F%3DC3%3DA9%3F%3D@c.example",)
    for link in bad:
        assert found(replace(COMMIT, links=(link,))).thread.kind == Thread.NO_PATCH


def test_rules_of_the_site():
    rules = ruled(deny=("@lists.example.org",), opted_out=("VIRO@kernel.example.org",))
    who = found(rules=rules)
    assert {each.address: each.reason.kind for each in who.dropped} == {
        "rt@lists.example.org": Refusal.DENIED,
        "fs@lists.example.org": Refusal.DENIED,
        "viro@kernel.example.org": Refusal.OPTED_OUT,
    }
    only = found(rules=ruled(allow=("*@kernel.example.org",)))
    assert all(address.endswith("@kernel.example.org") for address in only.addresses)
    assert found(rules=ruled(most=3)).addresses == (
        "author@kernel.example.org", "committer@kernel.example.org", "regressions@lists.linux.dev",
    )  # fmt: skip
    with pytest.raises(ConfigError, match="nobody is left"):
        found(rules=ruled(deny=("*",)))


def test_where_the_author_takes_no_mail_another_is_written_to():
    who = found(replace(COMMIT, author_email="1+a@users.noreply.example.org", committer_email="x"))
    assert [each.address for each in who.to] == ["regressions@lists.linux.dev"]
    assert [each.reason.kind for each in who.dropped] == [
        Refusal.TAKES_NO_MAIL, Refusal.NO_ADDRESS,
    ]  # fmt: skip


def test_hundreds_are_cut():
    many = tuple(f"M <m{n}@example.org> (maintainer:X)" for n in range(400))
    who = found(named=many)
    assert len(who.addresses) == RULES.most
    assert len(who.dropped) > 380
    assert who.dropped[-1].reason == Finding.of(Refusal.TOO_MANY, most=RULES.most)


def test_a_maintainer_whose_name_has_brackets_is_written_to():
    line = '"A Keeper (Company)" <keeper@kernel.example.org> (maintainer:FILESYSTEMS (VFS))'
    who = found(named=(line,))
    keeper = next(each for each in who.cc if each.reason.kind == AddressSource.MAINTAINER)
    assert (keeper.address, keeper.name) == ("keeper@kernel.example.org", "A Keeper Company")
    assert keeper.reason.data["role"] == "maintainer:FILESYSTEMS (VFS)"
    assert who.dropped == ()


def test_an_address_that_a_person_adds_is_held_against_the_rules():
    assert refusal("a@example.org", MailEntry()) is None
    others = MailEntry(allow=["@example.net"])
    assert refusal("a@example.org", others) is Refusal.NOT_ALLOWED
    assert refusal("a b", MailEntry()) is Refusal.NO_ADDRESS
    assert refusal("A@example.org", MailEntry(), {"a@example.org"}) is None
    assert refusal("b@example.org", MailEntry(), {"a@example.org"}) is Refusal.NOT_PROPOSED
    assert refusal("b@example.net", others, {"a@example.org"}) is None


def test_stable_is_asked_to_pick_a_repair():
    who = propose(COMMIT, "mainline", RULES, (), NOW, Purpose.BACKPORT)
    assert "stable@vger.kernel.org" in who.addresses
    assert "regressions@lists.linux.dev" not in who.addresses


@pytest.mark.parametrize("address", ["john..doe@x.org", "a.@x.org", ".a@x.org", "a@x..org"])
def test_an_address_that_no_header_takes_is_dropped(address):
    who = found(replace(COMMIT, author_email=address))
    assert reasons(who.dropped) == [(address, Refusal.NO_ADDRESS)]


def test_the_long_id_of_a_patch_is_answered():
    left = "20231009-strncpy-drivers-net-ethernet-marvell-octeontx2-af-cgx-c-v1-1-a443e18f9de8"
    link = f"https://lore.kernel.org/r/{left}@kernel.example.org"
    who = found(replace(COMMIT, links=(link,)))
    assert who.parent == answers_to(who.parent) == f"<{left}@kernel.example.org>"


@pytest.mark.parametrize(
    "text",
    ["<a b@c>", "<a@b>\nBcc: x", "<\u00e9@x>", "a@b", "<>", "<<a@b>>", "<=?utf-8?q?=C3=A9?=@x>"],
)
def test_what_no_header_holds_is_no_id(text):
    assert answers_to(text) == ""


@pytest.mark.parametrize("text", ["<abc@host_name.local>", "<x@[10.0.0.1]>", "<a:b@c>"])
def test_what_others_write_as_an_id_is_one(text):
    assert answers_to(text) == text
