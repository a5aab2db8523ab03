# SPDX-License-Identifier: GPL-2.0-or-later
"""Foreign text on the page of a CI job stays text."""

import re

import pytest

from rtbisect.report.markdown import block, code

HOSTILE = [
    "fix `x`` and ```y",
    "`",
    "``",
    "<img src=x onerror=alert(1)> @everyone #1",
    "[click](https://example.org) ![x](https://example.org/x.png)",
    "ends\n\n# a heading\r\n- [ ] a task",
    "\u202egnp.exe \x1b[31mred",
    "~~~ | a | table |",
    "",
    " ",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_ends_a_span_of_code(text):
    """As CommonMark reads one: to the next row of as many backticks as it began with."""
    span = code(text)
    assert "\n" not in span
    assert span.isprintable()
    fence = re.match("`+", span)[0]
    inner = span[len(fence) : -len(fence)]
    assert span.endswith(fence)
    assert inner
    assert fence not in re.findall("`+", inner)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_ends_a_block_of_code(text):
    first, *lines, last = block([text, "beside"]).split("\n")
    fence = first.removesuffix("text")
    assert set(fence) == {"`"}
    assert last == fence
    assert len(lines) == 2
    assert not any(line.lstrip().startswith(fence) for line in lines)


def test_what_is_harmless_stays_as_it_is():
    assert code("change 17") == "`change 17`"
    assert block(["a  b"]) == "```text\na  b\n```"
