# SPDX-License-Identifier: GPL-2.0-or-later
"""What counts of instructions say, in words."""

import pytest

from rtbisect.model.campaign import Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.counts import Counts
from rtbisect.model.subject import Measured
from rtbisect.words.counts import SENTENCES
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of

pytestmark = pytest.mark.words

A, B = "a" * 40, "b" * 40
PAIR = {"older": A, "newer": B, "metric": "command.p50_us@run"}
TIME = {"change": 0.01, "low": -0.006, "high": 0.026}
NO_TIME = {"change": None, "low": None, "high": None}

WORDS = [
    (Counts.BY, {"counter": "perf"}, "instructions are counted by the CPU (perf stat)"),
    (Counts.BY, {"counter": "perf stat"}, "instructions are counted by the CPU (perf stat)"),
    (
        Counts.BY,
        {"counter": "valgrind"},
        "instructions are counted by valgrind: a run takes 20 to 50 times as long",
    ),
    (
        Counts.VARY,
        {"revision": A, "low": 1e6, "high": 1.02e6, "share": 0.0196},
        (
            "two runs of aaaaaaaaaaaa execute 1,000,000 and 1,020,000 instructions (1.96%"
            " apart): the"
            " program goes by the time, or by random numbers (PYTHONHASHSEED=0 fixes those of"
            " Python),"
            " or the command builds (use --build); the counts are searched as a figure with noise"
        ),
    ),
    (
        Counts.ONCE,
        {"revision": A, "why": "no"},
        (
            "one run of aaaaaaaaaaaa was counted, and further ones have no count (no): the counts"
            " are searched as a figure with noise"
        ),
    ),
    (
        Counts.ALIKE,
        {"older": 1e6, "newer": 1e6 + 20, "share": 2e-5},
        "both ends execute as many instructions: 1,000,000 and 1,000,020 (+0.002%)",
    ),
    (
        Counts.FEWER,
        {"older": 1e6, "newer": 9e5, "share": -0.1},
        (
            "the newer end executes fewer instructions than the merge base: 900,000 and 1,000,000"
            " (-10.00%)"
        ),
    ),
    (
        Counts.HIDDEN,
        {"commits": 6, "part": 0.4},
        "a further 40% of the change lies among 6 commits that cannot be told apart",
    ),
    (Counts.LEFT, {"left": 3, "commits": 23}, "3 of 23 commits left"),
    (
        Counts.STEP,
        {"sha": B, "parent": A, "before": 1e6, "after": 1.057e6, "share": 0.057, "part": 0.9},
        (
            "bbbbbbbbbbbb executes 1,057,000 instructions and its parent aaaaaaaaaaaa 1,000,000"
            " (+5.70%), the same in two runs each; that is 90% of the change between the ends"
        ),
    ),
    (
        Counts.SMALL_STEPS,
        {"sha": B, "part": 0.11},
        "the largest step, at bbbbbbbbbbbb, makes only 11% of the change between the ends",
    ),
    (
        Counts.BESIDE,
        PAIR | TIME | {"share": 0.057, "spread": 0.0},
        (
            "bbbbbbbbbbbb executes 5.70% more instructions than aaaaaaaaaaaa;"
            " p50_us +1.0% (-0.6% to +2.6%)"
        ),
    ),
    (
        Counts.BESIDE,
        PAIR | NO_TIME | {"share": -0.057, "spread": 0.001},
        (
            "bbbbbbbbbbbb executes 5.70% fewer instructions than aaaaaaaaaaaa (two runs of one"
            " revision"
            " differ by 0.10%)"
        ),
    ),
    (
        Counts.SAME,
        PAIR | TIME | {"share": 1e-5, "spread": 0.0},
        (
            "bbbbbbbbbbbb executes as many instructions as aaaaaaaaaaaa (+0.001%): what"
            " differs is the"
            " layout of the code, caches or waiting, not what is executed;"
            " p50_us +1.0% (-0.6% to +2.6%)"
        ),
    ),
    (
        Counts.SAME,
        PAIR | NO_TIME | {"share": 0.001, "spread": 0.0005},
        (
            "bbbbbbbbbbbb executes as many instructions as aaaaaaaaaaaa (+0.10%, within"
            " 0.05%): what"
            " differs is the layout of the code, caches or waiting, not what is executed"
        ),
    ),
    (
        Counts.UNSURE,
        PAIR | TIME | {"share": 0.09, "spread": 0.02},
        (
            "counts vary too much to say whether bbbbbbbbbbbb executes more instructions than"
            " aaaaaaaaaaaa: two runs of one revision differ by 2.00%, these two revisions by"
            " +9.00%; p50_us +1.0% (-0.6% to +2.6%)"
        ),
    ),
    (
        Counts.UNCOUNTED,
        {"revision": A, "why": "no"},
        "the instructions of aaaaaaaaaaaa are not counted: no",
    ),
]


@pytest.mark.parametrize(("kind", "data", "told"), WORDS)
def test_a_finding_has_these_words(kind, data, told):
    voice = voice_of(Sought.REGRESSION, Measured.COMMAND)
    assert str(speak(Finding.of(kind, **data), voice)) == told


def test_all_of_them_are_here():
    assert {kind for kind, *_ in WORDS} == set(SENTENCES)
