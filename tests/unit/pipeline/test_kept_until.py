# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether something behind a culprit takes back a part of what it does."""

from types import SimpleNamespace

import pytest

from helpers.searches import WAIT, event, replayed
from rtbisect.model.campaign import Sample
from rtbisect.pipeline.proof import _Proof
from rtbisect.search import verification
from rtbisect.search.likelihood.features import WHOLE
from rtbisect.search.verify_spec import VerifySpec

GOOD = tuple(6000.0 + 10 * n for n in range(6))
BAD = tuple(value + 5000 for value in GOOD)
SLOWER = tuple(value + 9000 for value in BAD)
#: What is slower was disturbed, in us.
CALM = 15000.0


def figures(values):
    """Boots, of which only this figure is asked."""
    return SimpleNamespace(figure=lambda *_: [event("", value).observation for value in values])


@pytest.mark.parametrize(
    ("culprit", "checks"),
    [
        (BAD, 0),
        # Most of them were slowed by something else on the machine.
        (tuple(v for three in zip(SLOWER, BAD, SLOWER, strict=True) for v in three), 0),
        # All of them are as slow by themselves.
        (SLOWER, 1),
    ],
    ids=["as the end", "disturbed", "worse than the end"],
)
def test_a_culprit_is_worse_than_the_bad_end_without_what_was_disturbed(
    monkeypatch, culprit, checks
):
    monkeypatch.setattr(_Proof, "drifts", False)
    check = VerifySpec(
        culprit="culprit", parents=("parent",), threshold=WAIT, seed=3, revert=None, tip="end",
        endpoints=(Sample(GOOD), Sample(BAD)), calm=CALM,
    )  # fmt: skip
    proof = _Proof(
        steps=SimpleNamespace(
            evidence=lambda: {"end": figures(BAD * 2)}, tell=lambda *_words, **_data: None
        ),
        graph=None,
        search_end=SimpleNamespace(
            state=SimpleNamespace(two_speeds={}, drifts=False, calm=CALM),
            answer=SimpleNamespace(figure=WHOLE),
        ),
        state=replayed(verification, check, [event("culprit", value) for value in culprit]),
        fresh={"culprit": figures(culprit)},
    )
    assert len(proof.kept_until("end")) == checks
