# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the figures of an osnoise table agree in the unit that they claim (G1)."""

from __future__ import annotations

from dataclasses import dataclass

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Noise

#: The kernel cuts off what is shown: a percentage after five digits, times at whole us.
_LAST_DIGIT = 0.00002


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRow:
    """What an osnoise table says of one CPU; None for what the table does not have."""

    #: Sums over all samples.
    runtime_us: float
    noise_us: float | None
    #: Share of the runtime that was available, 0..100.
    avail_percent: float
    #: The worst sum of one sample.
    max_noise_us: float | None = None
    #: The longest single noise.
    max_single_us: float | None = None
    samples: int = 1
    #: The kernel's own figures; others are rounded by a person.
    exact: bool = True


def contradiction(row: NoiseRow) -> Finding | None:
    """What cannot be together in a row, None for nothing.

    `exact` rows are the kernel's own figures: the percentage follows from the other two to its last
    digit. Others are rounded by a person, so only a factor of two or more is wrong.
    """
    lost_us = row.runtime_us * (100 - row.avail_percent) / 100
    noise_us = lost_us if row.noise_us is None else row.noise_us
    if not 0 <= noise_us <= row.runtime_us or not 0 <= row.avail_percent <= 100:
        return Finding.of(Noise.RANGE, noise_us=noise_us, runtime_us=row.runtime_us)
    if row.exact and abs(lost_us - noise_us) > _LAST_DIGIT * row.runtime_us / 100:
        return Finding.of(
            Noise.AVAILABLE,
            avail_percent=row.avail_percent,
            noise_us=noise_us,
            runtime_us=row.runtime_us,
        )
    return _wrong_maxima(row, noise_us)


def _wrong_maxima(row: NoiseRow, noise_us: float) -> Finding | None:
    """How the maxima of a row contradict it; None where they do not."""
    slack = 1.0 if row.exact else 2.0
    mean_us = noise_us / row.samples
    most_us, single_us = row.max_noise_us, row.max_single_us
    if most_us is not None:
        if most_us * slack < mean_us:
            return Finding.of(Noise.WORST_BELOW_MEAN, max_noise_us=most_us, mean_us=mean_us)
        if most_us > noise_us * slack:
            return Finding.of(Noise.WORST_ABOVE_SUM, max_noise_us=most_us, noise_us=noise_us)
    worst_us = noise_us if most_us is None else most_us
    if single_us is not None and single_us > worst_us * slack:
        return Finding.of(Noise.SINGLE, max_single_us=single_us, noise_us=worst_us)
    return None
