# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings of tests that need just any, and what findings say where a test is about words."""

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
