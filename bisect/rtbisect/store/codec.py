# SPDX-License-Identifier: GPL-2.0-or-later
"""Values as JSON that later programs read: see `model/formats.py`.

A document of version 1 has no mark; a later one begins with `{"format":2,`.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter

from rtbisect.errors import InternalError
from rtbisect.model.formats import format_of

T = TypeVar("T")

_MARK = "format"
#: The mark stands within the first characters: a long document is parsed once, not twice.
_BEGINNING = 100

_adapters: dict[type, TypeAdapter[Any]] = {}


def to_json(kind: type[T], value: T) -> str:
    """JSON that gives the same value back; pydantic's own dump turns inf and nan into null."""
    return json.dumps(to_plain(kind, value), separators=(",", ":"))


def to_plain(kind: type[T], value: T) -> Any:
    """The same in the types of JSON, for a document around it."""
    version = format_of(kind).version
    fields = _adapter(kind).dump_python(value, mode="json")
    return fields if version == 1 else {_MARK: version, **fields}


def from_json(kind: type[T], text: str | bytes) -> T:
    """The value of a document of any version; ValueError where it is none, or of a newer one."""
    mark = f'"{_MARK}"'
    begins = text[:_BEGINNING]
    marked = mark in begins if isinstance(begins, str) else mark.encode() in begins
    if not marked and format_of(kind).version == 1:
        return _adapter(kind).validate_json(text)
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ValueError(f"a {format_of(kind).name} that is nested too deep") from error
    return from_plain(kind, document)


def from_stored(kind: type[T], text: str | bytes, what: str) -> T:
    """`from_json` of what the store holds; `what` names it in the InternalError."""
    try:
        return from_json(kind, text)
    except ValueError as error:
        raise unreadable(what) from error


def unreadable(what: str) -> InternalError:
    """What is raised of something that the store holds."""
    return InternalError(
        f"{what} cannot be read",
        "it was made by another version of rtbisect, or the store was changed by hand",
    )


def from_plain(kind: type[T], document: Any) -> T:
    """`from_json` of what JSON gave."""
    form = format_of(kind)
    version = 1
    if isinstance(document, dict) and _MARK in document:
        document = dict(document)
        version = document.pop(_MARK)
    if not isinstance(version, int) or not 1 <= version <= form.version:
        raise ValueError(f"a {form.name} of version {version!r}, known are 1 to {form.version}")
    for upgrade in form.upgrades[version - 1 :]:
        try:
            document = upgrade(document)
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"no {form.name} of version {version}: {error!r}") from error
    return _adapter(kind).validate_python(document)


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """Making one costs milliseconds, so each is made once."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]
