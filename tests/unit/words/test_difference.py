# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes a figure differ, in words."""

import pytest

from rtbisect.model.campaign import Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.difference import Differs
from rtbisect.model.subject import Measured
from rtbisect.words.difference import SENTENCES
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of

pytestmark = pytest.mark.words

TIME = {"metric": "command.p50_us@run", "change": 0.041, "error": 0.008}
SHORT = {"metric": "command.p50_us@run", "change": None, "error": None}
COUNTED = {"instructions": 0.057, "same": False}
SAME = {"instructions": 0.0, "same": True}
NOT_COUNTED = {"instructions": None, "same": False}
ONE = {"base": 0, "new": 0}
CODE, NEITHER = "the code makes the difference", "code and layout are not told apart"
MUCH = "and builds of the same code may differ by as much"
BURST = {"first": 41, "last": 58, "runs": 12, "revisions": 4, "p": 0.002}

WORDS = [
    (
        Differs.CODE,
        TIME | COUNTED | {"base": 6, "new": 7},
        f"{CODE}: 5.70% more instructions; p50_us +4.1% (standard error 0.8%) over 6 + 7 layouts",
    ),
    (
        Differs.CODE,
        TIME | {"instructions": -0.057, "same": False} | ONE,
        (
            f"{CODE}: 5.70% fewer instructions; p50_us +4.1% (standard error 0.8%) in one build"
            " of each side"
        ),
    ),
    (
        Differs.CODE,
        TIME | {"error": None} | SAME | {"base": 6, "new": 6},
        f"{CODE}: as many instructions; p50_us +4.1% over 6 + 6 layouts",
    ),
    (
        Differs.CODE,
        SHORT | NOT_COUNTED | {"base": 6, "new": 6},
        f"{CODE}: it is there over 6 + 6 layouts",
    ),
    (Differs.COUNTS, {"instructions": 0.057}, f"{CODE}: 5.70% more instructions"),
    (Differs.COUNTS, {"instructions": -0.057}, f"{CODE}: 5.70% fewer instructions"),
    (
        Differs.LAYOUT,
        TIME | {"spread": 0.03, "noise": 0.014, "builds": 14},
        (
            "the layout of the code makes p50_us differ: builds of the same code by 3.0% (standard"
            " deviation of 14 builds; runs of one build: 1.4%), which can set ends apart like"
            " these: p50_us +4.1% (standard error 0.8%)"
        ),
    ),
    (
        Differs.LAYOUT,
        TIME | {"spread": 0.03, "noise": None, "builds": 14},
        (
            "the layout of the code makes p50_us differ: builds of the same code by 3.0% (standard"
            " deviation of 14 builds), which can set ends apart like these: p50_us +4.1% (standard"
            " error 0.8%)"
        ),
    ),
    (
        Differs.MACHINE,
        TIME | BURST | {"shift": 0.3},
        (
            "the machine makes p50_us differ: it was 30% higher in runs 41 to 58 than in others of"
            " the same builds (12 of these can be compared, of 4 revisions; p = 0.002); without"
            " them the ends differ by p50_us +4.1% (standard error 0.8%)"
        ),
    ),
    (
        Differs.MACHINE,
        TIME | BURST | {"shift": -0.004, "revisions": 1},
        (
            "the machine makes p50_us differ: it was 0.4% lower in runs 41 to 58 than in others of"
            " the same builds (12 of these can be compared, of 1 revision; p = 0.002); without them"
            " the ends differ by p50_us +4.1% (standard error 0.8%)"
        ),
    ),
    (
        Differs.UNCLEAR,
        TIME | NOT_COUNTED | ONE | {"helps": ("--relayout", "--count instructions")},
        (
            f"{NEITHER}: p50_us +4.1% (standard error 0.8%), {MUCH}; --relayout or"
            " --count instructions would tell"
        ),
    ),
    (
        Differs.UNCLEAR,
        TIME | SAME | ONE | {"helps": ()},
        f"{NEITHER}: as many instructions; p50_us +4.1% (standard error 0.8%), {MUCH}",
    ),
    (Differs.UNCLEAR, SHORT | NOT_COUNTED | ONE | {"helps": ()}, f"{NEITHER}: {MUCH}"),
]


@pytest.mark.parametrize(("kind", "data", "said"), WORDS)
def test_what_is_said(kind, data, said):
    voice = voice_of(Sought.REGRESSION, Measured.COMMAND)
    assert str(speak(Finding.of(kind, **data), voice)) == said


def test_no_kind_is_without_words():
    assert set(SENTENCES) == set(Differs) == {row[0] for row in WORDS}
