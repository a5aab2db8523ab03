# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page tells beside what the parts of its campaign have found, in words."""

import pytest

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Pictured
from rtbisect.words.page import SENTENCES
from rtbisect.words.speak import speak

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
