# SPDX-License-Identifier: GPL-2.0-or-later
"""What earlier campaigns measured of a figure, where their boots can be compared."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rtbisect.campaign.fingerprint import MACHINE
from rtbisect.errors import InternalError
from rtbisect.model.report import EarlierFigure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.model.campaign import MetricKey
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore

#: Campaigns that are read: more do not fit a picture.
_MOST = 40


def earlier_figures(
    store: CampaignStore, identity: str, key: MetricKey | None
) -> tuple[EarlierFigure, ...]:
    """The figure on both ends of each campaign before this one that measured it on a device of
    the type of its own, set up as that, the oldest first; () where nothing was searched on.
    """
    figures: list[EarlierFigure] = []
    names = store.same_before(identity, MACHINE, _MOST) if key else ()
    for record in store.readable(names):
        # What another version asked is nothing that can be compared.
        with suppress(InternalError):
            figures += _of(record, key)
    return tuple(figures)


def _of(record: CampaignRecord, key: MetricKey | None) -> Iterator[EarlierFigure]:
    result, request = record.result, record.request
    judged = (result.judgement, *result.judgements) if result else ()
    whole = (each for each in judged if each and each.key == key and each.figure is None)
    if (found := next(whole, None)) is None:
        return
    for revision, sample in ((request.older, found.base), (request.newer, found.new)):
        if sample.values:
            yield EarlierFigure(
                campaign=record.id, date=record.created, revision=revision, sample=sample
            )
