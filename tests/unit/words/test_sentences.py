# SPDX-License-Identifier: GPL-2.0-or-later
"""Every kind has words, and these use its data; every finding has the data of its kind."""

import string

import pytest

from findings import every_kind
from rtbisect.model.finding import Finding, Kept
from rtbisect.words import sentences
from rtbisect.words.speak import Sentence, speak
from rtbisect.words.voice import PLAIN

pytestmark = pytest.mark.words

KINDS = every_kind()


@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_its_words_use_its_data_and_those_of_the_voice(kind):
    """Words that are made of the data are asked area by area, with data."""
    words = sentences.words_of(kind)
    assert words is not None
    if isinstance(words, str):
        fields = {field for _, field, _, _ in string.Formatter().parse(words) if field is not None}
        voice = {f"voice.{name}" for name in dir(PLAIN)}
        assert fields - voice <= {*kind.parameters}


def test_no_two_kinds_are_kept_under_one_word():
    assert len(set(KINDS.values())) == len(KINDS)


def test_a_kind_of_a_newer_program_is_told_by_its_word_and_data():
    finding = Finding("gate.newer", {"boots": 3, "why": Finding.of(Kept.AS_SAID, text="so")})
    assert speak(finding) == Sentence("gate.newer (boots 3, why so)")


def test_what_is_not_whole_is_told_all_the_same():
    missing = Finding(Kept.AS_SAID.value, {})
    assert str(speak(missing)) == "kept.as-said"
