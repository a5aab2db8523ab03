# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain text: characters, numbers, tables, histograms."""

import pytest

from rtbisect.report.text import (
    Column,
    ascii_line,
    bar,
    cut,
    foreign,
    header_text,
    histogram,
    linked,
    many,
    number,
    table,
    unit_text,
    wrap,
)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("5 \u00b5s", "5 us"),
        ("Zo\u00eb \u0141ukasz", "Zoe Lukasz"),
        ("a\r\nBcc: x", "a Bcc: x"),
        ("a\x00b\x1b[31m", "a?b?[31m"),
        ("\u202eevil\u202c", "?evil?"),
        ("caf\udce9", "caf?"),
        ("  a \t b  ", "a b"),
    ],
)
def test_ascii_line(text, plain):
    assert ascii_line(text) == plain


def test_a_cut_is_seen():
    assert cut("abcdefgh", 6) == "abc..."
    assert len(ascii_line("x" * 500, 50)) == 50


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("Signed-off-by: Person <p@example.org>", "Signed-off-by : Person <p@example.org>"),
        ("x #regzbot introduced: 1", "x # regzbot introduced: 1"),
        ("Reported-by:", "Reported-by :"),
        ("#syz fix: 1", "# syz fix: 1"),
        ("asm: add #include of stddef", "asm: add #include of stddef"),
        ("sched: fixes the tick", "sched: fixes the tick"),
    ],
)
def test_foreign_text_holds_no_trailer_and_no_command(text, harmless):
    assert foreign(text) == harmless


def test_header_text_holds_no_encoded_word_and_no_endless_word():
    assert "=?" not in header_text("=?utf-8?q?x?=")
    assert max(len(word) for word in header_text("x" * 300 + " y", 300).split()) <= 48


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0, "us", "0 us"),
        (13.0, "1/s", "13/s"),
        (13.14, "per_s", "13.1/s"),
        (5.956, "ms", "5.96 ms"),
        (0.0331, "ratio", "0.0331"),
        (1234.5, "\u00b5s", "1234 us"),
        (0.00001234, "", "1.23e-05"),
        (7654321.0, "", "7654321"),
        (7654321000.0, "", "7.65e+09"),
        (float("inf"), "us", "inf us"),
    ],
)
def test_numbers_carry_their_unit(value, unit, shown):
    assert number(value, unit) == shown


def test_sign_and_whole():
    assert number(3.0, "ms", sign=True, whole=False) == "+3.00 ms"
    assert number(-3.0, "ms", sign=True) == "-3 ms"
    assert unit_text("count") == ""


def test_table_cuts_words_but_never_numbers():
    lines = table(
        (Column("kernel"), Column("value", right=True)),
        [("k" * 200, "123456789.12 [1..2]"), ("short", "1")],
    )
    assert all(len(line) <= 76 for line in lines)
    assert lines[2].endswith("123456789.12 [1..2]")
    assert "..." in lines[2]
    assert len({len(line) for line in lines}) == 1


def test_wrap_keeps_indents():
    text = wrap("word " * 40, first="- ", rest="  ")
    lines = text.split("\n")
    assert lines[0].startswith("- word")
    assert all(line.startswith("  word") for line in lines[1:])
    assert max(map(len, lines)) <= 72


@pytest.mark.parametrize("length", [10, 47, 60, 100, 400])
def test_an_address_is_never_broken(length):
    address = f"https://lab.example.org/evidence/{'a-b.c/' * length}"[:length] + "/"
    *before, last = linked(f"Boots, pictures, logs: {address}").split("\n")
    assert last.removeprefix("Boots, pictures, logs: ") == address
    assert not before or (before == ["Boots, pictures, logs:"] and length > 49)


def test_bar_shows_even_little():
    assert bar(0.0001, 10) == "#"
    assert bar(0, 10) == ""
    assert bar(1, 10) == "#" * 10
    assert bar(float("inf"), 10) == "#" * 10
    assert bar(float("nan"), 10) == ""


def test_histogram_counts_every_boot_once():
    lines = histogram((0.0, 1.0, 3.0), (4.0, 5.0, 700.0), "us", ("parent", "commit"))
    counts = [line.replace("#", " ").split() for line in lines[2:]]
    assert lines[0].split() == ["us", "parent", "commit"]
    assert sum(int(row[-2]) for row in counts) == 3
    assert sum(int(row[-1]) for row in counts) == 3
    assert counts[0][:2] == ["<=", "0"]


def test_histogram_has_twelve_rows_at_most():
    values = (*tuple(2.0**i for i in range(-30, 60)), 0.0)
    lines = histogram(values, values, "us", ("a", "b"))
    assert len(lines) - 2 <= 12
    assert max(map(len, lines)) <= 76
    assert histogram((), (float("inf"),), "us", ("a", "b")) == ()


def test_one_is_not_many():
    assert [many(count, "build") for count in (0, 1, 2)] == ["0 builds", "1 build", "2 builds"]
