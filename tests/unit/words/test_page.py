# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page tells beside what the parts of its campaign have found, in words."""

import pytest

from rtbisect.model.campaign import Cause, Outcome, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Headed, Pictured
from rtbisect.words.page import SENTENCES
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of

pytestmark = pytest.mark.words

SIDE = Finding.of(
    Pictured.SIDE, name="parent", boots=1, middle="median", value=8.55, low=3.3, high=13.1,
    unit="us",
)  # fmt: skip
RANGE = {"metric": "ipi.res_per_s@clock-on", "boots": 41, "low": 3.3, "high": 82.6, "unit": "us"}

WORDS = [
    (
        Pictured.BOOTS,
        {"metric": "ipi.res_per_s@clock-on", "unit": "us", "log": True, "sides": (SIDE, SIDE)},
        (
            "One dot a boot of ipi.res_per_s@clock-on, in us on a logarithmic axis."
            " parent: 1 boot, median 8.55 us, from 3.30 to 13.1 us;"
            " parent: 1 boot, median 8.55 us, from 3.30 to 13.1 us"
        ),
    ),
    (Pictured.SIDE, SIDE.data, "parent: 1 boot, median 8.55 us, from 3.30 to 13.1 us"),
    (
        Pictured.SIDE_OF_BOOTS,
        {"name": "parent", "seen": 13, "boots": 26},
        "parent: 13 of 26 boots",
    ),
    (Headed.ANSWER, {"outcome": Outcome.CULPRIT}, "culprit"),
    (Headed.ANSWER, {"outcome": Outcome.CULPRIT_SET}, "one of several commits"),
    (
        Headed.ANSWER,
        {"outcome": Outcome.LAYOUT_SENSITIVE},
        "it follows the layout of the code and no commit",
    ),
    (
        Headed.ANSWER,
        {"outcome": Outcome.GRADUAL},
        "it came in many small steps, and no one commit makes it",
    ),
    (Headed.ANSWER, {"outcome": "of_later"}, "of_later"),
    (Headed.CAUSE, {"cause": Cause.NONE}, "not known"),
    (Headed.CAUSE, {"cause": Cause.WORKLOAD_DEPENDENT}, "the kernel, beside its workload only"),
    (
        Pictured.HISTORY,
        RANGE | {"revisions": 5},
        (
            "ipi.res_per_s@clock-on of 41 boots of 5 revisions by their place in the range, from"
            " 3.30 to 82.6 us"
        ),
    ),
    (
        Pictured.ORDER,
        RANGE,
        (
            "ipi.res_per_s@clock-on of 41 boots in the order in which they were made, from 3.30 to"
            " 82.6 us"
        ),
    ),
    (
        Pictured.EARLIER,
        {"metric": "ipi.res_per_s@clock-on", "campaigns": 3, "low": 1.0, "high": 9, "unit": "/s"},
        (
            "ipi.res_per_s@clock-on on both ends of 3 campaigns in their order, the last of them"
            " this one, from 1 to 9/s"
        ),
    ),
]


@pytest.mark.parametrize(("kind", "data", "sentence"), WORDS)
def test_findings_have_their_sentence(kind, data, sentence):
    assert str(speak(Finding.of(kind, **data))) == sentence


def test_every_kind_is_in_the_table_above():
    assert {kind for kind, _, _ in WORDS} == set(SENTENCES)


def test_a_repair_that_was_sought_is_no_culprit():
    voice = voice_of(Sought.REPAIR)
    answers = {
        outcome: str(speak(Finding.of(Headed.ANSWER, outcome=outcome), voice))
        for outcome in (Outcome.CULPRIT, Outcome.NO_REGRESSION)
    }
    assert answers == {Outcome.CULPRIT: "repair", Outcome.NO_REGRESSION: "no repair"}


@pytest.mark.parametrize("names", [Outcome, Cause])
def test_every_answer_and_cause_has_words(names):
    """But those that are words."""
    kind, key = (Headed.ANSWER, "outcome") if names is Outcome else (Headed.CAUSE, "cause")
    told = {each: str(speak(Finding.of(kind, **{key: each}))) for each in names}
    assert [each for each, text in told.items() if each == text] == (
        [Outcome.CULPRIT] if names is Outcome else []
    )
    assert not [text for text in told.values() if "_" in text or "{" in text]
