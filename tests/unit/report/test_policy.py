# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report is for."""

from dataclasses import replace

import pytest

from helpers.report_cases import backport, epoll, rcu
from rtbisect.report.policy import Purpose, purpose_of


def lab(report):
    """The same of a real machine and of a workload that is not ours."""
    device = replace(report.device, emulated=False)
    return replace(report, device=device, synthetic_workload=False)


@pytest.mark.parametrize(
    ("report", "kind", "hurts", "purpose"),
    [
        (rcu(), "mainline", True, Purpose.TRACKED),
        (rcu(), "stable", True, Purpose.TRACKED),
        (rcu(), "mainline", False, Purpose.TOLD),
        (rcu(), "rt", True, Purpose.TOLD),
        (lab(epoll()), "mainline", True, Purpose.TOLD),
        (backport(), "mainline", True, Purpose.BACKPORT),
        (replace(backport(), series=()), "mainline", True, Purpose.TOLD),
    ],
)
def test_what_a_report_is_for(report, kind, hurts, purpose):
    assert purpose_of(report, kind, hurts=hurts) is purpose
