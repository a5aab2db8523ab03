# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the figures of an osnoise table agree in the unit that they claim (G1)."""

from __future__ import annotations

from dataclasses import dataclass

#: The kernel cuts off what is shown: a percentage after five digits, times at whole us.
_LAST_DIGIT = 0.00002


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRow:
    """What an osnoise table says of one CPU; None for what the table does not have."""

    #: Of the row, for messages.
    label: str
    #: Sums over all samples.
    runtime_us: float
    noise_us: float | None
    #: Of the runtime, 0..100.
    avail_percent: float
    #: The worst sum of one sample.
    max_noise_us: float | None = None
    #: The longest single noise.
    max_single_us: float | None = None
    samples: int = 1
    #: The kernel's own figures; others are rounded by a person.
    exact: bool = True


def contradiction(row: NoiseRow) -> str:
    """What cannot be together in a row, "" for nothing.

    `exact` rows are the kernel's own figures: the percentage follows from the other two to its last
    digit. Others are rounded by a person, so only a factor of two or more is wrong.
    """
    lost_us = row.runtime_us * (100 - row.avail_percent) / 100
    noise_us = lost_us if row.noise_us is None else row.noise_us
    if not 0 <= noise_us <= row.runtime_us or not 0 <= row.avail_percent <= 100:
        return f"{row.label}: {noise_us:g} us of noise in {row.runtime_us:g} us"
    if row.exact and abs(lost_us - noise_us) > _LAST_DIGIT * row.runtime_us / 100:
        sentence = f"{row.avail_percent:g}% available does not follow from {noise_us:g} us of noise"
        return f"{row.label}: {sentence} in {row.runtime_us:g} us"
    fault = _wrong_maxima(row, noise_us)
    return f"{row.label}: {fault}" if fault else ""


def _wrong_maxima(row: NoiseRow, noise_us: float) -> str:
    """What is wrong with the maxima of a row, "" for nothing."""
    slack = 1.0 if row.exact else 2.0
    mean_us = noise_us / row.samples
    if row.max_noise_us is not None:
        if row.max_noise_us * slack < mean_us:
            sentence = f"the worst sample has {row.max_noise_us:g} us of noise,"
            return f"{sentence} the mean of all {mean_us:g} us"
        if row.max_noise_us > noise_us * slack:
            return f"one sample has {row.max_noise_us:g} us of noise, all of them {noise_us:g} us"
    worst = noise_us if row.max_noise_us is None else row.max_noise_us
    if row.max_single_us is not None and row.max_single_us > worst * slack:
        return f"a single noise of {row.max_single_us:g} us in {worst:g} us of noise"
    return ""
