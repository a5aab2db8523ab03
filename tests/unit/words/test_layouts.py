# SPDX-License-Identifier: GPL-2.0-or-later
"""What `rtbisect host layouts` finds, in words."""

import pytest

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.layouts import Layouts
from rtbisect.words.layouts import SENTENCES
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

SIZES = {
    "boots_sd": 140.0, "layouts_sd": 30.5, "low": 0.0, "high": 119.0, "differ": 84.5,
    "differ_most": 330.0, "effect": 800.0,
}  # fmt: skip
NUMBERS = {"metric": "rcu.p50_us@rcu-off", "layouts": 8, "boots": 24}
OF_TIME = Finding.of(Layouts.SPREAD, unit="us", share=False, **SIZES, **NUMBERS)
OF_RATE = Finding.of(
    Layouts.SPREAD, unit="1/s", share=True, **{name: v / 1000 for name, v in SIZES.items()},
    **NUMBERS,
)  # fmt: skip
TIME = (
    "two builds of one code differ by up to 84.5 us in 95 of 100 cases (upper bound 330 us), the"
    " least effect that counts is"
    " 800 us; standard deviation of boots 140 us, of layouts 30.5 us (0 us to 119 us); 24 boots of"
    " 8 layouts"
)
RATE = (
    "two builds of one code differ by up to 8.5% in 95 of 100 cases (upper bound 33.0%), the least"
    " effect that counts is 80.0%;"
    " standard deviation of boots 14.0%, of layouts 3.0% (0.0% to 11.9%); 24 boots of 8 layouts"
)
FIGURE = {"metric": "rcu.p50_us@rcu-off", "p": 0.0414, "spread": OF_TIME}
NAME = "rcu.p50_us@rcu-off"

WORDS = [
    (Layouts.SPREAD, OF_TIME.data, TIME),
    (Layouts.SPREAD, OF_RATE.data, RATE),
    (Layouts.MATTERS, FIGURE, f"{NAME}: layout matters (p = 0.041): {TIME}"),
    (Layouts.MATTERS, FIGURE | {"p": 0.0001}, f"{NAME}: layout matters (p < 0.001): {TIME}"),
    (Layouts.NEGLIGIBLE, FIGURE, f"{NAME}: layout does not matter (p = 0.041): {TIME}"),
    (
        Layouts.UNDECIDED,
        FIGURE | {"layouts": 16, "boots": 5},
        f"{NAME}: not told (p = 0.041): {TIME}; 16 layouts with 5 boots each would tell",
    ),
    (
        Layouts.UNDECIDED,
        FIGURE | {"layouts": None, "boots": None},
        f"{NAME}: not told (p = 0.041): {TIME}; no number of boots that was tried would tell",
    ),
    (Layouts.SHOWN, FIGURE, f"{NAME} (p = 0.041): {TIME}"),
    (Layouts.TOO_FEW, {"metric": NAME}, f"{NAME}: too few boots have it"),
    (
        Layouts.BOOT,
        {"layout": 2, "layouts": 8, "number": 1, "boots": 3},
        "link layout 2 of 8, boot 1 of 3",
    ),
    (
        Layouts.LEFT_OUT,
        {"layout": 2, "number": 1, "why": "no answer"},
        "boot 1 of layout 2 is left out: no answer",
    ),
    (
        Layouts.GOES_ON,
        {"kept": 5, "of": 24},
        "5 of 24 boots are kept from the call that was interrupted",
    ),
    (
        Layouts.INTERRUPTED,
        {"kept": 5, "of": 24},
        "the same command within a day goes on: it has 5 of 24 boots",
    ),
    (
        Layouts.RELINK,
        {},
        "use build.layout: relink in the site file, so that each boot has a layout of its own",
    ),
    (Layouts.FIXED, {}, "build.layout: fixed is enough"),
    (
        Layouts.MORE_BOOTS,
        {"layouts": 16, "boots": 5},
        "boot more: --layouts 16 --boots 5",
    ),
    (
        Layouts.MORE_BOOTS,
        {"layouts": None, "boots": None},
        "boot more, or use build.layout: relink to be safe",
    ),
    (
        Layouts.EMULATED,
        {"device": "qemu-smt"},
        (
            "qemu-smt is emulated and has neither caches nor branch predictors: this says nothing"
            " of a real host"
        ),
    ),
    (
        Layouts.PICTURE,
        {"metric": "p50_us", "layouts": 8, "boots": 24, "low": 5000.0, "high": 6000.0,
         "unit": "us"},
        (
            "p50_us of 24 boots in 8 layouts, a column each, from 5000 to 6000 us; bars beside them"
            " show the standard deviation of boots and of layouts"
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data", "said"), WORDS)
def test_what_is_found_has_its_words(kind, data, said):
    assert str(speak(Finding.of(kind, **data))) == said


def test_all_kinds_have_words():
    assert {kind for kind, _, _ in WORDS} == set(Layouts) == SENTENCES.keys()
