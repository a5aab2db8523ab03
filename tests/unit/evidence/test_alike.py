# SPDX-License-Identifier: GPL-2.0-or-later
"""When two findings are the same answer, whatever words and digits they have."""

import pytest

from helpers.findings import said
from rtbisect.evidence.bundle import alike
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Endings, Untestable

SHA = "0123456789abcdef0123456789abcdef01234567"


def likely(probability, **more):
    return Finding(Endings.CULPRIT, {"sha": SHA, "probability": probability, "boots": 9} | more)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (likely(0.97), likely(0.97 + 1e-12), True),
        (likely(0.97), likely(0.98), False),
        (likely(0.97), likely(0.97, layouts=2), True),
        (likely(0.97), Finding.of(Endings.INSEPARABLE), False),
        (said("so it was told"), likely(0.97), True),
        (said("so it was told"), None, False),
        (
            Finding.of(Untestable.REVISION, sha=SHA, why=Finding.of(Untestable.NO_BUILD)),
            Finding.of(Untestable.REVISION, sha=SHA, why=Finding.of(Untestable.NO_BOOT)),
            False,
        ),
    ],
    ids=["last digits", "number", "newer", "kind", "older", "nothing", "inner"],
)
def test_findings_are_the_same_by_kind_and_data(one, other, same):
    assert alike(one, other) is alike(other, one) is same
    assert alike((one,), (other,)) is same
