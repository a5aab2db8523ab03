# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lines of a proof say."""

import pytest

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Proofs
from rtbisect.model.subject import Measured
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of

pytestmark = pytest.mark.words

CULPRIT = "d" * 40
OF_RUN = voice_of(measured=Measured.COMMAND)


def test_a_check_says_of_which_commit_it_is():
    check = {"check": "the check", "status": "pass"}
    said = str(speak(Finding.of(Proofs.CHECK, culprit=CULPRIT, note="a note", **check), OF_RUN))
    assert said == "proof of dddddddddddd, the check: pass: a note"
    # As older programs have kept it.
    old = Finding(Proofs.CHECK.value, {"note": None, **check})
    assert str(speak(old, OF_RUN)) == "proof, the check: pass"


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        (
            Proofs.LAST,
            {"proofs": 3},
            (
                "a search makes 3 proofs at most, and the last one has had all its runs:"
                " a larger budget changes nothing"
            ),
        ),
        (
            Proofs.SAME,
            {"culprit": CULPRIT},
            (
                "with the runs of the proof the search still names dddddddddddd, and to prove it"
                " again would only ask luck twice: a larger budget changes nothing"
            ),
        ),
    ],
)
def test_why_no_other_proof_follows_is_told(kind, data, said):
    assert str(speak(Finding.of(kind, **data), OF_RUN)) == said


def test_a_search_that_goes_on_after_its_checks_passed_says_what_is_asked():
    data = {"culprit": CULPRIT, "asked": 0.95, "none": 0.0312, "none_asked": 0.01}

    def goes_on(probability):
        why = Finding.of(Proofs.UNLIKELY, **data, probability=probability)
        on = Finding.of(Proofs.SEARCHED_ON, culprit=CULPRIT, probability=probability, why=why)
        return str(speak(on, OF_RUN))

    of_it = f"with the fresh runs the probability of {CULPRIT:.12} is"
    assert goes_on(0.694) == (
        f"{of_it} 0.694 (at least 0.95 is asked); the search goes on with these runs"
    )
    assert goes_on(0.961) == (
        f"{of_it} 0.961, and that of no regression 0.031 (at most 0.01 is asked);"
        " the search goes on with these runs"
    )
