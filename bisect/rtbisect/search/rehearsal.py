# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a search will take: it is rehearsed many times at once, in a simpler world.

There commits stand in line, boots are normal around the level of their build, and builds around
that of their side. Culprit, levels and noise are drawn from what is known. What is not known stays
unknown to the rehearsed search: it integrates levels and noise of builds as the real one does, in
closed form. What it does next, and when it ends, follows the rules of `plan` and `stop`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.search.information import normal_bits
from rtbisect.search.outlook import assumed
from rtbisect.search.plan import CONTROL_EVERY, STRONG_BITS, USELESS_BITS
from rtbisect.search.spec import NONE_AT_MOST
from rtbisect.search.stop import LAYOUTS, LEADING, NONE_ENOUGH

if TYPE_CHECKING:
    import numpy.typing as npt

    from rtbisect.search.ancestry import Bools, Floats
    from rtbisect.search.outlook import Outlook, Sides, Terms

    Ints = npt.NDArray[np.intp]

#: Searches that are rehearsed, and boots after which one that has not ended is left.
REHEARSALS, LONGEST = 64, 600
#: So few of them need not end: they are left after twice the boots of all others.
REST = 0.08
#: A place in line that no kernel has.
_FREE = 1 << 40
#: Draws of levels that may be too close to each other.
_TRIES = 20
#: Stands for no place; -1 is the good end.
_NONE_DUE = -2
#: Room for further kernels.
_ROOM = 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Rehearsed:
    """What each rehearsal took (r,)."""

    boots: Floats
    builds: Floats
    #: How many of these builds had another layout.
    layouts: Floats
    #: It ended with a commit; it ended. One that did not takes more than is said.
    named: Bools
    over: Bools


class _Play:
    """Rehearsals that go on, all at the same step; every array has one row for each."""

    def __init__(self, outlook: Outlook, rng: np.random.Generator) -> None:
        self.look, self.rng = outlook, rng
        rows = REHEARSALS
        self.row = np.arange(rows)
        total = float(outlook.commits.sum())
        share = outlook.commits / total
        #: Probability that the culprit is one of the first so many commits.
        self.before = np.concatenate([[0.0], np.cumsum(share)])
        self.before[-1] = 1.0
        self.culprit = rng.choice(share.size, size=rows, p=share)
        self.nothing = rng.random(rows) < outlook.none
        none_node = self._nodes(outlook.shared)
        node, self.levels = self._regressions()
        same = self._level(outlook.shared, none_node)
        self.levels[self.nothing] = same[self.nothing, None]
        self.tau = np.where(self.nothing, outlook.shared.tau[none_node], outlook.good.tau[node])
        places = sorted({-1, share.size - 1, *outlook.built})
        room = len(places) + _ROOM
        self.place = np.full((rows, room), _FREE)
        self.place[:, : len(places)] = places
        self.used = np.full(rows, len(places))
        self.count = np.zeros((rows, room))
        self.sum = np.zeros((rows, room))
        self.offset = self.tau[:, None] * rng.standard_normal((rows, room))
        self.boots = np.zeros(rows)
        self.builds = np.zeros(rows)
        self.layouts = np.zeros(rows)
        self.controls = np.zeros(rows)

    def _nodes(self, sides: Sides) -> Ints:
        return self.rng.choice(sides.tau.size, size=REHEARSALS, p=sides.weight)

    def _regressions(self) -> tuple[Ints, Floats]:
        """Node of the noise of builds and levels of both sides (r, 2) for each; the bad side is
        worse by `least`.
        """
        look = self.look
        node = self._nodes(look.good)
        levels = np.zeros((REHEARSALS, 2))
        open_rows = np.ones(REHEARSALS, dtype=np.bool_)
        for _ in range(_TRIES):
            fresh = self._nodes(look.good)
            pair = np.stack([self._level(look.good, fresh), self._level(look.bad, fresh)], axis=1)
            node[open_rows], levels[open_rows] = fresh[open_rows], pair[open_rows]
            open_rows &= levels[:, 1] - levels[:, 0] < look.least
        levels[open_rows, 1] = levels[open_rows, 0] + look.least
        return node, levels

    def _level(self, sides: Sides, node: Ints) -> Floats:
        level: Floats = sides.mean[node] + sides.deviation[node] * self.rng.standard_normal(
            node.size
        )
        return level

    def keep(self, which: Bools) -> None:
        """Only these rehearsals go on."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and name != "before":
                setattr(self, name, value[which])

    def boot(self, slot: Ints) -> None:
        """One boot of a kernel of each rehearsal."""
        rows = np.arange(slot.size)
        place = self.place[rows, slot]
        bad = (place >= self.culprit) & ~self.nothing
        centre = self.levels[rows, bad.astype(np.intp)] + self.offset[rows, slot]
        self.sum[rows, slot] += centre + self.look.sigma * self.rng.standard_normal(slot.size)
        self.count[rows, slot] += 1
        self.boots += 1

    def add(self, which: Ints, place: Ints) -> None:
        """A new kernel for these rehearsals; it is the last one until `sort`."""
        if self.used.max(initial=0) >= self.place.shape[1]:
            self._widen()
        last = self.used[which]
        self.place[which, last] = place
        self.used[which] += 1
        self.builds[which] += 1

    def sort(self) -> None:
        """Kernels in the order of the line."""
        order = self.place.argsort(axis=1, kind="stable")
        for name in ("place", "count", "sum", "offset"):
            setattr(self, name, np.take_along_axis(getattr(self, name), order, axis=1))

    def _widen(self) -> None:
        rows, more = self.place.shape
        self.place = np.hstack([self.place, np.full((rows, more), _FREE)])
        nothing = np.zeros((rows, more))
        self.count, self.sum = np.hstack([self.count, nothing]), np.hstack([self.sum, nothing])
        fresh = self.tau[:, None] * self.rng.standard_normal((rows, more))
        self.offset = np.hstack([self.offset, fresh])


@dataclass(frozen=True, eq=False, kw_only=True)
class _Belief:
    """What each rehearsed search believes."""

    #: Probability that the culprit is between a kernel and the one before (r, k), or nowhere (r,).
    between: Floats
    none: Floats
    #: Probability that a kernel is bad (r, k).
    bad: Floats
    #: By how much bad kernels are worse; standard deviations of builds, and of the middle of a
    #: side (r,).
    apart: Floats
    tau: Floats
    unsure: Floats


def rehearsed(outlook: Outlook) -> Rehearsed:
    """Searches from here to their ends, as often as REHEARSALS."""
    play = _Play(outlook, np.random.default_rng(outlook.terms.seed))
    done = {name: np.zeros(REHEARSALS) for name in ("boots", "builds", "layouts", "named", "over")}
    longest = LONGEST
    while play.row.size:
        belief = _belief(play)
        step, lead = _next(play, belief), _leading(play, belief)
        due = _layouts_due(play, lead)
        # Nothing tells anything more: the proof decides, or nobody can.
        dull = step.dull & (due == _NONE_DUE)
        stands_out = _alone(play, belief).max(axis=1) >= LEADING
        named = (due == _NONE_DUE) & ((lead >= 0) | (dull & stands_out))
        over = named | dull | (belief.none >= NONE_ENOUGH)
        left = over | (play.boots >= longest)
        if longest == LONGEST and (~left).sum() <= REST * REHEARSALS:
            longest = min(LONGEST, 2 * play.boots.max() + 1)
        rows = play.row[left]
        for name in ("boots", "builds", "layouts"):
            done[name][rows] = getattr(play, name)[left]
        done["named"][rows], done["over"][rows] = named[left], over[left]
        play.keep(~left)
        _take(play, _of(step, ~left), due[~left])
    for name in ("boots", "builds", "layouts"):
        done[name] += outlook.terms.end_layouts * (done["boots"] > 0)
    return Rehearsed(
        boots=done["boots"],
        builds=done["builds"],
        layouts=done["layouts"],
        named=done["named"] > 0,
        over=done["over"] > 0,
    )


@lru_cache(maxsize=16)
def rehearsed_unseen(terms: Terms, commits: int, effect: float, boots: int) -> Rehearsed:
    """Searches of which nothing was seen: see `outlook.assumed`."""
    return rehearsed(assumed(terms, commits, effect, boots))


def _of(step: _Next, which: Bools) -> _Next:
    return _Next(**{name: value[which] for name, value in vars(step).items()})


@dataclass(frozen=True, eq=False)
class _Booted:
    """What was booted in each rehearsal."""

    #: Boots of each kernel, and their middle (r, k, 1).
    count: Floats
    middle: Floats
    sigma: float

    @classmethod
    def of(cls, play: _Play) -> _Booted:
        count = play.count[:, :, None]
        middle = np.where(count > 0, play.sum[:, :, None] / np.maximum(count, 1), 0.0)
        return cls(count, middle, play.look.sigma)

    def precision(self, tau: Floats) -> Floats:
        """How well each kernel tells the level of its side, for each tau (r, k, t)."""
        own = self.sigma**2 / np.maximum(self.count, 1)
        precision: Floats = np.where(self.count > 0, 1 / (tau**2 + own), 0.0)
        return precision

    def constant(self, precision: Floats) -> Floats:
        """Log likelihood as far as it does not hang on the sides (r, t)."""
        logs = np.log(np.where(self.count > 0, precision, 1.0)) - precision * self.middle**2
        half: Floats = 0.5 * logs.sum(axis=1)
        return half


def _belief(play: _Play) -> _Belief:
    """The posterior of each rehearsed search: levels are integrated in closed form, the noise of
    builds over its nodes.
    """
    look, booted = play.look, _Booted.of(play)
    log, good, bad = _sides_known(look, booted)
    of_none = booted.precision(look.shared.tau)
    none_log, _, _ = _side(look.shared, of_none.sum(axis=1), (of_none * booted.middle).sum(axis=1))
    none_log = none_log + booted.constant(of_none) + np.log(look.shared.weight)
    reach = np.minimum(play.place + 1, play.before.size - 1)
    share = np.diff(play.before[reach], axis=1, prepend=0.0)
    with np.errstate(divide="ignore"):
        log = log + np.log(np.maximum(share, 0.0) * (1 - look.none))[:, :, None]
        none_log = none_log + np.log(look.none)
    top = np.maximum(log.max(axis=(1, 2)), none_log.max(axis=1))
    mass = np.exp(log - top[:, None, None])
    none = np.exp(none_log - top[:, None]).sum(axis=1)
    commits = mass.sum(axis=(1, 2))
    between = mass.sum(axis=2) / (commits + none)[:, None]
    nodes = mass / np.maximum(commits, 1e-300)[:, None, None]
    return _Belief(
        between=between,
        none=none / (commits + none),
        bad=np.cumsum(between, axis=1),
        apart=np.maximum((nodes * (bad[0] - good[0])).sum(axis=(1, 2)), 0.0),
        tau=np.sqrt((nodes.sum(axis=1) * look.good.tau**2).sum(axis=1)),
        unsure=np.sqrt((nodes * good[1]).sum(axis=(1, 2))),
    )


def _sides_known(
    look: Outlook, booted: _Booted
) -> tuple[Floats, tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Log likelihood where each kernel is the first bad one, for each tau (r, k, t), and mean and
    variance of the levels of good and bad there.
    """
    precision = booted.precision(look.good.tau)
    weighted = precision * booted.middle
    upto, upto_sum = np.cumsum(precision, axis=1), np.cumsum(weighted, axis=1)
    before, before_sum = upto - precision, upto_sum - weighted
    good_log, *good = _side(look.good, before, before_sum)
    bad_log, *bad = _side(look.bad, upto[:, -1:] - before, upto_sum[:, -1:] - before_sum)
    worse = scipy.special.ndtr((bad[0] - good[0] - look.least) / np.sqrt(good[1] + bad[1]))
    log: Floats = good_log + bad_log + np.log(np.maximum(worse, 1e-12))
    log += (booted.constant(precision) + np.log(look.good.weight))[:, None]
    return log, (good[0], good[1]), (bad[0], bad[1])


def _side(known: Sides, precision: Floats, weighted: Floats) -> tuple[Floats, Floats, Floats]:
    """Log marginal likelihood of the kernels of a side, as far as it hangs on which these are, and
    mean and variance of its level after them.
    """
    before = known.deviation**-2.0
    total = before + precision
    centre = (before * known.mean + weighted) / total
    log = 0.5 * (total * centre**2 - before * known.mean**2 + np.log(before / total))
    return log, centre, 1 / total


def _leading(play: _Play, belief: _Belief) -> Ints:
    """The kernel of a commit that would be named, -1 where none would be: it is the only commit
    between two that have booted.
    """
    alone = _alone(play, belief)
    best = alone.argmax(axis=1)
    enough = alone[np.arange(best.size), best] >= play.look.terms.confidence
    leading: Ints = np.where(enough & (belief.none <= NONE_AT_MOST), best, -1)
    return leading


def _alone(play: _Play, belief: _Belief) -> Floats:
    """Probabilities of commits that are the only ones between two kernels that have booted."""
    gap = np.diff(play.place, axis=1, prepend=-1)
    pair = play.count > 0
    pair[:, 1:] &= pair[:, :-1]
    return np.where((gap == 1) & pair, belief.between, 0.0)


def _layouts_due(play: _Play, lead: Ints) -> Ints:
    """The place of a kernel of which a further layout is due before a commit is named."""
    due = np.full(lead.size, _NONE_DUE)
    if play.look.terms.layout_s is None:
        return due
    for row in np.flatnonzero(lead >= 0):
        place = int(play.place[row, lead[row]])
        for each in (place - 1, place):
            if (play.place[row] == each).sum() < LAYOUTS + 1:
                due[row] = each
                break
    return due


@dataclass(frozen=True, eq=False, kw_only=True)
class _Next:
    """What each rehearsal does next."""

    #: The kernel that is booted again, or the place of the one that is built.
    slot: Ints
    place: Ints
    new: Bools
    layout: Bools
    control: Bools
    #: No boot that is possible tells anything.
    dull: Bools


def _next(play: _Play, belief: _Belief) -> _Next:
    """The boot that tells most for its time."""
    look, rows = play.look, np.arange(play.row.size)
    apart = belief.apart
    fresh_d = apart / np.sqrt(look.sigma**2 + belief.tau**2 + belief.unsure**2)
    strong = normal_bits(np.full((rows.size, 1), 0.5), fresh_d)[:, 0] >= STRONG_BITS
    place, q, possible = _fresh_places(play, belief)
    fresh = np.where(possible, normal_bits(q, fresh_d), 0.0) / (
        look.terms.boot_s + look.terms.build_s
    )
    there = play.place < _FREE
    own = look.sigma**2 / np.maximum(play.count, 1)
    spread = (belief.tau**2 + belief.unsure**2)[:, None]
    known = np.where(play.count > 0, spread / (spread + own), 0.0)
    left = np.where(play.count > 0, known * own, spread)
    again_d = apart[:, None] * (1 - known) / np.sqrt(look.sigma**2 + left)
    again = np.where(there, normal_bits(belief.bad, again_d), 0.0) / look.terms.boot_s
    options = [fresh, again]
    if look.terms.layout_s is not None:
        other = np.where(there & (play.count > 0), normal_bits(belief.bad, fresh_d), 0.0)
        options.append(other / (look.terms.layout_s + look.terms.boot_s))
    worth = np.concatenate(options, axis=1)
    best = worth.argmax(axis=1)
    kind, slot = np.divmod(best, play.place.shape[1])
    # Where nothing tells anything one more boot of the likeliest place.
    dull = worth[rows, best] * look.terms.boot_s < USELESS_BITS
    kind = np.where(dull, 1, kind)
    slot = np.where(dull, belief.between.argmax(axis=1), slot)
    searched = play.boots - play.controls
    controls = ~strong & (searched >= (CONTROL_EVERY - 1) * (play.controls + 1))
    controls &= look.terms.controls
    end = np.where(play.controls % 2 == 0, 0, play.used - 1)
    kind, slot = np.where(controls, 1, kind), np.where(controls, end, slot)
    return _Next(
        slot=slot,
        place=np.where(kind == 2, play.place[rows, slot], place[rows, slot]),
        new=kind != 1,
        layout=kind == 2,
        control=controls,
        dull=dull & ~controls,
    )


def _take(play: _Play, step: _Next, due: Ints) -> None:
    """One boot of each rehearsal; where a further layout is due, that."""
    forced = due != _NONE_DUE
    target = np.where(forced, due, step.place)
    new = step.new | forced
    play.controls += step.control & ~forced
    play.layouts += step.layout | forced
    which = np.flatnonzero(new)
    slot = step.slot
    if which.size:
        play.add(which, target[which])
        slot = np.where(new, play.used - 1, slot)
    play.boot(slot)
    play.sort()


def _fresh_places(play: _Play, belief: _Belief) -> tuple[Ints, Floats, Bools]:
    """Between each kernel and the one before it: the commit that tells most, the probability that
    it is bad, and whether there is one.
    """
    upper = play.place
    lower = np.concatenate([np.full((upper.shape[0], 1), -1), upper[:, :-1]], axis=1)
    possible = (upper < _FREE) & (upper - lower >= 2)
    low = np.minimum(lower, play.before.size - 2)
    high = np.minimum(upper, play.before.size - 2)
    first, last = play.before[low + 1], play.before[high + 1]
    below = belief.bad - belief.between
    wanted = np.clip((0.5 - below) / np.maximum(belief.between, 1e-300), 0.0, 1.0)
    target = first + wanted * (last - first)
    place = np.searchsorted(play.before, target.ravel()).reshape(target.shape) - 1
    place = np.clip(place, low + 1, np.maximum(high - 1, low + 1))
    place = np.minimum(place, play.before.size - 2)
    part = (play.before[place + 1] - first) / np.maximum(last - first, 1e-300)
    return place, below + belief.between * np.clip(part, 0.0, 1.0), possible
