# SPDX-License-Identifier: GPL-2.0-or-later
"""The names and versions under which values are kept, whatever their classes are called today.

A value that a store, a bundle or a draft keeps is JSON of the fields of its class. A class that is
marked `kept_as` may be renamed freely: its name there stays. Whoever adds, renames, moves or drops
one of its fields, or gives one another meaning, adds an upgrade, a function that takes what JSON of
the version before gives and returns that of the next.
`tests/data/formats/` has a value of each version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from rtbisect.errors import InternalError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Format:
    """How values of a class are kept."""

    #: Stands beside the value, in the store or as the name of a file; it never changes.
    name: str
    #: From version 1 to 2, from 2 to 3, ...; each gets and gives the types of JSON.
    upgrades: tuple[Callable[[Any], Any], ...] = ()

    @property
    def version(self) -> int:
        """The version that is written today."""
        return len(self.upgrades) + 1


#: A plain number has no class of ours to mark.
_FORMATS: dict[type, Format] = {int: Format("int")}


def kept_as(name: str, *upgrades: Callable[[Any], Any]) -> Callable[[type[T]], type[T]]:
    """Mark a class whose values are kept; outermost, because slots make another class."""

    def mark(kind: type[T]) -> type[T]:
        _FORMATS[kind] = Format(name, upgrades)
        return kind

    return mark


def format_of(kind: type) -> Format:
    """InternalError for a class that is not marked: its name would be the format's."""
    if kind not in _FORMATS:
        raise InternalError(f"{kind.__name__} has no name under which it is kept")
    return _FORMATS[kind]


def known() -> Mapping[type, Format]:
    """All formats of the modules that are imported."""
    return dict(_FORMATS)
