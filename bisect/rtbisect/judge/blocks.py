# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots on several equal hosts: what a host adds is taken out before kernels are compared, and
labels are exchanged within a host only (aligned ranks in blocks: Hodges and Lehmann, 1962).

A block is all boots of one host. With one host everything is as if there were none.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from rtbisect.judge import stats
from rtbisect.judge.scale import badness, by_mean, effect_of
from rtbisect.model.report import HostPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rtbisect.model.campaign import Threshold

    _T = TypeVar("_T")
    #: The boots of two kernels.
    Pair: TypeAlias = tuple[Sequence[_T], Sequence[_T]]

#: Rounds of the fit; what is left of a difference between hosts is halved in each, or better.
_ROUNDS = 60


def offsets(boots: Sequence[tuple[str, str, float]]) -> Mapping[str, float]:
    """What each host adds to a value, by boots (kernel, host, value): the part of hosts in an
    additive table of kernels by hosts, whose cells are medians weighed by their boots. The parts
    add up to zero over the boots. They are zero where no kernel was booted on two hosts: nobody
    can tell hosts from kernels then.
    """
    hosts = dict.fromkeys(sorted({host for _, host, _ in boots}), 0.0)
    cells: dict[tuple[str, str], list[float]] = {}
    for kernel, host, value in boots:
        cells.setdefault((kernel, host), []).append(value)
    times = Counter(kernel for kernel, _ in cells)
    table = [
        (kernel, host, stats.median(values), len(values))
        for (kernel, host), values in cells.items()
        if times[kernel] > 1
    ]
    kernels = dict.fromkeys((kernel for kernel, _, _, _ in table), 0.0)
    for _round in range(_ROUNDS):
        kernels |= _means((kernel, value - hosts[host], n) for kernel, host, value, n in table)
        hosts |= _means((host, value - kernels[kernel], n) for kernel, host, value, n in table)
    middle = math.fsum(hosts[host] for _, host, _ in boots) / max(1, len(boots))
    return {host: added - middle for host, added in hosts.items()}


def _means(rows: Iterable[tuple[str, float, int]]) -> dict[str, float]:
    """Weighted means by name."""
    groups: dict[str, list[tuple[float, int]]] = {}
    for name, value, weight in rows:
        groups.setdefault(name, []).append((value, weight))
    return {
        name: math.fsum(value * n for value, n in weighted) / sum(n for _, n in weighted)
        for name, weighted in groups.items()
    }


def aligned(
    values: Sequence[Sequence[float]], hosts: Sequence[Sequence[str]]
) -> tuple[tuple[float, ...], ...]:
    """Values of several kernels without what their hosts add."""
    rows = [
        (str(kernel), host, value)
        for kernel, (kernel_values, kernel_hosts) in enumerate(zip(values, hosts, strict=True))
        for host, value in zip(kernel_hosts, kernel_values, strict=True)
    ]
    added = offsets(rows)
    return tuple(
        tuple(value - added[host] for host, value in zip(kernel_hosts, kernel_values, strict=True))
        for kernel_values, kernel_hosts in zip(values, hosts, strict=True)
    )


def one_block(*hosts: Sequence[str]) -> bool:
    """Whether all boots are of one host, or of hosts without a name."""
    return len({name for names in hosts for name in names}) <= 1


def smallest_p(base: Sequence[str], new: Sequence[str]) -> float:
    """Smallest one-sided p value of boots on these hosts: labels change within a host."""
    splits = math.prod(
        math.comb(base.count(host) + new.count(host), new.count(host)) for host in {*base, *new}
    )
    return max(1 / splits, 1 / (stats.SAMPLED_SPLITS + 1))


def exchanged_freely(hosts: Pair[str]) -> bool:
    """Whether labels of two kernels change places freely: of one of them no host is known, or all
    boots are of one.
    """
    return not all(hosts) or one_block(*hosts)


def split_p(values: Pair[float], hosts: Pair[str], *, ranks: bool, seed: int = 0) -> float:
    """P value of "the second is greater" for aligned values, by their ranks or as they are: random
    exchanges of labels within hosts, with the +1 correction.
    """
    base, new = values
    pooled = np.asarray([*base, *new], dtype=np.float64)
    if ranks:
        _, value_index, times = np.unique(pooled, return_inverse=True, return_counts=True)
        pooled = (np.cumsum(times) - (times - 1) / 2)[value_index.reshape(-1)].astype(np.float64)
    host_of = [name for names in hosts for name in names]
    is_new = np.arange(pooled.size) >= len(base)
    observed = float(pooled[is_new].sum())
    rng = np.random.default_rng(seed)
    sums = np.zeros(stats.SAMPLED_SPLITS)
    for host in sorted(set(host_of)):
        block = np.array([name == host for name in host_of])
        inside, size = pooled[block], int(is_new[block].sum())
        order = rng.random((stats.SAMPLED_SPLITS, inside.size)).argsort(axis=1)[:, :size]
        sums += inside[order].sum(axis=1)
    slack = 1e-9 * float(np.abs(pooled).sum())
    extreme = int(np.count_nonzero(sums >= observed - slack))
    return (extreme + 1) / (sums.size + 1)


def exchange_p(values: Pair[float], hosts: Pair[str], *, ranks: bool, seed: int = 0) -> float:
    """The same where hosts may be one, or unknown: then labels are exchanged freely."""
    if exchanged_freely(hosts):
        test = stats.rank_p if ranks else stats.permutation_p
        return test(*values, alternative="greater", seed=seed)
    return split_p(values, hosts, ranks=ranks, seed=seed)


def host_parts(
    threshold: Threshold, boots: Sequence[tuple[str, str, float]]
) -> tuple[HostPart, ...]:
    """What each host of a campaign adds to a figure, for who reads its report, by its name, from
    boots (kernel, host, value); empty for one host.
    """
    names = sorted({host for _, host, _ in boots})
    if len(names) < 2 or "" in names:
        return ()
    pairs = {(kernel, host) for kernel, host, _ in boots}
    separate = len(pairs) == len({kernel for kernel, _ in pairs})
    rows = [(kernel, host, badness(threshold, value)) for kernel, host, value in boots]
    # Means are compared as they are: they have no part of hosts.
    added = {} if separate or by_mean(threshold) else offsets(rows)
    return tuple(
        HostPart(
            name,
            sum(host == name for _, host, _ in boots),
            effect_of(threshold, added[name]) if name in added else None,
        )
        for name in names
    )
