# SPDX-License-Identifier: GPL-2.0-or-later
"""Durations of synchronize_rcu() by the kernel's own module rcuscale: a second instrument.

Source: durations.txt, one duration in ns a line (lava-jobs/suites/rcuscale); the figures are those
of suites/rcu.py. One writer calls again and again, without pause, until it has 100 durations.
"""

from __future__ import annotations

from rtbisect.model.lab import Window
from rtbisect.suites import rcu
from rtbisect.suites.base import Suite, renamed

NAME = "rcuscale"

SUITE = Suite(
    name=NAME,
    parse=renamed(rcu.parse, NAME),
    windows=(Window(name=NAME, suites=(NAME,), least_s=10.0),),
    counted_by=("kernel/rcu/rcuscale.c",),
)
