# SPDX-License-Identifier: GPL-2.0-or-later
"""What each host of a campaign adds to a figure, for who reads its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge import blocks
from rtbisect.judge.scale import badness, by_mean, effect_of
from rtbisect.model.report import HostPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold


def host_parts(
    threshold: Threshold, boots: Sequence[tuple[str, str, float]]
) -> tuple[HostPart, ...]:
    """Each host by its name, from boots (kernel, host, value); empty for one host."""
    names = sorted({host for _, host, _ in boots})
    if len(names) < 2 or "" in names:
        return ()
    pairs = {(kernel, host) for kernel, host, _ in boots}
    separate = len(pairs) == len({kernel for kernel, _ in pairs})
    rows = [(kernel, host, badness(threshold, value)) for kernel, host, value in boots]
    # Means are compared as they are: they have no part of hosts.
    added = {} if separate or by_mean(threshold) else blocks.offsets(rows)
    return tuple(
        HostPart(
            name,
            sum(host == name for _, host, _ in boots),
            effect_of(threshold, added[name]) if name in added else None,
        )
        for name in names
    )
