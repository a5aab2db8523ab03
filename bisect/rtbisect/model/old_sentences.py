# SPDX-License-Identifier: GPL-2.0-or-later
"""Sentences that programs kept before findings were: what of them somebody asks for, as values.

Only these are read, only here, and only when something old is read: upgrades of what is kept use
it (`model/formats.py`). All others stay as they were said.
"""

from __future__ import annotations

import re
from typing import Any

from rtbisect.model.finding import kept_sentence
from rtbisect.model.kinds.judge import Figures
from rtbisect.model.kinds.pipeline import Reasons

_FIGURES = (
    (Figures.SPREAD, re.compile("in the spread of the boots")),
    (Figures.MEAN, re.compile("in the mean of the boots, not in their median")),
    (Figures.ONE_CPU, re.compile(r"on the watched CPU number (?P<number>[1-9][0-9]*) beside .*")),
)
#: Names of checks that told their parent.
_PARENT = "culprit vs parent"


def figure_of(text: str) -> dict[str, Any] | None:
    """Which part of a figure was judged."""
    for kind, pattern in _FIGURES:
        if match := pattern.fullmatch(text):
            data = {name: int(value) for name, value in match.groupdict().items()}
            return {"kind": kind.value, "data": data}
    return kept_sentence(text)


def with_found_reason(run: dict[str, Any]) -> dict[str, Any]:
    """A kept run whose reason was a sentence."""
    return run | {"reason": kept_sentence(run.get("reason", ""))}


def with_parents(result: dict[str, Any]) -> dict[str, Any]:
    """A kept result of version 1, where only the name of a check told its parent."""
    checks = [
        check | {"parent": check["name"].partition(f"{_PARENT} ")[2]}
        for check in result.get("verifications", ())
    ]
    return result | {"verifications": checks}


def with_findings(result: dict[str, Any]) -> dict[str, Any]:
    """A kept result of the time when reasons, notes and names of checks were sentences."""
    judgement = result["judgement"]
    judgements = [_judgement(each) for each in result.get("judgements", ())]
    return result | {
        "judgement": _judgement(judgement) if judgement else None,
        "judgements": judgements,
        "tested": [
            each | {"skipped": kept_sentence(each.get("skipped", ""))}
            for each in result.get("tested", ())
        ],
        "verifications": [_check(each) for each in result.get("verifications", ())],
        "gates": [
            each | {"reason": kept_sentence(each["reason"])} for each in result.get("gates", ())
        ],
        "reasons": [_reason(each, result) for each in result.get("reasons", ()) if each != ""],
    }


def _judgement(kept: dict[str, Any]) -> dict[str, Any]:
    reason = kept_sentence(kept["reason"] or "nothing was said")
    return kept | {"reason": reason, "figure": figure_of(kept.get("figure", ""))}


def _check(kept: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in kept.items() if name != "name"}
    if judgement := kept["judgement"]:
        rest["judgement"] = _judgement(judgement)
    name = _PARENT if kept.get("parent") else kept["name"]
    return rest | {"check": name, "note": kept_sentence(kept.get("note", ""))}


def _reason(text: str, result: dict[str, Any]) -> dict[str, Any] | None:
    """A reason; those that repeat a judgement or a gate are told apart in mails."""
    for judgement in result.get("judgements", ()):
        key = "{suite}.{name}@{window}".format(**judgement["key"])
        if text == f"{key}: {judgement['level']}: {judgement['reason']}":
            data = {"metric": key, "level": judgement["level"]}
            return _told(Reasons.JUDGED, data, judgement["reason"])
    for gate in result.get("gates", ()):
        if text == f"{gate['name']}: {gate['reason']}":
            return _told(Reasons.OBJECTION, {"gate": gate["name"]}, gate["reason"])
    return kept_sentence(text)


def _told(kind: Reasons, data: dict[str, Any], why: str) -> dict[str, Any]:
    return {"kind": kind.value, "data": data | {"why": kept_sentence(why)}}
