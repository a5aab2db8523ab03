# SPDX-License-Identifier: GPL-2.0-or-later
"""A finding as a sentence.

Words are format strings of the data of their kind, with Python's formats and some more:
`{effect}` of a finding is its own sentence (`{change:begin}` at the begin of one), `{names}` of
several stands with commas between them, `{value:figure}` has three significant digits (6.00),
`{value:number}` is the same but for whole numbers (6), `{value:in {unit}}` so with its unit
(6.12 ms; `+in` with the sign; in the unit of the voice where it has one), `{unit:unit}` is the unit
behind a number and `{unit:comma}` behind a name, `{count:many boot}` is `1 boot` or `2 boots`,
`{wall_s:duration}` a time, `{free:size}` bytes (1.2 GB), `{share:percent}` a share,
`{share:part}` so much of something, and never more than `all of` it,
`{share:probability}` is never a false certainty, `{metric:metric}` the name of a figure,
`{revision:kernel}` has its role before it where it is an end (`bad end 54ff4034f9c6`), in
a proof (`{revision:proven revert}`) parent and culprit
have theirs, too, and any other kernel that one, `{voice.run}` is a word of the voice, and
`{builds:built}` is `12 builds, ` where that tells builds. Of several, `{names:first 4}` are the
first four, `{names:; }` stand with `; ` between them, and `{names:sentence}` so with a full stop;
`{shares:strip}` is a digit for each of them, higher for more;
`{line:quoted}` stands in quotes, and `{workload:doing}` is what a workload does. Texts may be
foreign: what of them is not printable is told as `?`.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtbisect.model.finding import Finding
from rtbisect.words import sentences
from rtbisect.words.metrics import name_of
from rtbisect.words.numbers import duration, figure, measured, probability, size, unit
from rtbisect.words.strip import strip
from rtbisect.words.voice import PLAIN, Voice
from rtbisect.words.workloads import does, doing


@dataclass(frozen=True, slots=True)
class Sentence:
    """What was found, in words. Nothing but its text can be had of it, and that only to show it."""

    text: str

    def __str__(self) -> str:
        return self.text


#: Findings within findings; ours are about half as deep. Below it the word of a kind stands alone:
#: what is not whole is told twice at each level.
_DEEPEST = 8


def speak(finding: Finding, voice: Voice = PLAIN) -> Sentence:
    """The sentence of a finding; of one that this version has no words for, or whose data are not
    whole, its word and its data.
    """
    return Sentence(_Formatter(voice).told(finding))


class _Formatter(string.Formatter):
    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._depth = 0

    def told(self, finding: Finding) -> str:
        if self._depth == _DEEPEST:
            return harmless(finding.kind)
        self._depth += 1
        try:
            return self._in_words(finding)
        finally:
            self._depth -= 1

    def _in_words(self, finding: Finding) -> str:
        words = sentences.words_of(finding.kind)
        if words is not None:
            try:
                template = words if isinstance(words, str) else words(finding.data)
                return self.vformat(template, (), finding.data)
            except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
                pass
        rest = ", ".join(f"{name} {self.format_field(v, '')}" for name, v in finding.data.items())
        return harmless(f"{finding.kind} ({rest})" if rest else finding.kind)

    def get_value(
        self,
        key: int | str,
        args: Sequence[Any],  # noqa: ARG002  (of the base class)
        kwargs: Mapping[str, Any],
    ) -> Any:
        return self._voice if key == "voice" else kwargs[str(key)]

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str):
            value = harmless(value)
        kind, _, rest = format_spec.partition(" ")
        if isinstance(value, Finding):
            value = self.told(value)
            return _begun(value) if format_spec == "begin" else value
        if isinstance(value, tuple) and kind == "strip":
            return strip(value)
        if isinstance(value, tuple) and kind not in _FORMS:
            parts = value[: int(rest)] if kind == "first" else value
            between = "; " if kind in (";", "sentence") else ", "
            told = between.join(self.format_field(each, "") for each in parts)
            return f"{_begun(told)}." if kind == "sentence" else told
        form = _FORMS.get(kind)
        return form(value, rest, self._voice) if form else str(format(value, format_spec))


def _begun(text: str) -> str:
    """As a sentence begins, but for a name of the code, which stays as it is."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


def harmless(text: str) -> str:
    """A line with its spaces, without what ends it, steers a terminal or turns its letters."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _alone(form: Callable[[Any], str]) -> Callable[[Any, str, Voice], str]:
    """A form that asks for nothing beside the value."""
    return lambda value, _rest, _voice: form(value)


def _in(value: float, name: str, voice: Voice, sign: str = "") -> str:
    """A figure in its unit, a share of runs in percent, and what such shares differ by in points
    of it.
    """
    if voice.share:
        return f"{100 * value:{sign}.0f}{' percentage points' if sign else '%'}"
    return measured(value, name, sign, wanted=voice.unit)


def _seen(value: float, name: str, voice: Voice) -> str:
    """The figure of one run, of which a failed one has the share 1."""
    if voice.share:
        return "failed" if value else "passed"
    return measured(value, name, wanted=voice.unit)


#: By the first word of a format: of a value, the rest of the format, and the voice.
_FORMS: Mapping[str, Callable[[Any, str, Voice], str]] = {
    "unit": _alone(unit),
    #: Behind the name of a figure.
    "comma": _alone(lambda name: unit(name, ", ")),
    "figure": _alone(figure),
    "+figure": _alone(lambda value: figure(value, "+")),
    "number": _alone(lambda value: figure(value, whole=True)),
    "in": _in,
    "+in": lambda value, name, voice: _in(value, name, voice, "+"),
    "many": lambda count, noun, _voice: f"{count} {noun}" if count == 1 else f"{count} {noun}s",
    "duration": _alone(duration),
    "size": _alone(size),
    "percent": _alone(lambda share: f"{100 * share:.0f}%"),
    "part": _alone(lambda share: f"{100 * share:.0f}% of" if share < 1 else "all of"),
    "probability": _alone(probability),
    "metric": lambda key, _rest, voice: voice.share or name_of(key),
    # Of one run; a share has no name there.
    "before": lambda key, _rest, voice: "" if voice.share else f"{name_of(key)} ",
    "seen": _seen,
    "quoted": _alone(repr),
    "does": _alone(does),
    "doing": _alone(doing),
    "kernel": lambda sha, other, voice: voice.kernel(sha, other),
    "kernels": lambda shas, _rest, voice: " and ".join(f"the {voice.kernel(sha)}" for sha in shas),
    "proven": lambda sha, other, voice: voice.kernel(sha, other, proven=True),
    # A search counts revisions; a tree that was given up is built again.
    "worked": lambda builds, _rest, voice: f"{builds:.0f} {voice.built}, " if voice.builds else "",
    "built": lambda builds, _rest, voice: f"{builds:.0f} builds, " if voice.builds else "",
}
