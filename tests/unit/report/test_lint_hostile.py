# SPDX-License-Identifier: GPL-2.0-or-later
"""What is no mail, or is made to take long, is a finding and no error."""

import pytest

from helpers.linted_mail import BODY, HEADERS, mail, rules
from rtbisect.report.lint.rules import lint


def test_attachments_are_found():
    data = b"""Content-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/plain\n
text\n--x\nContent-Type: image/png\n\nx\n--x--\n"""
    assert rules(data)[0] == "plain-text"


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 100, b"\xff\xfe", b"Subject", b": x", b"\n\n\n", bytes(range(256)) * 20]
)
def test_what_is_no_mail_is_no_error(data):
    assert "headers" in rules(data)


@pytest.mark.parametrize("word", ["good ", "please ", "a", "1 ", "95%\n", "Fixes: 0123\n", "[1.."])
def test_a_mail_that_is_made_to_take_long_does_not(word):
    assert "size" in rules(mail(body=word * (3_000_000 // len(word))))


@pytest.mark.parametrize("name", ["Subject", "To", "References", "Date", "X-rtbisect-Outcome"])
def test_a_header_that_is_made_to_take_long_does_not(name):
    for value in (" " * 2_000_000, "a@b.org, " * 200_000, "(" * 100_000, "<a@b> " * 100_000):
        headers = "".join(
            line for line in HEADERS.splitlines(keepends=True) if not line.startswith(f"{name}:")
        )
        found = lint(mail(f"{headers}{name}: x{value}\n"))
        assert all(each.problem.isprintable() and len(each.problem) < 300 for each in found)


@pytest.mark.parametrize(
    "line",
    [
        "Content-Type: text/plain; charset=idna",
        "Content-Type: text/plain; charset=punycode",
        f"Content-Type: text/plain; charset*{'1' * 5000}=x",
        f"To: {'a:' * 15000}",
    ],
)
def test_what_breaks_parsers_is_a_finding(line):
    name = line.partition(":")[0]
    kept = "".join(
        each for each in HEADERS.splitlines(keepends=True) if not each.startswith(f"{name}:")
    )
    assert all(each.problem for each in lint(f"{line}\n{kept}\n{BODY}\u00ff".encode()))


@pytest.mark.parametrize("kind", ["message/rfc822", "multipart/mixed; boundary=b"])
def test_a_mail_that_is_nested_without_end_is_a_finding(kind):
    inner = f"Content-Type: {kind}\n\n" + ("--b\n" if "multi" in kind else "")
    assert rules((inner * 3000).encode())


def test_a_table_that_is_made_to_take_long_does_not():
    head = " ".join(["maximum"] * 4000)
    row = " ".join(str(n) for n in range(1, 40))
    assert "size" in rules(mail(body=f"{head}\n" + f"{row}\n" * 250))
