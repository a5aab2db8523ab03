# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts on watched CPUs beside a workload of the site's own, and without it.

Source and figures are those of suites/ipi.py; how many events a foreign program handles is its own
business, so there is no dose.
"""

from __future__ import annotations

from functools import partial

from rtbisect.model.lab import Window
from rtbisect.suites import ipi

NAME = "siteload"

COUNTED_BY = ipi.COUNTED_BY

#: How the level of such a workload begins.
SITE = "site:"

#: `workload` becomes the name and the hash of the program that the site names.
WINDOWS = (
    Window(f"{NAME}-off", (NAME,)),
    Window(f"{NAME}-on", (NAME,), workload="site", synthetic=True),
)

parse = partial(ipi.parse_as, NAME)
