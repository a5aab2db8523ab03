# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page tells beside what the parts of its campaign have found, in words."""

import pytest

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Told
from rtbisect.model.kinds.page import NotTested, Opening, Pictured
from rtbisect.words.page import SENTENCES
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

FIGURE = {"metric": "ipi.res_per_s", "window": "clock-on"}
BASE, NEW = (
    Finding.of(Opening.SIDE, name=name, value=value, unit="us", boots=8)
    for name, value in (("parent", 8.55), ("commit", 59.8))
)
SIDES = FIGURE | {"middle": "median", "base": BASE, "new": NEW, "low": 5.03, "high": 9.12}
SEEN, SEEN_TOO = (
    Finding.of(Opening.SEEN_IN, name=name, seen=seen, boots=12)
    for name, seen in (("parent", 0), ("commit", 8))
)
SIDE = Finding.of(
    Pictured.SIDE, name="parent", boots=1, middle="median", value=8.55, low=3.3, high=13.1,
    unit="us",
)  # fmt: skip
RANGE = {"metric": "ipi.res_per_s@clock-on", "boots": 41, "low": 3.3, "high": 82.6, "unit": "us"}

WORDS = [
    (
        Opening.SIDES,
        SIDES | {"effect": Finding.of(Told.RATIO, ratio=6.66)},
        (
            "In window clock-on the median of ipi.res_per_s is 8.55 us (parent, 8 boots) and"
            " 59.8 us (commit, 8 boots): new/base = 6.66, 95% interval 5.03 to 9.12"
        ),
    ),
    (
        Opening.SIDES,
        SIDES | {"effect": None},
        (
            "In window clock-on the median of ipi.res_per_s is 8.55 us (parent, 8 boots) and"
            " 59.8 us (commit, 8 boots)"
        ),
    ),
    (Opening.SIDE, BASE.data | {"unit": "", "boots": 1}, "8.55 (parent, 1 boot)"),
    (
        Opening.SEEN,
        FIGURE | {"base": SEEN, "new": SEEN_TOO},
        (
            "ipi.res_per_s is seen in 0 of 12 boots (parent) and in 8 of 12 boots (commit) in"
            " window clock-on"
        ),
    ),
    (Opening.SEEN_IN, SEEN.data, "0 of 12 boots (parent)"),
    (
        Opening.ONE_SIDED,
        FIGURE,
        "ipi.res_per_s in window clock-on was not measured on both sides",
    ),
    (Opening.NOTHING, {}, "No figure was compared"),
    (
        Pictured.BOOTS,
        {"metric": "ipi.res_per_s@clock-on", "unit": "us", "log": True, "sides": (SIDE, SIDE)},
        (
            "One dot a boot of ipi.res_per_s@clock-on, in us on a logarithmic axis."
            " parent: 1 boot, median 8.55 us, from 3.3 to 13.1 us;"
            " parent: 1 boot, median 8.55 us, from 3.3 to 13.1 us"
        ),
    ),
    (Pictured.SIDE, SIDE.data, "parent: 1 boot, median 8.55 us, from 3.3 to 13.1 us"),
    (
        Pictured.HISTORY,
        RANGE | {"revisions": 5},
        (
            "ipi.res_per_s@clock-on of 41 boots of 5 revisions by their place in the range, from"
            " 3.3 to 82.6 us"
        ),
    ),
    (
        Pictured.ORDER,
        RANGE,
        (
            "ipi.res_per_s@clock-on of 41 boots in the order in which they were made, from 3.3 to"
            " 82.6 us"
        ),
    ),
    (
        NotTested.NEWER,
        {"revision": "0123456789abcdef"},
        "Revisions newer than 0123456789ab, and other series",
    ),
    (
        NotTested.REVERT,
        {},
        "Whether a revert on the newest revision takes the change back",
    ),
    (NotTested.LAYOUT, {}, "Whether kernels with another code layout show the same"),
    (NotTested.PRODUCTION, {}, "A workload that somebody uses: this one is ours"),
    (NotTested.HARDWARE, {}, "Hardware: the figures are of an emulator"),
    (NotTested.OTHER_MACHINES, {"device": "board-1"}, "Machines other than board-1"),
    (NotTested.WITHOUT_RT, {}, "Kernels without PREEMPT_RT"),
    (NotTested.SAME_KERNEL, {}, "How much boots of one kernel differ from each other"),
    (
        NotTested.BRINGS_BACK,
        {},
        (
            "What a revert brings back: the commit names nothing that it repairs, and no campaign"
            " here found anything"
        ),
    ),
]


@pytest.mark.parametrize(("kind", "data", "sentence"), WORDS)
def test_findings_have_their_sentence(kind, data, sentence):
    assert str(speak(Finding.of(kind, **data))) == sentence


def test_every_kind_is_in_the_table_above():
    assert {kind for kind, _, _ in WORDS} == set(SENTENCES)
