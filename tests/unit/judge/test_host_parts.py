# SPDX-License-Identifier: GPL-2.0-or-later
"""What hosts add to a figure."""

from dataclasses import replace

import pytest

from helpers.report_parts import RES_LIMIT
from rtbisect.judge import blocks
from rtbisect.model.campaign import Better, Scale, Statistic

#: Two kernels on two hosts; rt02 tells a quarter more of each.
BOOTS = [
    (kernel, host, value * (1.25 if host == "rt02" else 1.0))
    for kernel, value in (("good", 100.0), ("bad", 400.0))
    for host in ("rt01", "rt02")
    for _boot in range(3)
]
LOG = replace(
    RES_LIMIT, scale=Scale.LOG, floor=0.0, better=Better.LOWER, statistic=Statistic.MEDIAN
)


def test_a_ratio_on_the_log_scale():
    one, two = blocks.host_parts(LOG, BOOTS)
    assert (one.name, one.boots, two.name, two.boots) == ("rt01", 6, "rt02", 6)
    assert two.adds / one.adds == pytest.approx(1.25)
    assert one.adds * two.adds == pytest.approx(1.0)
    # Where more is better, too, the figure is told and not its badness.
    assert blocks.host_parts(replace(LOG, better=Better.HIGHER), BOOTS)[1].adds == pytest.approx(
        two.adds
    )


def test_a_difference_on_the_linear_scale():
    linear = replace(LOG, scale=Scale.LINEAR)
    boots = [(kernel, host, value + 7) for kernel, host, value in BOOTS if host == "rt01"]
    boots += [(kernel, "rt02", value - 3) for kernel, _, value in boots]
    one, two = blocks.host_parts(linear, boots)
    assert one.adds - two.adds == pytest.approx(3.0)


def test_hosts_that_nobody_can_tell_from_kernels():
    apart = [boot for boot in BOOTS if (boot[0] == "good") == (boot[1] == "rt01")]
    assert [(host.boots, host.adds) for host in blocks.host_parts(LOG, apart)] == [(3, None)] * 2
    means = replace(LOG, statistic=Statistic.MEAN)
    assert [host.adds for host in blocks.host_parts(means, BOOTS)] == [None] * 2


def test_one_host_is_no_factor():
    assert blocks.host_parts(LOG, [boot for boot in BOOTS if boot[1] == "rt01"]) == ()
    assert blocks.host_parts(LOG, [(kernel, "", value) for kernel, _, value in BOOTS]) == ()
    assert blocks.host_parts(LOG, []) == ()
