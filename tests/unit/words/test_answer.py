# SPDX-License-Identifier: GPL-2.0-or-later
"""What the answer of a command shows, in words."""

import pytest

from rtbisect.model.campaign import Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered, Broken
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.subject import Measured
from rtbisect.words.answer import SENTENCES
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of

pytestmark = pytest.mark.words

LIKELY = Finding.of(Answered.CANDIDATE, sha="a" * 40, probability=0.125)
NUMBERS = {"value": 10.1, "low": 9.3, "high": 11.4, "runs": 6}
SIDE = Finding.of(Answered.SIDE, **NUMBERS, unit="us")
SHARE = Finding.of(Answered.SHARE, value=0.1, low=0.01, high=0.4, runs=10)
PAIR = {"metric": "command.p50_us@run", "before": SIDE, "after": SIDE}
CHART = {"shown": 8, "tested": 8, "low": 8.0, "high": 13.0, "unit": "us"}
TOLD = "10.1 us (9.30 us to 11.4 us, 6 runs)"
GOOD, BAD = "a" * 40, "b" * 40
FAILING = "10% (1% to 40%, 10 runs)"

WORDS = [
    (Answered.SIDE, SIDE.data, TOLD),
    (Answered.SHARE, SHARE.data, FAILING),
    (
        Answered.DIFFERENCE,
        PAIR | {"effect": 2.8, "low": 1.2, "high": 3.9, "unit": "us"},
        f"p50_us: {TOLD} before, {TOLD} after: +2.80 us (+1.20 us to +3.90 us); 95% intervals",
    ),
    (
        Answered.RATIO,
        PAIR | {"effect": 1.5, "low": 1.2, "high": 2.0},
        f"p50_us: {TOLD} before, {TOLD} after: 1.50 times (1.20 to 2); 95% intervals",
    ),
    (
        Answered.SHARES,
        {"before": SHARE, "after": SHARE},
        f"failing runs: {FAILING} before, {FAILING} after; 95% intervals",
    ),
    (Answered.SIDES, PAIR, f"p50_us: {TOLD} before, {TOLD} after; 95% intervals"),
    (
        Answered.OF_COMMIT,
        {"sha": BAD, "change": Finding.of(Answered.SIDES, **PAIR)},
        f"bbbbbbbbbbbb: p50_us: {TOLD} before, {TOLD} after; 95% intervals",
    ),
    (
        Answered.CHART,
        CHART | {"skipped": False, "open": False, "named": True},
        "8 tested revisions, oldest first, height from 8 us to 13 us; g good, b bad, C culprit",
    ),
    (
        Answered.CHART,
        CHART | {"shown": 5, "low": None, "skipped": True, "open": True, "named": False},
        "5 of 8 tested revisions, oldest first; g good, b bad, x skipped, ? open",
    ),
    (Answered.LAYOUTS, {}, "each run was linked with a code layout of its own"),
    (
        Answered.REST,
        {"share": 0.524, "command": "rtbisect run"},
        "this is 52% of the change between the ends; to find the rest: rtbisect run",
    ),
    (
        Answered.TELLS,
        {"command": "rtbisect run", "relayout": False},
        "to tell whether it is code or layout: rtbisect run",
    ),
    (
        Answered.TELLS,
        {"command": "rtbisect run", "relayout": True},
        (
            "to tell whether it is code or layout (--relayout tells it, too: docs/run.md,"
            ' "A layout for each run"): rtbisect run'
        ),
    ),
    (
        Answered.TELLS,
        {"command": "", "relayout": True},
        (
            "to tell whether it is code or layout: search with --relayout and a --build for it"
            ' (docs/run.md, "A layout for each run")'
        ),
    ),
    (
        Answered.BY_COUNTS,
        {"command": "rtbisect run"},
        "instructions hardly vary, so that a search by them is short: rtbisect run",
    ),
    (Answered.NEXT, {"command": "git show abc"}, "next: git show abc"),
    (
        Broken.NOT_BUILT,
        {"ends": (GOOD, BAD), "error": "ended with 1", "campaign": "run-1"},
        (
            "nothing could be measured at the aaaaaaaaaaaa and the bbbbbbbbbbbb: neither "
            "builds (ended with 1); see run/run-1/build-*.log of the state directory, and try"
            " --build by hand"
        ),
    ),
    (
        Answered.CANDIDATES,
        {"candidates": (LIKELY, LIKELY), "more": 3},
        "likeliest: aaaaaaaaaaaa 0.125, aaaaaaaaaaaa 0.125, and 3 others",
    ),
    (
        Answered.CANDIDATES,
        {"candidates": (LIKELY,), "more": 0},
        "likeliest: aaaaaaaaaaaa 0.125",
    ),
    (Answered.CANDIDATE, LIKELY.data, "aaaaaaaaaaaa 0.125"),
    (
        Broken.LATE,
        {"ends": (GOOD,), "runs": 4, "limit_s": 0.5},
        (
            "nothing could be measured in 4 runs of the aaaaaaaaaaaa: each took longer than "
            "0.5 s; give a larger --timeout, or look at why the command does not end"
        ),
    ),
    (
        Broken.NOT_THERE,
        {"ends": (GOOD,), "why": Finding.of(Commands.NOT_THERE, program="./x")},
        (
            "nothing could be measured at the aaaaaaaaaaaa: ./x is not in this revision; "
            "bring it along with --overlay, or let --build make it"
        ),
    ),
    (
        Broken.NOT_RUN,
        {"ends": (GOOD,), "runs": 1, "code": 127},
        (
            "nothing could be measured in 1 run of the aaaaaaaaaaaa: the exit code 127 says "
            "that there is no such program; install what the command starts, or mend its path"
        ),
    ),
    *(
        (
            Broken.NO_FIGURE,
            {"ends": (GOOD,), "runs": 5, "why": Finding.of(Commands.NOTHING), "campaign": "run-1"}
            | {"moved": moved},
            (
                "nothing could be measured in 5 runs of the aaaaaaaaaaaa: the command printed "
                f"nothing; see run/run-1/ of the state directory, and try the command by hand{more}"
            ),
        )
        for moved, more in ((False, ""), (True, ", and the search without --relayout"))
    ),
]


@pytest.mark.parametrize(("kind", "data", "sentence"), WORDS)
def test_each_kind_has_its_sentence(kind, data, sentence):
    assert str(speak(Finding.of(kind, **data))) == sentence


def test_no_kind_is_without_words():
    assert {kind for kind, _, _ in WORDS} == set(SENTENCES) == {*Answered, *Broken}


def test_marks_of_a_repair_are_those_of_its_ends():
    told = Finding.of(Answered.CHART, **CHART, skipped=False, open=False, named=True)
    sentence = str(speak(told, voice_of(Sought.REPAIR, Measured.COMMAND)))
    assert sentence.endswith("; b broken, f fixed, C repair")
