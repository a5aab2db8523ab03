# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts on watched CPUs beside a workload of the site's own, and without it.

Source and figures are those of suites/ipi.py; how many events a foreign program handles is its own
business, so there is no dose.
"""

from __future__ import annotations

from rtbisect.model.lab import OF_SITE, Window
from rtbisect.suites import ipi
from rtbisect.suites.base import Suite, renamed

NAME = "siteload"

SUITE = Suite(
    name=NAME,
    parse=renamed(ipi.parse, NAME),
    windows=(
        Window(name=f"{NAME}-off", suites=(NAME,)),
        Window(name=f"{NAME}-on", suites=(NAME,), workload=OF_SITE, synthetic=True),
    ),
    per_event=ipi.PER_EVENT,
    counted_by=ipi.COUNTED_BY,
)
