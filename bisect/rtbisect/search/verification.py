# SPDX-License-Identifier: GPL-2.0-or-later
"""Verification: culprit against each parent on fresh boots, also with another code layout, and
its revert on the tip.

The same shape as the search: propose, apply. The boots of the search are not
used again, because the search chose the culprit by them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from rtbisect.errors import ConfigError
from rtbisect.judge import recovery, stats
from rtbisect.judge.scale import effect_floor
from rtbisect.judge.verdict import effect_text, judge, smallest_p
from rtbisect.model.campaign import Judgement, Level, Sample, Threshold, Verification
from rtbisect.search.calibrate import looks
from rtbisect.search.events import Booted, Built, Event
from rtbisect.search.ledger import Ledger, evidence, ledger
from rtbisect.search.wording import GIT, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rtbisect.model.campaign import Observation

#: Name of the check with another code layout.
LAYOUT = "layout"
#: Name of the check that the culprit taken back makes the tip good again.
REVERT = "revert on tip"
#: Alpha of the comparison with another code layout, for all its looks: it repeats what the one with
#: the parent has shown, and a regression that is not seen twice is none.
LAYOUT_ALPHA = 0.05
#: A revert has to take back at least this share of the ends' shift.
REVERT_RECOVERY = 0.5


@dataclass(frozen=True, kw_only=True)
class VerifySpec:
    """What to verify. `endpoints` are the boots of good and bad from the calibration, to say how
    much of their shift the culprit explains, and whether a share that is not seen is none. `revert`
    is the commit that reverts the culprit on `tip`, None with the reason in `no_revert`.
    `revert_boots` are those of its first look, which may be too few for a pass. With `layout` the
    culprit and its first parent are also compared as kernels with that code layout. `told` makes of
    a judgement what a reader knows of it, `words` are those of the notes.
    """

    culprit: str
    parents: tuple[str, ...]
    threshold: Threshold
    seed: int
    revert: str | None
    tip: str
    no_revert: str = "the revert does not apply to the tip"
    boots: int = 6
    revert_boots: int = 3
    alpha: float = 0.01
    endpoints: tuple[Sample, Sample] = (Sample(()), Sample(()))
    layout: int = 0
    boots_max: int = 10
    told: Callable[[Judgement], Judgement] = field(default=lambda found: found, compare=False)
    words: Words = GIT

    @property
    def looks(self) -> tuple[int, ...]:
        """Boots a side at every look at a culprit and its parent."""
        return looks(self.boots, self.boots_max)

    @property
    def look_alpha(self) -> float:
        """Alpha is split evenly between the looks."""
        return self.alpha / max(2, len(self.looks))


@dataclass(frozen=True, slots=True)
class Boot:
    """Boot `revision` once more (build it if needed); `purpose` is verify, revert or layout.
    `left` boots are due in all, this one included, if nothing asks for a second look.
    """

    revision: str
    purpose: str
    left: int = 1
    layout: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """Every check has its status."""


@dataclass(frozen=True)
class VerifyState:
    """Specification and log of the fresh boots."""

    spec: VerifySpec
    events: tuple[Event, ...] = ()

    @cached_property
    def ledger(self) -> Ledger:
        return ledger(self.spec.threshold, self.events)

    @cached_property
    def raw(self) -> dict[_Kernel, Sample]:
        """Valid values per kernel in `unit` with their hosts, in the order of the boots."""
        found: dict[_Kernel, list[Observation]] = {}
        for event in self.events:
            if isinstance(event, Booted) and evidence(self.spec.threshold, event):
                assert event.observation is not None
                found.setdefault((event.revision, event.layout), []).append(event.observation)
        return {kernel: _sample(seen) for kernel, seen in found.items()}

    @cached_property
    def checks(self) -> tuple[_Check, ...]:
        return tuple(_examined(self, check) for check in _planned(self.spec))


Proposal: TypeAlias = Boot | Done
#: A revision and its code layout.
_Kernel: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    """`base` should be better than `new`. `wanted` boots a side are still to be reached (0:
    the check is closed). They are `late` where the culprit can be named without them; then
    `verification` is what the boots so far say.
    """

    name: str
    base: str
    new: str
    purpose: str
    looks: tuple[int, ...]
    layout: int = 0
    wanted: int = 0
    late: bool = False
    verification: Verification | None = None

    @property
    def kernels(self) -> tuple[_Kernel, _Kernel]:
        return (self.base, self.layout), (self.new, self.layout)

    def says(self, status: str, note: str) -> Verification:
        """How the check stands, without figures."""
        parent = self.base[:12] if self.purpose == "verify" else ""
        return Verification(name=self.name, status=status, judgement=None, note=note, parent=parent)


def start(spec: VerifySpec) -> VerifyState:
    """A verification without boots; ConfigError when it could never say yes."""
    if not spec.parents:
        raise ConfigError(f"{spec.culprit[:12]} has no parent to compare with")
    if not 2 <= spec.boots <= spec.boots_max or spec.revert_boots < 2:
        raise ConfigError("verification needs at least two boots a side")
    if stats.smallest_p(spec.boots_max, spec.boots_max) > spec.look_alpha:
        raise ConfigError(
            f"{spec.boots_max}+{spec.boots_max} boots cannot reach p <= {spec.look_alpha:g}",
            "verify with more boots or raise alpha",
        )
    effect_floor(spec.threshold)
    return VerifyState(spec)


def apply(state: VerifyState, event: Event) -> VerifyState:
    """The state after one more build or fresh boot."""
    return replace(state, events=(*state.events, event))


def propose(state: VerifyState, *, late: bool = False) -> Proposal:
    """The next boot; with `late` after all others also what only a check wants without which the
    culprit is named.
    """
    return next(iter(coming(state, 1, late=late)), Done())


def coming(state: VerifyState, most: int, *, late: bool = False) -> tuple[Boot, ...]:
    """The next boots, at most so many, if all of them are evidence. They go in rounds: one of each
    revision that needs one, in an order drawn from the seed, so that a drift of the host meets
    both sides alike.
    """
    wanted: dict[_Kernel, int] = {}
    purpose: dict[_Kernel, str] = {}
    open_ = [check for check in state.checks if check.wanted]
    first = [check for check in open_ if not check.late]
    for check in first or (open_ if late else ()):
        for kernel in check.kernels:
            wanted[kernel] = max(wanted.get(kernel, 0), check.wanted)
            purpose.setdefault(kernel, check.purpose)
    have = {kernel: len(state.ledger.views.get(kernel, ())) for kernel in wanted}
    found: list[Boot] = []
    while len(found) < most and (short := [k for k in wanted if have[k] < wanted[k]]):
        done = min(have[kernel] for kernel in short)
        rank = _order(state.spec, done)
        best = min((k for k in short if have[k] == done), key=lambda k: (k[1], rank[k[0]]))
        left = sum(wanted[kernel] - have[kernel] for kernel in short)
        found.append(Boot(best[0], purpose[best], left, best[1]))
        have[best] += 1
    return tuple(found)


def verifications(state: VerifyState) -> tuple[Verification, ...]:
    """Every check; status is pass, fail, undecided or n/a."""
    found = [
        check.verification or check.says("undecided", f"more {state.spec.words.run}s are due")
        for check in state.checks
    ]
    if state.spec.revert is None:
        found.append(
            Verification(name=REVERT, status="n/a", judgement=None, note=state.spec.no_revert)
        )
    return tuple(found)


def incomplete(checks: Iterable[Verification]) -> bool:
    """The culprit is worse than its parents, and explains too little of what the ends differ in."""
    return any(check.status == "pass" and check.parent and check.short for check in checks)


def confirmed(state: VerifyState) -> bool:
    """Over but for late boots, the culprit is worse than every parent, no revert contradicts it."""
    if not isinstance(propose(state), Done):
        return False
    found = verifications(state)
    parents = found[: len(state.spec.parents)]
    if state.spec.layout and any(v.name == LAYOUT and v.status == "undecided" for v in found):
        return False
    return all(v.status == "pass" for v in parents) and all(v.status != "fail" for v in found)


def follows_layout(checks: Iterable[Verification]) -> bool:
    """The effect is gone in kernels with another code layout, and nothing else contradicts it."""
    status = {check.name: check.status for check in checks}
    gone = status.pop(LAYOUT, "") == "fail"
    return gone and "fail" not in status.values()


def _planned(spec: VerifySpec) -> list[_Check]:
    found = [
        _Check(
            name=f"culprit vs parent {sha[:12]}",
            base=sha,
            new=spec.culprit,
            purpose="verify",
            looks=spec.looks,
        )
        for sha in spec.parents
    ]
    if spec.layout:
        found.append(
            _Check(
                name=LAYOUT,
                base=spec.parents[0],
                new=spec.culprit,
                purpose="layout",
                looks=spec.looks,
                layout=spec.layout,
            )
        )
    if spec.revert is not None:
        # A look at few boots, which can only contradict; then those where the test can decide.
        again = max(2 * spec.revert_boots, spec.boots)
        both = (spec.revert_boots, *looks(again, spec.boots_max)[:2])
        found.append(
            _Check(name=REVERT, base=spec.revert, new=spec.tip, purpose="revert", looks=both)
        )
    return found


def _order(spec: VerifySpec, done: int) -> dict[str, int]:
    """Rank of each revision in round `done`."""
    shas = [spec.culprit, *spec.parents, spec.tip, *([spec.revert] if spec.revert else [])]
    shas = list(dict.fromkeys(shas))
    random.Random(f"{spec.seed}:{done}").shuffle(shas)  # noqa: S311  (an order, no secret)
    return {sha: rank for rank, sha in enumerate(shas)}


def _examined(state: VerifyState, check: _Check) -> _Check:
    """The check with its status, or with the boots that it still wants."""
    for sha in (check.base, check.new):
        if why := state.ledger.untestable(sha):
            note = f"{sha[:12]} {why}"
            return replace(check, verification=check.says("undecided", note))
        if check.layout and sha in state.ledger.layouts_failed:
            note = f"{sha[:12]} does not build or run with another layout"
            return replace(check, verification=check.says("n/a", note))
    base, new = (state.raw.get(kernel, Sample(())) for kernel in check.kernels)
    found, late = None, False
    for look, boots in enumerate(check.looks):
        if min(base.n, new.n) < boots:
            return replace(check, wanted=boots, late=late, verification=found if late else None)
        pair = _first(base, boots), _first(new, boots)
        found = _decided(state.spec, check, *pair, _alpha(state.spec, check))
        if found.status != "undecided":
            break
        late = check.purpose == "revert" and (
            look > 0 or _intervals_disjoint(state.spec, check, *pair)
        )
    return replace(check, verification=found)


def _alpha(spec: VerifySpec, check: _Check) -> float:
    """Alpha of one look of a check."""
    return (
        max(spec.look_alpha, LAYOUT_ALPHA / len(check.looks)) if check.layout else spec.look_alpha
    )


def _intervals_disjoint(spec: VerifySpec, check: _Check, base: Sample, new: Sample) -> bool:
    """The boots so far are as far apart as so few can be: they do not contradict the culprit, and
    that they pass is told by the boots that follow, which a culprit that falls never costs.
    """
    return _decided(spec, check, base, new, smallest_p(base, new)).status == "pass"


def _sample(seen: Sequence[Observation]) -> Sample:
    hosts = tuple(each.host for each in seen)
    return Sample(tuple(each.value for each in seen), hosts if all(hosts) else ())


def _first(sample: Sample, boots: int) -> Sample:
    return Sample(sample.values[:boots], sample.hosts[:boots])


def _decided(
    spec: VerifySpec, check: _Check, base: Sample, new: Sample, alpha: float
) -> Verification:
    is_revert = check.purpose == "revert"
    found = _judged(spec, (base, new), alpha)
    ratio = recovery.share(spec.threshold, spec.endpoints, (base, new))
    status = {Level.REGRESSED: "pass", Level.PASS: "fail", Level.UNDECIDED: "undecided"}[
        found.level
    ]
    if is_revert and status == "pass" and ratio is not None and ratio < REVERT_RECOVERY:
        status = "undecided"
    short = (
        ratio is not None
        and ratio < recovery.FULL
        and recovery.falls_short(spec.threshold, spec.endpoints, (base, new))
    )
    # What is kept has always told of boots, whatever was measured. A note tells of runs.
    noted = spec.told(_judged(spec, (base, new), alpha, run=spec.words.run))
    note = _note(noted, ratio, spec.words, is_revert=is_revert, short=short)
    said = spec.told(found)
    return replace(check.says(status, note), judgement=said, recovery=ratio, short=short)


def _judged(spec: VerifySpec, pair: recovery.Pair, alpha: float, *, run: str = "boot") -> Judgement:
    """What the boots say of the pair: nothing yet, where equal boots may be luck."""
    found = judge(spec.threshold, *pair, alpha=alpha, run=run)
    if found.level is not Level.PASS:
        return found
    if not recovery.may_be_luck(spec.threshold, spec.endpoints, pair):
        return found
    reason = (
        f"{effect_text(spec.threshold, found.effect)}; as many {run}s of {spec.words.older} and"
        f" {spec.words.newer} would often differ as little"
    )
    return replace(found, level=Level.UNDECIDED, reason=reason)


def _note(
    found: Judgement, ratio: float | None, words: Words, *, is_revert: bool, short: bool
) -> str:
    said = f"{found.base.n}+{found.new.n} {words.run}s, {found.reason}"
    if ratio is None:
        return said
    what = "takes back" if is_revert else "explains"
    said += f"; {what} {100 * ratio:.0f}% of the shift between {words.older} and {words.newer}"
    if found.level is Level.REGRESSED and not is_revert and short:
        said += ", so there may be a second culprit"
    return said


__all__ = [
    "Boot",
    "Booted",
    "Built",
    "Done",
    "VerifySpec",
    "VerifyState",
    "apply",
    "confirmed",
    "follows_layout",
    "incomplete",
    "propose",
    "start",
    "verifications",
]
