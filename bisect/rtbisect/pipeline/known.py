# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a range before a search boots anything: a person's word, a check that found the
figure worse, and among how many figures it was chosen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.model.campaign import CampaignKind, Level, Prior, Role
from rtbisect.model.command import Extra
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.pipeline.compare import LOOKS
from rtbisect.search.prior import BASE_NONE, after_check, of_worst

if TYPE_CHECKING:
    from rtbisect.model.campaign import Threshold
    from rtbisect.pipeline.steps import Steps


def prior_none(steps: Steps, threshold: Threshold) -> float:
    """The probability of "no regression" before any boot; told where it is not that of a range of
    which nothing is known.
    """
    if not steps.setup.limits.prior_known:
        return BASE_NONE
    prior = steps.ports.journal.step("prior", Prior, lambda _note: _prior_of(steps, threshold))
    if prior.none != BASE_NONE:
        steps.tell(Searches.PRIOR, none=prior.none, figures=prior.figures, p=prior.check_p)
    return prior.none


def _prior_of(steps: Steps, threshold: Threshold) -> Prior:
    """What a person says of a range contains what checks have told that person."""
    setup = steps.setup
    request, sure = setup.request, Extra.of(setup.request).sure
    primary = sum(t.role is Role.PRIMARY for t in setup.judged)
    figures = primary if request.suite is None else 1
    check_p = _check_p(steps, threshold) if sure is None else None
    if check_p is not None:
        return Prior(none=after_check(check_p, primary, LOOKS), figures=primary, check_p=check_p)
    none = BASE_NONE if sure is None else 1 - sure
    return Prior(none=of_worst(none, figures), figures=figures)


def _check_p(steps: Steps, threshold: Threshold) -> float | None:
    """At which the newest check of the same ends has found the figure worse, if it has."""
    request = steps.setup.request
    if request.kind != CampaignKind.BISECT:
        return None
    asked = replace(request, kind=CampaignKind.CHECK, suite=None, metric=None, extra=())
    found = steps.ports.journal.judged(asked)
    worse = (j for j in found if j.key == threshold.key and j.level is Level.REGRESSED)
    return next((judgement.p for judgement in worse), None)
