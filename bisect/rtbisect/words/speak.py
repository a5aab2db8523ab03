# SPDX-License-Identifier: GPL-2.0-or-later
"""A finding as a sentence.

Words are format strings of the data of their kind, with Python's formats and some more:
`{effect}` of a finding is its own sentence, `{names}` of several stands with commas between them,
`{value:digits}` has three digits and never an exponent for a large number (`+digits` with its
sign), `{unit:unit}` is the unit behind a number, `{count:many boot}` is `1 boot` or `2 boots`, and
`{voice.run}` a word of the voice.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtbisect.model.finding import Finding
from rtbisect.words import sentences
from rtbisect.words.voice import PLAIN, Voice


@dataclass(frozen=True, slots=True)
class Sentence:
    """What was found, in words. Nothing but its text can be had of it, and that only to show it."""

    text: str

    def __str__(self) -> str:
        return self.text


def speak(finding: Finding, voice: Voice = PLAIN) -> Sentence:
    """The sentence of a finding; of one that this version has no words for, or whose data are not
    whole, its word and its data.
    """
    words = sentences.words_of(finding.kind)
    if words is not None:
        try:
            template = words if isinstance(words, str) else words(finding.data)
            return Sentence(_Formatter(voice).vformat(template, (), finding.data))
        except (LookupError, TypeError, ValueError, AttributeError):
            pass
    told = ", ".join(f"{name} {_text(value, voice)}" for name, value in finding.data.items())
    return Sentence(f"{finding.kind} ({told})" if told else finding.kind)


class _Formatter(string.Formatter):
    def __init__(self, voice: Voice) -> None:
        self._voice = voice

    def get_value(
        self,
        key: int | str,
        args: Sequence[Any],  # noqa: ARG002  (of the base class)
        kwargs: Mapping[str, Any],
    ) -> Any:
        return self._voice if key == "voice" else kwargs[str(key)]

    def format_field(self, value: Any, format_spec: str) -> str:
        kind, _, noun = format_spec.partition(" ")
        if kind == "many":
            return f"{value} {noun}" if value == 1 else f"{value} {noun}s"
        if kind == "unit":
            return "" if value in ("", "1") else f" {value}"
        if kind in ("digits", "+digits"):
            return digits(value, kind.removesuffix("digits"))
        if isinstance(value, Finding | tuple):
            return _text(value, self._voice)
        return str(format(value, format_spec))


def digits(value: float, sign: str = "") -> str:
    """A figure for a sentence: three digits, and never an exponent for a large one; `sign` as in a
    format.
    """
    return f"{value:{sign}.0f}" if abs(value) >= 100 else f"{value:{sign}.3g}"


def _text(value: Any, voice: Voice) -> str:
    if isinstance(value, Finding):
        return str(speak(value, voice))
    if isinstance(value, tuple):
        return ", ".join(_text(each, voice) for each in value)
    return str(value)
