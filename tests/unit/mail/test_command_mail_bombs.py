# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails that are to keep us busy: the work grows with what was sent, and never by its square."""

import sys

import pytest

from helpers.command_mails import GOOD, KNOWN, NOW, TRUST, counts, mail, read, signed
from rtbisect.mail.command_mail import read_reply
from rtbisect.mail.fake import FakeThreads
from rtbisect.model.kinds.mail import Ignored

N = 10_000


def nested(n):
    """Parts within parts, each with a boundary of its own."""
    head = "".join(
        f"--b{k}\nContent-Type: multipart/mixed; boundary=b{k + 1}\n\n" for k in range(n)
    )
    return head + "x\n" * n


BOMBS = {
    "subject": lambda n: mail(Subject="[1/1" * n),
    "words that are encoded": lambda n: mail(Subject="=?utf-8?q?=41?= " * n),
    "words in words": lambda n: mail(Subject="=?utf-8?q?" * n),
    "blanks": lambda n: mail(Subject=" \n " * n),
    "references": lambda n: mail(References="<a@b> " * n),
    "brackets": lambda n: mail(References="<" * n),
    "comments": lambda n: mail(From="(" * n + "ada@kernel.example.org"),
    "quotes": lambda n: mail(From='"\\' * n),
    "addresses": lambda n: mail(From="a@b, " * n),
    "results": lambda n: mail(result=GOOD + " " * n + "=" + "(" * n),
    "signature": lambda n: mail(signature=signed("a:" * n + " " * n)),
    "signatures": lambda n: mail(top=(signed(),) * (n // 50)),
    "headers": lambda n: mail(top=tuple(f"X-{k}: y" for k in range(n // 10))),
    "commands": lambda n: mail("#rtbisect test x\n" * (n // 10)),
    "a long command": lambda n: mail("#rtbisect " + "\t " * n + "test" + " \t" * n + ":x"),
    "lines": lambda n: mail("\n" * n),
    "one line": lambda n: mail("x" * n),
    "tags": lambda n: mail("Fixes: x\n" * (n // 10) + "diff --git a b\n"),
    "parts": lambda n: mail("--x\n\n" * (n // 5), Content_Type="multipart/mixed; boundary=x"),
    "parts in parts": lambda n: mail(nested(n // 50), Content_Type="multipart/mixed; boundary=b0"),
    "mails in mails": lambda n: mail("Content-Type: message/rfc822\n\n" * (n // 30),
                                     Content_Type="message/rfc822"),
    "attachments": lambda n: mail(
        "--x\nContent-Disposition: attachment; filename=a\n\n" * (n // 50),
        Content_Type="multipart/mixed; boundary=x"),
    "base64": lambda n: mail("QUJD" * (n // 4), Content_Transfer_Encoding="base64"),
    "quoted-printable": lambda n: mail(
        "=\n" * (n // 2), Content_Transfer_Encoding="quoted-printable"),
    "parameters": lambda n: mail(Content_Type="text/plain" + '; a="' * (n // 5)),
    "numbered parameters": lambda n: mail(
        Content_Type="text/plain" + "".join(f"; a*{k}=b" for k in range(n // 10))),
    "a boundary": lambda n: mail(
        "--" + "x" * n, Content_Type="multipart/mixed; boundary=" + "x" * n),
}  # fmt: skip


def work(data):
    """Calls and lines of Python that a mail takes: they do not know how fast this machine is."""
    steps = 0

    def count(_frame, event, _argument):
        nonlocal steps
        steps += event in ("call", "line", "c_call")
        return count

    sys.setprofile(count)
    sys.settrace(count)
    try:
        found = read_reply(data, KNOWN, TRUST, NOW)
    finally:
        sys.settrace(None)
        sys.setprofile(None)
    assert len(repr(found)) < 4000
    return steps


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_work_grows_with_the_mail_and_not_with_its_square(bomb):
    small, large = bomb(N), bomb(4 * N)
    assert work(large) < 5 * work(small) + 20_000


class CountedThreads(FakeThreads):
    """Counts what a store would be asked."""

    asked = 0

    def ours(self, message_id):
        type(self).asked += 1
        return FakeThreads.ours(self, message_id)


@pytest.mark.parametrize(
    "bomb",
    [
        mail("".join(f"#rtbisect for <{n}@x.example>\n" for n in range(5000))),
        mail("#rtbisect retest\n", References=" ".join(f"<{n}@x>" for n in range(900))),
    ],
    ids=["lines", "references"],
)
def test_a_mail_asks_the_store_little(bomb):
    CountedThreads.asked = 0
    read_reply(bomb, CountedThreads({}), TRUST, NOW)
    assert CountedThreads.asked <= 300


@pytest.mark.parametrize("name", ["Content-Type", "Content-Disposition", "content-TYPE"])
@pytest.mark.parametrize("fold", ["", "\n ", "\r\n\t", "\r "])
def test_a_header_of_parameters_without_end_is_not_taken_apart(name, fold):
    """The library's work on it grows by the square, inside functions that cannot be counted."""
    found = read(top=(f"{name}: text/plain" + f'{fold}; a="' * 2000,))
    assert found.ignored.kind == Ignored.ENDLESS_HEADER
    part = f"--x\n{name}: text/plain" + f'{fold}; a="' * 2000 + "\n\nx\n--x--\n"
    found = read(part, Content_Type="multipart/mixed; boundary=x")
    assert found.ignored.kind == Ignored.ENDLESS_HEADER


def test_a_subject_of_a_megabyte():
    found = read(Subject="x" * 1_000_000)
    assert (len(found.subject), counts(found)) == (120, True)
