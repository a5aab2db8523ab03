# SPDX-License-Identifier: GPL-2.0-or-later
"""Every kind of a mail has words, and every figure that may start a search has its own."""

import pytest

from rtbisect.config.paths import data
from rtbisect.model.finding import Finding, Kind
from rtbisect.model.kinds import report
from rtbisect.model.kinds.mail import Newer
from rtbisect.words.report import SENTENCES
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

KINDS = [
    kind
    for area in vars(report).values()
    if isinstance(area, type) and issubclass(area, Kind) and area is not Kind
    for kind in area
]
SUITES = tuple(path.stem for path in sorted(data("thresholds").glob("*.yaml")))
LEVEL = Finding.of(report.Levels.FIGURE, value=6.0, unit="ms")
#: Data that are no text.
VALUES = {
    "metric": Finding.of(report.Columns.FIGURE, suite="ours", name="<metric>", unit=""),
    "change": LEVEL, "base": 6.0, "new": 9.0, "base_boots": 8, "new_boots": 8, "seen": 3,
    "commits": 4, "sockets": 2, "cores": 4, "threads": 2, "memory_mib": 1024, "isolates": False,
    "isolated": "2-7", "realtime": True, "ratio": 1.5, "low": 1.2, "high": 1.9, "floor": 0.5,
    "p": 0.001, "difference": 3.0, "value": 6.0, "level": LEVEL, "without": LEVEL,
    "with_it": LEVEL, "figures": 2, "parts": (LEVEL,), "hosts": (LEVEL,), "within": True,
    "builds": 2, "skipped": 0, "wall_s": 60.0, "unit": "ms", "part": None, "lacking": (LEVEL,),
    "better": False, "repair": False,
    "names": ("linux-6.12.y",), "files": ("a.c",), "cost": LEVEL,
    "series": ("linux-6.6.y", "linux-6.1.y"), "applies": True,
    "what": Finding.of(Newer.PATCH, title="x: mend it"),
}  # fmt: skip
#: Where boots are a number of them, not a text.
COUNTED = {report.Levels.BOOTS, report.Footers.COST, report.Machines.HOST}


def data_of(kind):
    data = {name: VALUES.get(name, f"<{name}>") for name in kind.parameters}
    return data | ({"boots": 8} if kind in COUNTED else {})


def test_all_kinds_are_in_the_table():
    assert set(KINDS) == set(SENTENCES)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_spoken_with_whole_words(kind):
    text = str(speak(Finding.of(kind, **data_of(kind))))
    assert text
    # What has no words, or words that want other data, is told as its word and its data.
    assert not text.startswith(kind.value)
    assert "{" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_words_leave_out_no_text_of_a_finding(kind):
    """But for the name of a figure that has words of its own, and what is there to choose them."""
    if set(kind.parameters) & {"suite", "test", "title"}:
        return
    text = str(speak(Finding.of(kind, **data_of(kind))))
    for name in kind.parameters:
        if name not in VALUES and name not in ("boots", "tree"):
            assert f"<{name}>"[:12] in text
