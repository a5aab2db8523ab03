# SPDX-License-Identifier: GPL-2.0-or-later
"""The gate on findings that are not whole, that nothing finds, and on sentences that code reads."""

import findings
from rtbisect.model.kinds.pipeline import Ends

PROGRAM = """
from x import Ends
Finding.of(Ends.LOOK, boots=1, level="pass")
steps.tell(Ends.LOOK, boots=1)
steps.tell(Ends.LOOK, **data)
Finding.of(Ends.GONE)
Other.of(Thing.LOOK, boots=1)
speak(found).text.split()
str(speak(found)).startswith("a")
"a" in said(report, found)
str(speak(found))[0]
print(str(speak(found)))
"""


def test_what_is_not_whole_and_what_is_read_is_found(tmp_path):
    (tmp_path / "it.py").write_text(PROGRAM)
    assert findings.faults(tmp_path, {("Ends", "LOOK"): Ends.LOOK}) == [
        "it.py:4: Ends.LOOK has boots level, not ['boots']",
        "it.py:6: Ends has no GONE",
        "it.py:8: a sentence is read",
        "it.py:9: a sentence is read",
        "it.py:10: a sentence is read",
        "it.py:11: a sentence is read",
    ]


def test_a_kind_that_is_only_told_is_found(tmp_path):
    (tmp_path / "words").mkdir()
    (tmp_path / "words/it.py").write_text("SENTENCES = {Ends.LOOK: 'x', Ends.SAME: 'y', A.B: 'z'}")
    (tmp_path / "it.py").write_text("BY_LEVEL = {1: kinds.Ends.SAME}\nLOOK = 1\nother.LOOK")
    known = {("Ends", each.name): each for each in (Ends.LOOK, Ends.SAME)}
    assert findings.faults(tmp_path, known) == ["Ends.LOOK: nothing finds it"]
    assert findings.faults(tmp_path, known, {("Ends", "LOOK")}) == []
    assert findings.faults(tmp_path, known, known) == ["Ends.SAME: is not unfound"]
