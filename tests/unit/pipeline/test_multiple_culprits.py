# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of tested revisions that lie where one culprit does not put them."""

import pytest

from rtbisect.model.campaign import Cause, Outcome, Result
from rtbisect.pipeline import multiple_culprits
from rtbisect.search.spec import Answer

RESULT = Result(Outcome.CULPRIT, Cause.KERNEL, "culprit", (), 0.97, None, None)


def told(unlike):
    answer = Answer(Outcome.CULPRIT, "culprit", (), 0.97, 0.0, (), (), unlike=unlike)
    found = multiple_culprits.unlike(RESULT, answer)
    (check,) = found.verifications
    return check, found.reasons


@pytest.mark.parametrize("others", [(), (("other", 0.0002),)])
def test_a_culprit_is_no_revision_that_it_does_not_explain(others):
    check, reasons = told((("culprit", 0.0001), *others))
    assert check.status == "undecided"
    explained = [said for said in reasons if "does not explain" in said]
    assert all("culprit" not in said.split(": ")[1] for said in explained)
    assert bool(explained) == bool(others)
    assert any("itself" in said and "p = 0.0001" in said for said in reasons)


def test_others_are_told_by_name_and_none_passes():
    check, reasons = told((("other", 0.0002),))
    assert (check.status, *reasons) == ("undecided", check.note)
    assert "other (p = 0.0002)" in check.note
    check, reasons = told(())
    assert (check.status, reasons) == ("pass", ())
