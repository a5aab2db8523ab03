# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen of a campaign on terminals of all kinds, and where there is none."""

import io
import re
from contextlib import redirect_stderr, redirect_stdout, suppress

import pytest

from rtbisect.cli import live
from rtbisect.cli.output import PlainProgress
from rtbisect.model.campaign import CampaignRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Searches

REQUEST = CampaignRequest(kind="bisect", site="", tree="t", older="a" * 40, newer="c" * 40)
SPREAD = Finding.of(
    Searches.SPREAD, commits=("b" * 40, "c" * 40), probabilities=(0.0, 1.0), tested=("c" * 40,),
    newer=(1.0,), skipped=(), subject="red \x1b[31m [bold]text, größer", moved=False,
)  # fmt: skip
SHOW_CURSOR = "\x1b[?25h"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


class Gone(Terminal):
    def write(self, text):
        raise OSError("no such terminal")

    def flush(self):
        raise OSError("no such terminal")


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def uncoloured(stream):
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def watched(stream):
    with redirect_stderr(stream), live.screen() as screen:
        screen.begin(REQUEST)
        assert screen.shows(SPREAD)
        screen.say("above [it]\x1b")
    return screen


def test_a_terminal_is_redrawn_in_place_and_given_back(terminal):
    assert isinstance(watched(terminal), live.LiveScreen)
    text = uncoloured(terminal)
    assert "───━━━" in text
    assert text.index("above [it]?") < text.rindex("───━━━")
    assert text.rindex(SHOW_CURSOR) > text.rindex("───━━━")
    # What is foreign steers nothing.
    assert "red ?[31m [bold]text" in text


@pytest.mark.parametrize(("stdout", "below"), [(Terminal(), True), (io.StringIO(), False)])
def test_an_answer_that_goes_elsewhere_has_its_outcome_said(terminal, stdout, below):
    outcome = Finding.of(
        Searches.OUTCOME, outcome="inconclusive", culprit=None, confidence=0.0, cause=None, why=None
    )
    with redirect_stderr(terminal), redirect_stdout(stdout), live.screen() as screen:
        screen.begin(REQUEST)
        assert screen.shows(outcome) is below


def test_what_is_said_breaks_between_words(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    with redirect_stderr(terminal), live.screen() as screen:
        screen.say("wide " * 20)
    lines = uncoloured(terminal).splitlines()
    assert len(lines) > 3
    assert {word for line in lines for word in line.split()} == {"wide"}


def test_colours_are_left_out_where_they_are_not_wanted(terminal, monkeypatch):
    watched(terminal)
    assert "\x1b[31m" in terminal.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    before = len(terminal.getvalue())
    watched(terminal)
    assert "\x1b[31m" not in terminal.getvalue()[before:]


def test_a_terminal_without_utf_8_gets_ascii(terminal):
    terminal.encoding = "ascii"
    watched(terminal)
    assert terminal.getvalue().isascii()
    assert "gr??er" in terminal.getvalue()
    assert "---###" in uncoloured(terminal)


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_be_redrawn_gets_lines(terminal, monkeypatch, term):
    monkeypatch.setenv("TERM", term)
    with redirect_stderr(terminal), live.screen() as screen:
        assert isinstance(screen, PlainProgress)


def test_what_is_no_terminal_gets_lines():
    with redirect_stderr(io.StringIO()), live.screen() as screen:
        assert isinstance(screen, PlainProgress)
    # A picture is one more line where its sentence was told, and nothing else.
    assert screen.shows(SPREAD)
    assert not screen.shows(Finding.of(Searches.SPREAD, **SPREAD.data | {"moved": True}))


@pytest.mark.usefixtures("terminal")
def test_a_terminal_that_is_gone_stops_no_campaign():
    assert isinstance(watched(Gone()), live.LiveScreen)


def test_an_error_gives_the_terminal_back(terminal):
    with suppress(KeyboardInterrupt), redirect_stderr(terminal), live.screen() as screen:
        screen.begin(REQUEST)
        raise KeyboardInterrupt
    assert SHOW_CURSOR in terminal.getvalue()


def test_an_error_before_the_campaign_is_told_alone(terminal):
    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), live.screen():
        raise KeyboardInterrupt
    assert terminal.getvalue() == ""
