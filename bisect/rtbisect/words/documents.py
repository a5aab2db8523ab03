# SPDX-License-Identifier: GPL-2.0-or-later
"""Values with what was found in them, as documents for programs."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.model.finding import Finding
from rtbisect.model.result import Verification
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from rtbisect.words.voice import Voice

#: Findings that need not be there; a program reads "" then.
_MAYBE = frozenset({"reason", "figure", "skipped", "note"})
#: Findings that may be none.
_SEVERAL = frozenset({"reasons"})
#: Behind the name of a sentence: what was found, as kind and data.
FOUND = "_found"


def spoken(value: Any, voice: Voice) -> dict[str, Any]:
    """A value by its fields, in the types of JSON: findings are sentences, "" where there is none,
    and the findings themselves stand beside them (`docs/json.md`).
    """
    document: dict[str, Any] = {}
    members = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Verification):
        members["name"] = value.name
    for name, member in members.items():
        document[name] = "" if member is None and name in _MAYBE else _spoken(member, voice)
        if name in _SEVERAL or _is_found(member):
            document[name + FOUND] = _plain(member)
    return document


def found(finding: Finding) -> dict[str, Any]:
    """A finding in the types of JSON."""
    return {"kind": finding.kind, "data": {name: _plain(v) for name, v in finding.data.items()}}


def _is_found(member: Any) -> bool:
    if isinstance(member, tuple):
        return bool(member) and all(isinstance(each, Finding) for each in member)
    return isinstance(member, Finding)


def _spoken(value: Any, voice: Voice) -> Any:
    if isinstance(value, Finding):
        return str(speak(value, voice))
    if is_dataclass(value):
        return spoken(value, voice)
    if isinstance(value, tuple | list):
        return [_spoken(each, voice) for each in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Finding):
        return found(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value
