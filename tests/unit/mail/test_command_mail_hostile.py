# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails by people who want something else than the person whose name stands there: genuine ones
that come again with something replaced.

The mails are what our mail server delivers: it has checked the signature and put its results on
top. What a signature does not name may have been put there by anybody since.
"""

import pytest

from helpers.command_mails import GOOD, MX, TRUST, USUAL, T, counts, read, signed
from rtbisect.mail.reply_text import ReplyCommand
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Ignored, Untrusted

# --- a genuine mail ---

#: The headers that mail servers sign, as they were seen in mails.
SERVERS = {
    "all": "from:from:reply-to:subject:subject:date:date:message-id:message-id:to:to:cc:cc:"
    "mime-version:mime-version:content-type:content-type:in-reply-to:in-reply-to:"
    "references:references:content-transfer-encoding:content-transfer-encoding",
    "without content": "to:subject:message-id:date:from:in-reply-to:references:mime-version:"
    "from:to:cc:subject:date:message-id:reply-to",
    "without message-id": "Date:From:To:Cc:Subject:References:In-Reply-To:From",
    "usual": USUAL,
    "folded": "from : to :\n cc:subject:date\n :in-reply-to",
}
CONTENT = {
    "no header": {},
    "7bit": {"Content_Type": "text/plain; charset=us-ascii", "MIME_Version": "1.0"},
    "8bit": {
        "Content_Type": 'text/plain; charset="UTF-8"; format=flowed',
        "Content_Transfer_Encoding": "8bit",
        "MIME_Version": "1.0",
    },
}


@pytest.mark.parametrize("headers", SERVERS.values(), ids=SERVERS)
@pytest.mark.parametrize("content", CONTENT.values(), ids=CONTENT)
@pytest.mark.parametrize("tells", ["", " header.s=s1", " header.s=s1 header.b=abcd1"])
def test_a_genuine_reply_counts(headers, content, tells):
    found = read(signature=signed(headers), result=GOOD + tells, **content)
    assert (found.asked, found.campaign) == ((ReplyCommand("test", "fixes/one"),), "bisect-1")
    assert (found.ignored, found.untrusted, found.proved) == (None, None, True)


def test_encoded_text_counts_where_its_encoding_is_signed():
    told = {
        "Content_Type": "text/plain; charset=utf-8",
        "Content_Transfer_Encoding": "base64",
        "MIME_Version": "1.0",
    }
    body = "I3J0YmlzZWN0IHJldGVzdAo=\n"
    assert counts(read(body, signature=signed(SERVERS["all"]), **told))
    found = read(body, **told)
    assert (found.asked, found.untrusted.kind) == (
        (ReplyCommand("retest", ""),),
        Untrusted.TYPE_OPEN,
    )


@pytest.mark.parametrize("name", ["bisect-2", "<r2@lab.example.org>", "r2@lab.example.org"])
def test_the_text_itself_may_say_which_report_it_is_about(name):
    """For servers that sign neither In-Reply-To: nor References:."""
    headers = "From:Date:Subject:Message-ID:Content-Type:MIME-Version"
    found = read(f"#rtbisect for {name}\n#rtbisect retest\n", signature=signed(headers))
    assert (found.campaign, counts(found)) == ("bisect-2", True)
    assert not counts(read(signature=signed(headers)))
    two = read("#rtbisect for bisect-1\n#rtbisect for bisect-2\n#rtbisect retest\n",
               signature=signed(headers))  # fmt: skip
    assert not counts(two)


# --- a genuine mail that comes again, with something replaced ---


@pytest.mark.parametrize(
    "line",
    [
        "Message-ID: <z@evil.example.org>", "In-Reply-To: <r2@lab.example.org>",
        "References: <r2@lab.example.org>", "Date: Mon, 02 Mar 2026 11:00:00 +0000",
        "Subject: another", "From: Eve <eve@evil.example.org>", "Content-Type: text/plain",
        "in-reply-to: <r2@lab.example.org>",
        "Content-Transfer-Encoding: 7bit",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["top", "bottom"])
def test_a_doubled_header_is_refused(line, place):
    content = {"Content_Type": "text/plain", "Content_Transfer_Encoding": "7bit"}
    found = read(**{place: (line,)}, **content)
    assert found.ignored == Finding.of(Ignored.TWO_HEADERS, header=line.partition(":")[0].lower())
    assert found.asked == ()


@pytest.mark.parametrize("missing", ["In-Reply-To", "References", "both"])
def test_an_unsigned_in_reply_to_that_was_replaced_moves_nothing(missing):
    names = ("In-Reply-To", "References") if missing == "both" else (missing,)
    headers = ":".join(name for name in USUAL.split(":") if name not in names)
    moved = {name.replace("-", "_"): "<r2@lab.example.org>" for name in names}
    found = read(signature=signed(headers), **moved)
    # Where the other one is signed, it says which report is meant, and they disagree.
    assert (found.asked, counts(found)) == (
        (ReplyCommand("test", "fixes/one"),),
        missing == "References",
    )
    if found.campaign != "bisect-1":
        assert found.untrusted == Finding.of(
            Untrusted.THREAD_OPEN, about="for", campaign=found.campaign
        )


def test_a_header_that_was_put_where_none_was_moves_nothing():
    """The report is named by References: alone, which is signed."""
    headers = USUAL.replace("In-Reply-To:", "")
    found = read(signature=signed(headers), In_Reply_To="<r2@lab.example.org>")
    assert not counts(found)


def test_a_body_that_goes_on_behind_its_signed_length():
    found = read("Thank you.\n#rtbisect test evil\n", signature=signed(more=" l=11;"))
    assert found.untrusted.kind == Untrusted.BODY_OPEN


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        # It was of parts, and what is a part that was attached is now the text.
        (
            (
                "--x\nContent-Type: text/plain\n\nHello\n--x\nContent-Type: message/rfc822\n\n"
                "Subject: y\n\n#rtbisect test evil\n--x--\n"
            ),
            {"Content_Type": "text/plain"},
        ),
        # Another boundary, which stands in a part that was attached.
        (
            (
                "--x\n\nHello\n--x\nContent-Type: application/x\n\n--y\n\n"
                "#rtbisect test evil\n--y--\n--x--\n"
            ),
            {"Content_Type": "multipart/mixed; boundary=y"},
        ),
        # A quoted line was folded, and its second half is a line now.
        ("> " + "y" * 70 + "=\n#rtbisect test evil\n", {"Content_Transfer_Encoding": "7bit"}),
        ("I3J0YmlzZWN0IHJldGVzdAo=\n", {"Content_Transfer_Encoding": "base64"}),
        ("<html><pre>\n#rtbisect test evil\n</pre>", {"Content_Type": "text/plain"}),
    ],
)
def test_a_text_that_is_read_in_another_way_than_it_was_signed(body, changes):
    found = read(body, **changes)
    assert found.asked
    assert found.untrusted.kind == Untrusted.TYPE_OPEN


OLD = Finding.of(Untrusted.OLD, most_days=TRUST.commands.days)
FUTURE = Finding.of(Untrusted.FUTURE)
NO_TIME = Finding.of(Untrusted.TIME_OPEN)


@pytest.mark.parametrize(
    ("date", "more", "why"),
    [
        ("Mon, 02 Feb 2026 10:00:00 +0000", "", OLD),
        ("Thu, 01 Jan 1970 00:00:00 +0000", "", OLD),
        ("Mon, 02 Mar 2037 10:00:00 +0000", "", FUTURE),
        ("Mon, 02 Mar 99999 10:00:00 +0000", "", NO_TIME),
        ("yesterday", "", NO_TIME),
        ("", "", NO_TIME),
        # When it was signed counts before what its author says.
        ("Mon, 02 Mar 2026 10:00:00 +0000", f" t={T - 40 * 86400};", OLD),
        ("Mon, 02 Mar 2026 10:00:00 +0000", f" t={T + 40 * 86400};", FUTURE),
        ("Mon, 02 Mar 2026 10:00:00 +0000", f" t={'9' * 400};", None),
        ("Mon, 02 Feb 2026 10:00:00 +0000", f" t={T};", None),
    ],
)
def test_a_mail_of_another_time_waits(date, more, why):
    found = read(Date=date, signature=signed(more=more))
    assert (found.untrusted, counts(found)) == (why, not why)


def test_a_date_that_is_not_signed_is_none():
    found = read(signature=signed(USUAL.replace("Date:", "")))
    assert found.untrusted == NO_TIME


def test_copies_of_a_mail_have_one_digest_whatever_is_unsigned():
    headers = "From:Date:In-Reply-To"
    first = read(signature=signed(headers))
    again = read(signature=signed(headers), Message_ID="<z@evil.example.org>", Subject="Other")
    timed = USUAL.replace("Date:", "")
    third = read(signature=signed(timed, f" t={T};"))
    fourth = read(signature=signed(timed, f" t={T};"), Date="Mon, 02 Mar 2026 11:11:11 +0000")
    assert counts(first)
    assert first.digest == again.digest
    assert third.digest == fourth.digest
    assert first.digest != read("#rtbisect retest\n").digest


# --- signatures and results that are not what they seem ---


@pytest.mark.parametrize(
    "top",
    [
        # Lists everything, and is not the one that was found good.
        signed(SERVERS["all"]), signed(SERVERS["all"], value="ffff1234"),
        signed(SERVERS["all"]).replace("s=s1", "s=s2"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["top", "bottom"])
@pytest.mark.parametrize("tells", ["", " header.s=s1", " header.s=s1 header.b=abcd1234"])
def test_a_second_signature_that_is_not_good_covers_nothing(top, place, tells):
    weak = signed("From:Date")
    found = read(signature=weak, result=GOOD + tells, **{place: (top,)})
    assert found.asked
    assert found.untrusted.kind == Untrusted.THREAD_OPEN


def test_an_identity_of_a_part_of_the_domain_is_no_way_around():
    good = GOOD.replace("header.d=kernel", "header.i=@kernel")
    fake = signed(SERVERS["all"]).replace("d=kernel.example.org", "d=example.org")
    found = read(signature=signed("From:Date"), result=good, top=(fake,))
    assert not counts(found)


def test_results_by_the_sender():
    forged = GOOD.replace("example.org;", "example.org ;")
    bad = GOOD.replace("dkim=pass", "dkim=fail")
    # Below those of our server.
    assert not counts(read(result=bad, top=(forged,)))
    assert not counts(read(result=bad, bottom=(forged,)))
    # Above them, by a server that we do not trust, or under a name that only looks like it.
    assert not counts(read(result=GOOD.replace(MX, "mx.evil.example.org"), top=(GOOD,)))
    assert not counts(read(result=GOOD.replace("Results:", "Results :"), top=(bad,)))
    # As a part of what our server repeats.
    repeated = f'Authentication-Results: {MX}; spf=fail smtp.mailfrom="x; dkim=pass header.d="'
    assert not counts(read(result=repeated))


@pytest.mark.parametrize(
    "signature",
    [
        "X-Nothing: 1", signed("From") + " " * 9000, signed(more=" h=From;"),
        "DKIM-Signature: nonsense", "DKIM-Signature: ;;;=;", signed().replace("h=", "x="),
        "\n".join([signed()] * 30),
    ],
)  # fmt: skip
def test_a_signature_that_cannot_be_read_covers_nothing(signature):
    found = read(signature=signature)
    assert found.asked
    assert found.untrusted


@pytest.mark.parametrize(
    "sender",
    [
        "Ada <ada@kernel.example.org>, Eve <eve@evil.example.org>",
        "Eve <eve@evil.example.org>, Ada <ada@kernel.example.org>",
        '"ada@kernel.example.org" <eve@evil.example.org>',
        "ada@kernel.example.org <eve@evil.example.org>",
        "=?utf-8?q?ada=40kernel=2Eexample=2Eorg?= <eve@evil.example.org>",
        "Ada <ada@kernel.example.org>\n <eve@evil.example.org>",
        "a" * 100_000 + "@kernel.example.org",
        "group: ada@kernel.example.org, eve@evil.example.org;",
    ],
)
def test_a_sender_who_is_two_or_another(sender):
    assert not counts(read(From=sender))


# --- where one reader ends a line or a header, and the other one does not ---


@pytest.mark.parametrize(
    "line",
    [
        "X-Evil: a\r\r#rtbisect test evil", "X-Evil: a\rIn-Reply-To: <r2@lab.example.org>",
        "X-Evil: a\r\n\r\r\n#rtbisect test evil", "no header at all", "X-Evil\0: a",
        "X\u00e9: a", "X-Evil : a", "In-Reply-To : <r2@lab.example.org>",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["top", "bottom"])
def test_a_header_that_others_read_in_another_way(line, place):
    assert not counts(read(**{place: (line,)}))


@pytest.mark.parametrize("body", [b"\0#rtbisect test evil\n", b"> a\r#rtbisect test evil\n"])
def test_bytes_in_a_body_that_end_lines_for_some(body):
    assert not counts(read(body))


def test_bytes_of_no_charset_are_text():
    found = read(b"\xff\xfe gr\xfc\xdfe\n#rtbisect retest\n")
    assert (found.asked, counts(found)) == ((ReplyCommand("retest", ""),), True)
