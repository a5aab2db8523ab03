# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms of numbers and of several things in a sentence."""

import pytest

from rtbisect.model.finding import Finding, Kept
from rtbisect.words import sentences
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

SAID = Finding.of(Kept.AS_SAID, text="so")


@pytest.mark.parametrize(
    ("words", "value", "sentence"),
    [
        ("{x:digits}", 1234.5, "1234"),
        ("{x:digits}", 0.012345, "0.0123"),
        ("{x:+digits}", 3.0, "+3"),
        ("5{x:unit}", "us", "5 us"),
        ("5{x:unit}", "1", "5"),
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
