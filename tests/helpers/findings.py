# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings of tests that need just any, what a test asks of one, and what it says."""

from rtbisect.model.finding import Finding, Kept
from rtbisect.words.speak import speak
from rtbisect.words.voice import PLAIN


def said(text):
    """A finding with these words."""
    return Finding.of(Kept.AS_SAID, text=text)


def lines(text):
    """A story with these lines."""
    return tuple(map(said, text.splitlines()))


def words(finding, voice=PLAIN):
    return str(speak(finding, voice))


def all_of(findings):
    """Findings with all that they are made of."""
    for each in findings:
        if isinstance(each, Finding):
            yield each
            yield from all_of(each.data.values())
        elif isinstance(each, tuple):
            yield from all_of(each)


def first(findings, kind):
    """The data of the first finding of this kind among them, also inside others; None: none is."""
    return next((each.data for each in all_of(findings) if each.kind == kind), None)


class Like:
    """Equal to each finding of this kind that has these data, whatever else it has."""

    __hash__ = None

    def __init__(self, kind, **data):
        self.kind, self.data = kind, data

    def __eq__(self, found):
        if not isinstance(found, Finding):
            return NotImplemented
        return found.kind == self.kind and self.data.items() <= found.data.items()

    def __repr__(self):
        return f"Like({self.kind!r}, {self.data})"


def spoken(found):
    """Its sentence, for a reader of a log; "" for nothing."""
    return str(speak(found)) if found else ""


def innermost(found):
    """What a finding rests on in the end."""
    while isinstance(why := found.data.get("why"), Finding):
        found = why
    return found
