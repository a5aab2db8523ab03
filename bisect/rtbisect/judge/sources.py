# SPDX-License-Identifier: GPL-2.0-or-later
"""What the change of a figure is made of: senders of IPIs, sources of noise, with their shares.

Only what an instrument recorded is named; how one thing led to another is not said here.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from rtbisect.model.facts import Facts
from rtbisect.model.result import Origin
from rtbisect.suites.base import every, find

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rtbisect.model.campaign import MetricKey
    from rtbisect.model.lab import Run

    #: Amounts by the kind and the name of their source.
    Amounts = Mapping[tuple[str, str], float]

#: Sources that are named: so many, and none that makes less than this share.
MOST = 5
LEAST = 0.01


def kinds_of(key: MetricKey) -> tuple[str, ...]:
    """Kinds of sources that a figure is made of; none where no instrument tells."""
    made_of = find(key.suite).made_of.items()
    return next((kinds for begin, kinds in made_of if key.name.startswith(begin)), ())


def origins(
    key: MetricKey,
    windows: Collection[str],
    parent: Sequence[Run],
    culprit: Sequence[Run],
    *,
    rises: bool,
) -> tuple[Origin, ...]:
    """The sources in which boots of parent and culprit differ most in the direction of the figure,
    by their share of all change in it; none where a side has no boot that tells, or where all of
    them together go the other way.

    A figure in us is told in typical us a second, any other in times a second.
    """
    means = _side_means(key, kinds_of(key), windows, (parent, culprit))
    if means is None:
        return ()
    base, new = means
    # Sorted, because floating-point sums depend on the order.
    sources = sorted(base.keys() | new.keys())
    change = {source: new.get(source, 0.0) - base.get(source, 0.0) for source in sources}
    sign = 1.0 if rises else -1.0
    if sum(change.values()) * sign <= 0:
        return ()
    total = sum(amount for amount in change.values() if amount * sign > 0)
    largest = sorted(change, key=lambda source: (-change[source] * sign, source))[:MOST]
    return tuple(
        Origin(kind, name, base.get((kind, name), 0.0), new.get((kind, name), 0.0), share)
        for kind, name in largest
        if (share := change[kind, name] / total) >= LEAST
    )


def traced(
    key: MetricKey, windows: Collection[str], parent: Sequence[Run], culprit: Sequence[Run]
) -> tuple[float, float] | None:
    """What the instrument behind the sources saw of a figure on parent and culprit, a second or for
    each event as the figure is; None where a side has no boot that tells.
    """
    sides = (parent, culprit)
    means = _side_means(key, kinds_of(key), windows, sides)
    if means is None:
        return None
    base, new = (sum(side.values()) for side in means)
    per_event = find(key.suite).per_event
    if key.name not in per_event:
        return base, new
    events = _side_means(key, per_event[key.name], windows, sides)
    if events is None or not all(sum(side.values()) for side in events):
        return None
    return base / sum(events[0].values()), new / sum(events[1].values())


def _side_means(
    key: MetricKey,
    kinds: tuple[str, ...],
    windows: Collection[str],
    sides: tuple[Sequence[Run], Sequence[Run]],
) -> tuple[Amounts, Amounts] | None:
    """Means of the sources of these kinds on both sides; None where one of them does not tell."""
    if not kinds:
        return None
    # Where no boot tells of anything the kernel has no such instrument.
    alike = next((suite.kinds for suite in every() if set(kinds) <= suite.kinds), frozenset[str]())
    runs = (*sides[0], *sides[1])
    told_windows = {source.window for run in runs for source in run.sources if source.kind in alike}
    working, timed = told_windows & set(windows), "_us" in key.name
    base, new = (_mean(runs, kinds, working, timed=timed) for runs in sides)
    return None if base is None or new is None else (base, new)


def _mean(
    runs: Sequence[Run], kinds: tuple[str, ...], windows: Collection[str], *, timed: bool
) -> Amounts | None:
    """Mean of each source over the boots in which the instrument looked; None where none did. A
    boot in which it saw nothing counts: of that source it had none.
    """
    boots = [run.sources for run in runs if _window_ended(run, windows)]
    if not boots:
        return None
    mean: dict[tuple[str, str], float] = {}
    for source in chain.from_iterable(boots):
        if source.kind not in kinds or source.window not in windows:
            continue
        amount = (source.us_per_s or 0.0) if timed else source.per_s
        key = (source.kind, source.name)
        mean[key] = mean.get(key, 0.0) + amount / len(boots)
    return mean


def _window_ended(run: Run, windows: Collection[str]) -> bool:
    """Whether a boot finished a window; lab/measurements.py lists the unfinished ones."""
    failed = Facts.of(run).unexplained
    return run.complete and not run.hung and bool(set(run.window_order) & set(windows) - failed)
