# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms of numbers and of several things in a sentence."""

import math

import pytest

from rtbisect.model.finding import Finding, Kept
from rtbisect.model.kinds.boot import Raw
from rtbisect.model.kinds.judge import Judged, Reach
from rtbisect.words import sentences
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

SAID = Finding.of(Kept.AS_SAID, text="so")


@pytest.mark.parametrize(
    ("words", "value", "sentence"),
    [
        ("{x:figure}", 6.0, "6.00"),
        ("{x:number}", 6.0, "6"),
        ("{x:number}", 1234.5, "1234"),
        ("{x:+figure}", 3.0, "+3.00"),
        ("{x:in us}", 6120.4, "6.12 ms"),
        ("{x:in 1/s}", 1.326, "1.33/s"),
        ("{x:in }", 0.08088, "0.0809"),
        ("{x:+in us}", -3.0, "-3 us"),
        ("{x:probability}", 0.9997, ">0.999"),
        ("{x:metric}", "ipi.res_per_s@clock-on", "rescheduling IPIs"),
        ("{x:metric}", "res_per_s", "rescheduling IPIs"),
        ("{x:metric}", "ours.late_us@off", "ours.late_us"),
        ("{x:metric}", "command.p99_us@run", "p99_us"),
        ("5{x:unit}", "us", "5 us"),
        ("5{x:unit}", "1", "5"),
        ("5{x:unit}", "/s", "5/s"),
        ("{x:many boot}", 1, "1 boot"),
        ("{x:many boot}", 2, "2 boots"),
        ("{x:duration}", 89.0, "89 s"),
        ("{x:duration}", 5399.0, "90 min"),
        ("{x:duration}", 12600.0, "3.5 h"),
        ("{x:percent}", 0.074, "7%"),
        ("{x}", ("a", "b"), "a, b"),
        ("{x:; }", (SAID, "b"), "so; b"),
        ("{x:first 2}", ("a", "b", "c"), "a, b"),
        ("{x:.12}", "0123456789abcdef", "0123456789ab"),
        ("{x} of {voice.run}s", 2, "2 of boots"),
        ("{x}", SAID, "so"),
    ],
)
def test_a_form_of_a_value(words, value, sentence, monkeypatch):
    known = sentences.words_of
    monkeypatch.setattr(
        sentences, "words_of", lambda kind: words if kind == "test" else known(kind)
    )
    assert str(speak(Finding("test", {"x": value}))) == sentence


def test_no_number_is_too_large_to_be_told():
    for kind, name in ((Raw.SHORT_WINDOW, "lasted_s"), (Reach.UNCOUNTED, "uncounted")):
        whole = dict.fromkeys(kind.parameters, 1)
        for value in (10**400, math.inf, math.nan):
            assert str(speak(Finding(kind, whole | {name: value})))


def test_words_of_others_steer_no_screen():
    for finding in (Finding("new\x1b[2J", {}), Finding("new", {"name\n": 1, "why": SAID})):
        assert str(speak(finding)).isprintable()
        assert str(speak(Finding("newer", {"why": finding}))).isprintable()


@pytest.mark.parametrize("kind", [Judged.ABOVE_ALPHA, "new"])
def test_findings_within_findings_end_somewhere(kind):
    """Where each is not whole, too, which is seen behind those in it."""
    finding = SAID
    for _ in range(30):
        finding = Finding(kind, {"effect": (finding,), "p": "none", "alpha": 1})
    assert len(str(speak(finding))) < 1000


def test_a_datum_is_no_form():
    for text in ("{}", "{0.__class__}", "{voice.run}", "{text!r:>9}", "%s", "{"):
        assert str(speak(Finding.of(Kept.AS_SAID, text=text))) == text
        assert text in str(speak(Finding(text, {text: text, "voice": text})))
