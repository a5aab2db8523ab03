# SPDX-License-Identifier: GPL-2.0-or-later
"""What was found, as values: a kind and what belongs to it. `words` makes sentences of them.

Who finds something gives a `Finding`, and nobody else has to read a sentence to know it. A kind is
a member of an enum below `Kind`: a word under which it is kept for ever, and the names of its data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, TypeAlias

from rtbisect.errors import InternalError
from rtbisect.model.formats import kept_as


class Kind(StrEnum):
    """What is found; each area has an enum of its own (`model/kinds/`).

    `WORD = "area.word", "name name"`: the word is kept, and never changes its meaning; the names
    are those of the data. A number that has a unit carries it in its name (`wall_s`), or stands
    beside one named `unit`. Revisions are full shas.
    """

    parameters: tuple[str, ...]

    def __new__(cls, word: str, parameters: str = "") -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.parameters = tuple(parameters.split())
        return member


#: Findings within findings; ours are four or five. What is handed to us is refused where it is
#: read: who walks down a finding needs no bound of its own.
_DEEPEST = 32


class Kept(Kind):
    """What older programs kept as a sentence."""

    AS_SAID = "kept.as-said", "text"


@kept_as("Finding")
@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was found. ValueError where it is nested deeper than any finding is."""

    #: A `Kind` by its word, or one of a newer program.
    kind: str
    #: By name; texts in it may be foreign, and are made harmless where they are spoken.
    data: Mapping[str, Value]

    def __post_init__(self) -> None:
        if _depth(self) > _DEEPEST:
            raise ValueError("a finding that is nested too deep")

    def __hash__(self) -> int:
        return hash(self.kind)

    @staticmethod
    def of(kind: Kind, /, **data: Value) -> Finding:
        """InternalError where the data are not those of the kind."""
        if data.keys() != set(kind.parameters):
            raise InternalError(f"{kind} has {', '.join(kind.parameters)}, not {', '.join(data)}")
        return Finding(kind.value, {name: _plain(value) for name, value in data.items()})


_Part: TypeAlias = Finding | str | int | float | bool | None
#: A value among the data of a finding; several parts stand in a tuple.
Value: TypeAlias = _Part | tuple[_Part, ...]


def _depth(value: Value) -> int:
    """Findings within one another, at most one above the bound: those inside are within it."""
    if isinstance(value, Finding):
        return 1 + max(map(_depth, value.data.values()), default=0)
    return max(map(_depth, value), default=0) if isinstance(value, tuple) else 0


def _plain(value: Value) -> Value:
    """Enums as their words: so they are after they were kept."""
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)  # type: ignore[misc]  # parts stay parts
    return value.value if isinstance(value, StrEnum) else value


def as_said(text: str) -> Finding | None:
    """A sentence that was kept before findings were; None where nothing was said."""
    return Finding.of(Kept.AS_SAID, text=text) if text else None


def kept_sentence(text: Any) -> dict[str, object] | None:
    """The same in the types of JSON, for upgrades of what was kept; TypeError for no text."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r:.40} is no sentence")
    return {"kind": Kept.AS_SAID.value, "data": {"text": text}} if text else None
