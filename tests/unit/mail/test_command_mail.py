# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies: kind ones, forged ones, those of programs."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtbisect.config.schema import Commands
from rtbisect.mail.command_mail import SenderRules, read_reply
from rtbisect.mail.fake import FakeThreads
from rtbisect.mail.reply_text import ReplyCommand
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Ignored, NoText, Untrusted

TRUST = SenderRules(
    own="bot@lab.example.org",
    commands=Commands(people=["ada@kernel.example.org"], trusted=["mx.lab.example.org"]),
)
THREADS = {"<r1@lab.example.org>": "bisect-1", "<r2@lab.example.org>": "bisect-2"}
GOOD = (
    "mx.lab.example.org; spf=pass smtp.mailfrom=x; dkim=pass (2048-bit) header.d=kernel.example.org"
)

MX, D = "mx.lab.example.org", "kernel.example.org"
FROM_EVIL = f"{MX}; dkim=pass header.d=evil.org"

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)

HEADERS = {
    "Authentication-Results": GOOD,
    "DKIM-Signature": "v=1; a=rsa-sha256; d=kernel.example.org; s=s1; b=abcd; bh=x;"
    " h=From:Subject:Date:Message-ID:In-Reply-To:References:Content-Type:Content-Transfer-Encoding",
    "Date": "Mon, 02 Mar 2026 10:00:00 +0000",
    "From": "Ada <ada@kernel.example.org>",
    "Subject": "Re: a report",
    "Message-ID": "<a1@kernel.example.org>",
    "In-Reply-To": "<r1@lab.example.org>",
    "References": "<r1@lab.example.org>",
}


def reply(body="#rtbisect test fixes/one\n", *, giant=False, raw=(), **changes):
    told = HEADERS | {name.replace("_", "-"): value for name, value in changes.items()}
    lines = [*raw, *(f"{name}: {value}" for name, value in told.items() if value is not None)]
    data = ("\n".join(lines) + "\n\n" + body).encode()
    return read_reply(data, FakeThreads(THREADS), TRUST, NOW, giant=giant)


def test_a_signed_word_of_who_may_ask_counts():
    found = reply()
    assert (found.campaign, found.sender) == ("bisect-1", "ada@kernel.example.org")
    assert found.asked == (ReplyCommand("test", "fixes/one"),)
    assert (found.ignored, found.untrusted) == (None, None)


NO_GOOD, NO_SERVER = Untrusted.NO_SIGNATURE, Untrusted.NO_SERVER


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"From": "Eve <eve@kernel.example.org>"}, Untrusted.STRANGER),
        ({"From": "Ada <ada@kernel.example.org>, Eve <eve@example.org>"}, None),
        ({"Authentication_Results": None}, NO_SERVER),
        ({"Authentication_Results": GOOD.replace("mx.lab", "mx.evil")}, NO_SERVER),
        ({"Authentication_Results": GOOD.replace("dkim=pass", "dkim=fail")}, NO_GOOD),
        ({"Authentication_Results": GOOD.replace("dkim=pass", "x=dkim=pass")}, NO_GOOD),
        ({"Authentication_Results": GOOD.replace("d=kernel", "d=evil")}, NO_GOOD),
        ({"Authentication_Results": GOOD.replace("=kernel.example.org", "=org")}, NO_GOOD),
        ({"Authentication_Results": "mx.lab.example.org; none"}, NO_GOOD),
        ({"Authentication_Results": f"{FROM_EVIL} header.i=header.d={D}@evil.org"}, NO_GOOD),
        ({"Authentication_Results": f"{FROM_EVIL} header.d={D}"}, NO_GOOD),
        ({"Authentication_Results": f"{MX}; dkim=pass header.i=a@{D} header.i=@evil.org"},
         NO_GOOD),
        ({"Authentication_Results": f'{MX}; dkim=pass header.i="{D}"@evil.org'}, NO_GOOD),
        ({"Authentication_Results": f"{FROM_EVIL} header.i=@{D}"}, NO_GOOD),
        ({"Authentication_Results": f'{MX}; dkim=pass header.d="evil.org" header.i=@{D}'},
         NO_GOOD),
        ({"Authentication_Results": f'{MX}; spf=pass smtp.mailfrom="x; dkim=pass header.d={D}"'
          "@evil.org; dkim=none"}, NO_GOOD),
        ({"Authentication_Results": f'{MX}; spf=pass (mx: domain of "a) ; dkim=pass header.d={D} ("'
          "@evil.org designates it); dkim=none"}, NO_SERVER),
        ({"Authentication_Results": f"{MX}; x=y (a (b) ; dkim=pass header.d={D} ); dkim=none"},
         NO_GOOD),
        ({"Authentication_Results": f"{MX}; dkim=pass header.d={D} (never"}, NO_SERVER),
        ({"Authentication_Results": f'{MX}; dkim=pass header.d={D} "never'}, NO_SERVER),
        (
            {"Authentication_Results": "mx.lab.example.org; dkim=fail (dkim=pass header.d="
             "kernel.example.org) header.d=kernel.example.org"},
            NO_GOOD,
        ),
    ],
)  # fmt: skip
def test_what_nobody_proves_waits_for_a_person(changes, why):
    found = reply(**changes)
    if why is None:
        assert found.ignored.kind == Ignored.NO_SENDER
    else:
        assert found.untrusted.kind == why
        assert found.asked
        assert found.ignored is None


def test_only_the_topmost_results_are_our_servers():
    forged = reply(raw=("Authentication-Results: mx.evil.example.org; dkim=pass header.d=x.org",))
    assert forged.untrusted.kind == NO_SERVER
    # Ours on top of a forged one: what ours says counts.
    good = f"Authentication-Results: {GOOD}"
    ours = reply(raw=(good.replace("dkim=pass", "dkim=fail"),))
    assert ours.untrusted == Finding.of(NO_GOOD, domain=D)


def test_a_signature_of_the_organisation_speaks_for_its_hosts():
    of_all = {
        name.replace("-", "_"): HEADERS[name].replace("=kernel.example.org", "=example.org")
        for name in ("Authentication-Results", "DKIM-Signature")
    }
    assert reply(**of_all).untrusted is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"Auto_Submitted": "auto-replied"}, Ignored.PROGRAM),
        ({"X_Autoreply": "yes"}, Ignored.PROGRAM),
        ({"Return_Path": "<>"}, Ignored.MAIL_SERVER),
        ({"From": "MAILER-DAEMON@mx.example.org"}, Ignored.MAIL_SERVER),
        ({"From": "Bot <bot@lab.example.org>"}, Ignored.OURS),
        ({"From": None}, Ignored.NO_SENDER),
        ({"Content_Type": "multipart/report"}, Ignored.MAIL_SERVER),
        ({"In_Reply_To": "<x@y>", "References": "<z@y>"}, Ignored.NO_THREAD),
    ],
)
def test_programs_and_strangers_are_not_answered(changes, why):
    found = reply(**changes)
    assert found.ignored.kind == why
    assert found.asked == ()


def test_list_servers_are_no_programs():
    assert reply(Precedence="bulk", List_Id="<rt.lists.example.org>").ignored is None


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("Hello\n\n#rtbisect test: fixes/two  \nBye\n", [("test", "fixes/two")]),
        ("> #rtbisect test x\n", []),
        (" #rtbisect test x\n", []),
        ("#rtbisect explode x\n", []),
        ("say #rtbisect test x\n", []),
        (
            "#rtbisect retest\n#rtbisect invalid the tool\n",
            [("retest", ""), ("invalid", "the tool")],
        ),
        ("#rtbisect dup <x@y>\r\n", [("dup", "<x@y>")]),
        ("#rtbisect retest\n" * 50, [("retest", "")] * 5),
        ("#rtbisect test " + "x" * 2000, None),
        ("#rtbisect test a\x1b[2Jb\n", None),
    ],
)
def test_commands_stand_on_lines_of_their_own(body, asked):
    found = reply(body)
    if asked is not None:
        assert [(each.name, each.argument) for each in found.asked] == asked
    else:
        (one,) = found.asked
        assert one.argument.isprintable()
        assert len(one.argument) <= 320


def test_html_and_giants_have_no_commands():
    found = reply("<p>#rtbisect test x</p>", Content_Type="text/html")
    assert found.untrusted.kind == NoText.NOT_PLAIN
    found = reply(giant=True)
    assert (found.asked, found.untrusted.kind) == ((), NoText.TOO_LARGE)


def test_the_last_mail_of_ours_in_a_thread_is_meant():
    found = reply(In_Reply_To="<x@y>", References="<r1@lab.example.org> <r2@lab.example.org> <x@y>")
    assert found.campaign == "bisect-2"


def test_a_part_of_a_mail_may_be_encoded():
    body = """--x
Content-Type: text/plain; charset=nonsense
Content-Transfer-Encoding: base64

I3J0YmlzZWN0IHJldGVzdAo=
--x
Content-Type: text/html

<p>
--x--
"""
    found = reply(body, Content_Type='multipart/alternative; boundary="x"')
    assert [each.name for each in found.asked] == ["retest"]


@given(st.binary(max_size=400), st.booleans())
def test_no_bytes_are_an_error(data, giant):
    found = read_reply(data, FakeThreads(THREADS), TRUST, NOW, giant=giant)
    assert found.ignored
    assert found.subject.isprintable()
    head = b"From: ada@kernel.example.org\nIn-Reply-To: <r1@lab.example.org>\n"
    assert (
        read_reply(head + data, FakeThreads(THREADS), TRUST, NOW, giant=giant).asked == ()
        or b"#rtbisect" in data
    )


@pytest.mark.parametrize(
    "told",
    [
        f'{MX}; dkim=pass header.d="{D}"',
        f"{MX}; dkim=pass header.i=@{D} header.s=s1 header.b=abc; spf=pass (x: y) smtp.mailfrom=z",
        f'{MX}; spf=pass (mx: domain of "l+x=y@l.example.org" is it); dkim=pass header.d={D}',
        f"{MX} 1; arc=none; dkim=fail header.d=evil.org; dkim = pass header.d = {D} header.s=s1",
        f"{MX}; dkim=pass (a (nested) comment; of \\) it) header.d={D.upper()}",
        f'(hello) {MX}; dkim/1=pass reason="good; signature" header.d={D}',
        f'{MX}; dkim=pass header.d="{D}" header.s=s1 x-note=a; dmarc=pass action=none;',
    ],
)
def test_good_signatures_in_other_words(told):
    assert reply(Authentication_Results=told).untrusted is None


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_a_quoted_line_has_no_line_in_it(end):
    assert reply(f"> blah{end}#rtbisect test evil\n").asked == ()


BAD = [
    {"Content_Type": "text/plain; charset=idna"},
    {"Content_Type": "text/plain; charset=undefined"},
    {"Content_Type": 'text/plain; charset="a\0b"'},
    {"Content_Type": "text/plain; charset*=a''b; charset*0=c"},
    {"Content_Type": f"text/plain; charset*{'1' * 5000}=c"},
    {"Content_Disposition": "inline; filename*=idna''x%ff"},
    {"Content_Type": "text/plain; charset=punycode"},
]


@pytest.mark.parametrize("changes", BAD)
def test_what_breaks_parsers_is_a_mail_that_says_nothing_or_its_text(changes):
    found = reply("#rtbisect retest\n\u00ff", **changes)
    assert found.asked == (ReplyCommand("retest", ""),) or (found.ignored and not found.asked)


@pytest.mark.parametrize("kind", ["message/rfc822", "multipart/mixed; boundary=b"])
def test_a_mail_that_is_nested_without_end_is_ignored(kind):
    inner = f"Content-Type: {kind}\n\n" + ("--b\n" if "b" in kind.partition(";")[2] else "")
    found = reply(inner * 3000, Content_Type=kind)
    assert found.asked == ()
