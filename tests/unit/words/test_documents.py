# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs read of values with findings in them."""

from dataclasses import replace

from helpers.results import other_result
from rtbisect.model import result
from rtbisect.model.campaign import Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends, Reasons
from rtbisect.model.kinds.search import Untestable
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.words.documents import found, spoken
from rtbisect.words.speak import speak
from rtbisect.words.voice import PLAIN

RESULT = other_result(Outcome.INCONCLUSIVE)


def test_findings_stand_beside_their_sentences():
    same = Finding.of(Ends.SAME)
    document = spoken(replace(RESULT, reasons=(same,)), PLAIN)
    assert document["reasons"] == [str(speak(same))]
    assert document["reasons_found"] == [{"kind": "ends.same", "data": {}}]
    assert spoken(RESULT, PLAIN)["reasons_found"] == []


def test_what_is_not_there_is_an_empty_text():
    tested = result.TestedRevision("a", "", 3, 0.5)
    skipped = replace(tested, skipped=Finding.of(Untestable.NO_BUILD))
    one, two = spoken(replace(RESULT, tested=(tested, skipped)), PLAIN)["tested"]
    assert (one["skipped"], "skipped_found" in one) == ("", False)
    assert two["skipped_found"]["kind"] == Untestable.NO_BUILD


def test_a_check_has_its_name():
    check = Verification(
        check=CheckName.PARENT, status=CheckStatus.PASS, judgement=None, parent="0123456789ab"
    )
    (row,) = spoken(replace(RESULT, verifications=(check,)), PLAIN)["verifications"]
    assert row["name_found"] == {"kind": "check.parent", "data": {"parent": "0123456789ab"}}


def test_a_finding_in_a_finding_is_one_in_the_document():
    inner = Finding.of(Ends.SAME)
    outer = Finding.of(Reasons.JUDGED, metric="m", level="pass", why=inner)
    assert found(outer)["data"]["why"] == found(inner)
