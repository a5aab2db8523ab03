# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of campaigns without figures."""

from rtbisect.model.campaign import Cause, Outcome
from rtbisect.model.result import Result


def culprit_result(culprit, confidence=0.97, **more):
    """A commit is named, and the kernel is the cause."""
    fields = {"candidates": (), "metric": None, "judgement": None} | more
    return Result(
        outcome=Outcome.CULPRIT,
        cause=Cause.KERNEL,
        culprit=culprit,
        confidence=confidence,
        **fields,
    )


def other_result(outcome, **more):
    """No commit is named."""
    return Result(
        outcome=outcome,
        cause=Cause.NONE,
        culprit=None,
        candidates=(),
        confidence=0.0,
        metric=None,
        judgement=None,
        **more,
    )
