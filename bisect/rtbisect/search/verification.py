# SPDX-License-Identifier: GPL-2.0-or-later
"""Verification: culprit against each parent on fresh boots, other builds of both sides where
builds of one code differ, and its revert on the tip.

The same shape as the search: propose, apply. The boots of the search are not
used again, because the search chose the culprit by them.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.judge import stats
from rtbisect.judge.scale import by_mean, centre, effect_floor, effect_of
from rtbisect.judge.verdict import (
    FULL_RECOVERY,
    Looks,
    falls_short,
    judge,
    judge_shares,
    ruled_out,
    sides,
    smallest_p,
)
from rtbisect.model.campaign import Judgement, Level, Observation, Sample, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Checks, Untestable
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.search.build_groups import LAST, Groups, examine, without_direction
from rtbisect.search.calibrate import looks
from rtbisect.search.events import Booted
from rtbisect.search.ledger import Ledger
from rtbisect.search.spec import BootPurpose
from rtbisect.search.speeds import NO_SPEEDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.judge.verdict import Pair
    from rtbisect.search.events import Event
    from rtbisect.search.likelihood.features import Kernel
    from rtbisect.search.verify_spec import VerifySpec

#: What a comparison says of the culprit, whose side should be the worse.
_STATUS = {
    Level.REGRESSED: CheckStatus.PASS,
    Level.PASS: CheckStatus.FAIL,
    Level.UNDECIDED: CheckStatus.UNDECIDED,
}
#: Where builds differ, two of them may hide a change or turn it round: what contradicts the culprit
#: has to lie so many standard deviations of a difference of two builds from it.
BUILD_REACH = 2.0
#: A revert has to take back at least this share of the ends' shift.
REVERT_RECOVERY = 0.5
#: A pair of shares or counts contradicts the shift of the ends if boots of the ends would look like
#: it less often than this.
LUCK = 0.05


@dataclass(frozen=True, slots=True)
class Boot:
    """Boot `revision` once more (build it if needed)."""

    revision: str
    purpose: BootPurpose
    #: Boots that are due in all, this one included, if nothing asks for a second look.
    left: int = 1
    #: The same, if every check asks for its last look.
    most: int = 1
    #: Other than 0: build it with that layout.
    layout: int = 0


@dataclass(frozen=True)
class VerifyState:
    """Specification and log of the fresh boots."""

    spec: VerifySpec
    #: In the order in which they were heard; boots with the figure as it is, for the search also
    #: hears them.
    events: tuple[Event, ...] = ()

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of what was heard, with the compared figure."""
        events = (
            replace(heard, observation=compared(self.spec, heard))
            if isinstance(heard, Booted)
            else heard
            for heard in self.events
        )
        before, judged = self.spec.before, self.spec.judged
        speeds = before.at_one_speed(judged, self.events) if before else NO_SPEEDS
        ledger = Ledger(judged, tuple(events), at_one_speed=speeds)
        return ledger.without_disturbed(self.spec.calm)[1]

    @cached_property
    def raw(self) -> dict[Kernel, Sample]:
        """Valid values per kernel in `unit` with their hosts, in the order of the boots."""
        return {kernel: Sample.of(seen) for kernel, seen in self.ledger.observations.items()}

    def knows_build(self, boot: Boot) -> bool:
        """Whether the log says how the build of a boot ended."""
        return self.ledger.knows_build(boot.revision, boot.layout)

    @cached_property
    def groups(self) -> Groups:
        """How the comparison of other builds stands."""
        spec, plan = self.spec, self.spec.builds
        if plan is None:
            return Groups(())
        return examine(plan, self.ledger, spec.judged, spec.told)

    @property
    def lacks_builds(self) -> bool:
        """Whether other builds should decide and there are too few: culprit and parent do."""
        spec = self.spec
        return spec.builds is not None and spec.strict and self.groups.exhausted

    @cached_property
    def checks(self) -> tuple[_Check, ...]:
        checks = [_examine(self, check) for check in _planned_checks(self)]
        if self.spec.builds is None:
            return tuple(checks)
        parents = len(self.spec.parents)
        # The other builds wait for the first boots of the culprit, which may refute it.
        ready = all(check.verification for check in checks[:parents])
        builds = _of_builds(self, ready=ready)
        return (*checks[:parents], builds, *checks[parents:])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    """A comparison of two kernels, and how it stands."""

    check: CheckName
    #: The revision that should be better, and the one that should be worse.
    base: str
    new: str
    #: What boots of this check are for, as in Boot.
    purpose: BootPurpose
    #: Boots a side at each look, ascending; and whether all of them have one p value.
    looks: tuple[int, ...] = ()
    one_p: bool = False
    #: Boots of each kernel that are to be reached; empty: the check is closed.
    wanted: tuple[tuple[Kernel, int], ...] = ()
    #: The culprit can be named without these boots; `verification` is what the boots so far say.
    late: bool = False
    #: None while the check is open and nothing can be said.
    verification: Verification | None = None

    @property
    def kernels(self) -> tuple[Kernel, Kernel]:
        return (self.base, 0), (self.new, 0)

    def says(self, status: CheckStatus, note: Finding) -> Verification:
        """How the check stands, without figures."""
        parent = self.base[:12] if self.purpose is BootPurpose.VERIFY else ""
        return Verification(
            check=self.check, status=status, judgement=None, note=note, parent=parent
        )


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
    effect_floor(spec.judged)
    return VerifyState(spec)


def apply(state: VerifyState, event: Event) -> VerifyState:
    """The state after one more build or fresh boot."""
    return replace(state, events=(*state.events, event))


def propose(state: VerifyState, *, late: bool = False) -> Boot | None:
    """The next boot, None where every check has its status; with `late` after all others also what
    only a check wants without which the culprit is named.
    """
    return next(iter(coming(state, 1, late=late)), None)


def coming(state: VerifyState, most: int, *, late: bool) -> tuple[Boot, ...]:
    """The next boots, at most so many, if all of them are evidence. They go in rounds: one of each
    revision that needs one, in an order drawn from the seed, so that a drift of the host meets
    both sides alike.
    """
    wanted: dict[Kernel, int] = {}
    purpose: dict[Kernel, BootPurpose] = {}
    unfinished = [check for check in state.checks if check.wanted]
    last = _last_looks(state.spec, unfinished)
    decisive = [check for check in unfinished if not check.late]
    for check in decisive or (unfinished if late else ()):
        for kernel, due in check.wanted:
            wanted[kernel] = max(wanted.get(kernel, 0), due)
            purpose.setdefault(kernel, check.purpose)
    boots_so_far = {kernel: len(state.ledger.views.get(kernel, ())) for kernel in last}
    boots: list[Boot] = []
    while len(boots) < most and (short := [k for k in wanted if boots_so_far[k] < wanted[k]]):
        # What was disturbed waits for the next round.
        rounds = {k: boots_so_far[k] + state.ledger.disturbed[k] for k in short}
        fewest = min(rounds.values())
        rank = _ranks(state.spec, fewest)
        best = min((k for k in short if rounds[k] == fewest), key=lambda k: (k[1], rank[k[0]]))
        left = sum(wanted[kernel] - boots_so_far[kernel] for kernel in short)
        at_most = sum(max(0, last[kernel] - boots_so_far[kernel]) for kernel in last)
        boots.append(Boot(best[0], purpose[best], left, at_most, best[1]))
        boots_so_far[best] += 1
    return tuple(boots)


def _last_looks(spec: VerifySpec, unfinished: Iterable[_Check]) -> dict[Kernel, int]:
    """Boots of each kernel with which every check is over."""
    last: dict[Kernel, int] = {}
    for check in unfinished:
        for kernel, due in check.wanted:
            last[kernel] = max(last.get(kernel, 0), due, *check.looks[-1:])
        if check.check is CheckName.BUILDS and spec.builds is not None:
            for side in (spec.builds.better, spec.builds.worse):
                last |= dict.fromkeys(side[:LAST], spec.builds.boots)
            if spec.pair_decides:
                # As where there are too few builds.
                pair = ((sha, 0) for sha in (*spec.parents, spec.culprit))
                last |= dict.fromkeys(pair, spec.looks_alone[-1])
    return last


def verifications(state: VerifyState) -> tuple[Verification, ...]:
    """Every check with its status."""
    checks = [
        check.verification or check.says(CheckStatus.UNDECIDED, Finding.of(Checks.OPEN))
        for check in state.checks
    ]
    if state.spec.revert is None:
        note = state.spec.no_revert
        checks.append(
            Verification(
                check=CheckName.REVERT, status=CheckStatus.ABSENT, judgement=None, note=note
            )
        )
    return tuple(checks)


def incomplete(checks: Iterable[Verification]) -> bool:
    """The culprit is worse than its parents, and explains too little of what the ends differ in."""
    return any(
        check.status is CheckStatus.PASS and check.parent and check.short for check in checks
    )


def confirmed(state: VerifyState) -> bool:
    """Over but for late boots, the culprit is worse than every parent, or its builds are than those
    before it where builds differ and there are enough of them; and no revert contradicts it. What
    noise of builds leaves of its probability is asked by who names it.
    """
    if propose(state) is not None:
        return False
    checks = verifications(state)
    parents = [check for check in checks if check.check is CheckName.PARENT]
    decisive = parents
    if state.spec.builds is not None and not state.lacks_builds:
        decisive = [check for check in checks if check.check is CheckName.BUILDS]
    return (
        all(check.judgement is not None for check in parents)
        and all(check.status is CheckStatus.PASS for check in decisive)
        and not denied(checks)
    )


def denied(checks: Iterable[Verification]) -> bool:
    """A check says that it is not the culprit."""
    return any(check.status is CheckStatus.FAIL for check in checks)


def follows_layout(checks: Iterable[Verification]) -> bool:
    """The effect is gone in other builds, and nothing else contradicts it."""
    failed = {check.check for check in checks if check.status is CheckStatus.FAIL}
    return bool(failed) and failed <= {CheckName.BUILDS, CheckName.LAYOUT}


def compared(spec: VerifySpec, boot: Booted) -> Observation | None:
    """What is compared of a boot; None where it does not have that."""
    whole = boot.observation
    return None if whole is None else spec.figure.observation_of(spec.threshold, whole)


def _planned_checks(state: VerifyState) -> list[_Check]:
    spec = state.spec
    goes_on = spec.pair_decides and state.lacks_builds
    checks = [
        _Check(
            check=CheckName.PARENT,
            base=sha,
            new=spec.culprit,
            purpose=BootPurpose.VERIFY,
            looks=spec.looks_alone if goes_on else spec.looks,
            one_p=spec.of_shares and not spec.builds,
        )
        for sha in spec.parents
    ]
    if spec.revert is not None:
        # A look at few boots, which can only contradict; then those where the test can decide.
        second_look = max(2 * spec.revert_boots, spec.boots)
        revert_looks = (spec.revert_boots, *looks(second_look, spec.boots_max)[:2])
        checks.append(
            _Check(
                check=CheckName.REVERT,
                base=spec.revert,
                new=spec.tip,
                purpose=BootPurpose.REVERT,
                looks=revert_looks,
            )
        )
    return checks


def _ranks(spec: VerifySpec, done: int) -> dict[str, int]:
    """Rank of each revision in round `done`."""
    shas = [spec.culprit, *spec.parents, spec.tip, *([spec.revert] if spec.revert else [])]
    if spec.builds is not None:
        shas += [sha for sha, _ in (*spec.builds.better, *spec.builds.worse)]
    shas = list(dict.fromkeys(shas))
    random.Random(f"{spec.seed}:{done}").shuffle(shas)  # noqa: S311  (an order, no secret)
    return {sha: rank for rank, sha in enumerate(shas)}


def _examine(state: VerifyState, check: _Check) -> _Check:
    """The check with its status, or with the boots that it still wants."""
    for sha in (check.base, check.new):
        if why := state.ledger.untestable(sha):
            note = Finding.of(Untestable.REVISION, sha=sha, why=why)
            return replace(check, verification=check.says(CheckStatus.UNDECIDED, note))
    base, new = (state.raw.get(kernel, Sample(())) for kernel in check.kernels)
    alpha = state.spec.look_alpha
    verification, late = None, False
    for look, boots in enumerate(check.looks):
        if min(base.n, new.n) < boots:
            return replace(
                check,
                wanted=tuple((kernel, boots) for kernel in check.kernels),
                late=late,
                verification=verification if late else None,
            )
        pair = base.part(0, boots), new.part(0, boots)
        verification = _verification(state.spec, check, pair, alpha)
        # More looks make a pass sooner; each would also be a chance to deny by luck.
        early = check.one_p and look % 2 and look + 1 < len(check.looks)
        denies = verification.status is CheckStatus.FAIL
        if denies and (early or _may_be_builds(state, pair)):
            verification = replace(verification, status=CheckStatus.UNDECIDED)
        if verification.status is not CheckStatus.UNDECIDED:
            break
        late = check.purpose is BootPurpose.REVERT and (
            look > 0 or _intervals_disjoint(state.spec, check, pair)
        )
    return replace(check, verification=verification)


def _may_be_builds(state: VerifyState, pair: Pair) -> bool:
    """Whether two builds of codes that differ by the smallest effect may look like this pair."""
    spec = state.spec
    if spec.builds is None:
        return False
    reach = BUILD_REACH * math.sqrt(2) * state.groups.spread
    return _shift(spec.judged, pair) + reach >= effect_floor(spec.judged)


def _of_builds(state: VerifyState, *, ready: bool) -> _Check:
    """The comparison of other builds of both sides."""
    spec, groups = state.spec, state.groups
    check = _Check(
        check=CheckName.BUILDS,
        base=spec.parents[0],
        new=spec.culprit,
        purpose=BootPurpose.BUILDS,
        wanted=groups.wanted if ready else (),
    )
    if groups.wanted or not ready:
        return check
    if groups.judgement is None:
        note = Finding.of(Checks.TOO_FEW_BUILDS)
        return replace(check, verification=check.says(CheckStatus.UNDECIDED, note))
    readable = spec.figure.for_reader(spec.threshold, groups.judgement)
    note = Finding.of(
        Checks.BUILDS,
        base=readable.base.n,
        new=readable.new.n,
        why=readable.reason,
        spread=without_direction(spec.told(effect_of(spec.judged, groups.spread))),
    )
    said = check.says(_STATUS[groups.judgement.level], note)
    return replace(check, verification=replace(said, judgement=readable))


def _intervals_disjoint(spec: VerifySpec, check: _Check, pair: Pair) -> bool:
    """The boots so far are as far apart as so few can be: they do not contradict the culprit, and
    that they pass is told by the boots that follow, which a culprit that falls never costs.
    """
    return _verification(spec, check, pair, smallest_p(*pair)).status is CheckStatus.PASS


def _verification(spec: VerifySpec, check: _Check, pair: Pair, alpha: float) -> Verification:
    is_revert = check.purpose is BootPurpose.REVERT
    judgement = _judged(spec, check, pair, alpha)
    share = _recovered_share(spec, pair)
    status = _STATUS[judgement.level]
    if is_revert and status is CheckStatus.PASS and share is not None and share < REVERT_RECOVERY:
        status = CheckStatus.UNDECIDED
    short = (
        share is not None
        and share < FULL_RECOVERY
        and falls_short(spec.judged, spec.endpoints, pair)
    )
    readable = spec.figure.for_reader(spec.threshold, judgement)
    note = _note(readable, share, is_revert=is_revert, short=short)
    return replace(check.says(status, note), judgement=readable, recovery=share, short=short)


def _judged(spec: VerifySpec, check: _Check, pair: Pair, alpha: float) -> Judgement:
    """What the boots say of the pair: nothing yet, where equal boots may be luck, of a revert at
    `alpha` as well.
    """
    strict = spec.strict and check.purpose is BootPurpose.REVERT
    if check.one_p:
        looks = Looks(check.looks, reach=spec.share_reach)
        judgement = judge_shares(spec.judged, pair, looks, alpha=spec.alpha, effect=spec.told)
    else:
        judgement = judge(spec.judged, *pair, alpha=alpha, effect=spec.told)
    if judgement.level is not Level.PASS:
        return judgement
    if _may_be_luck(spec, pair, alpha if strict else LUCK):
        kind = Checks.LUCK
    elif strict and not ruled_out(spec.judged, *pair, alpha):
        kind = Checks.NOT_RULED_OUT
    else:
        return judgement
    reason = Finding.of(kind, effect=spec.told(judgement.effect))
    return replace(judgement, level=Level.UNDECIDED, reason=reason)


def _recovered_share(spec: VerifySpec, pair: Pair) -> float | None:
    """Shift of this pair as a share of the shift of the ends; None without ends."""
    if not all(end.n for end in spec.endpoints):
        return None
    whole, part = (_shift(spec.judged, each) for each in (spec.endpoints, pair))
    return part / whole if whole > 0 else None


def _shift(threshold: Threshold, pair: Pair) -> float:
    better, worse = sides(threshold, *pair)
    return centre(threshold, worse) - centre(threshold, better)


def _may_be_luck(spec: VerifySpec, pair: Pair, luck: float) -> bool:
    """Whether boots of the ends themselves would differ as little as this pair in more than `luck`
    of all draws.

    What happens in one boot of four is missing from three boots of both kernels, however much the
    kernels differ, and the bootstrap of equal boots has no width that would say so. Figures that
    every boot has (medians) do not hide in this way.
    """
    if not by_mean(spec.judged) or not all(end.n for end in spec.endpoints):
        return False
    whole, part = (sides(spec.judged, *each) for each in (spec.endpoints, pair))
    return stats.chance_of_less(whole, part) > luck


def _note(judgement: Judgement, share: float | None, *, is_revert: bool, short: bool) -> Finding:
    """The figures of a check, and with a `share` how much of the ends' shift it shows; `short`: by
    more than luck it is not all of it.
    """
    base, new, why = judgement.base.n, judgement.new.n, judgement.reason
    if share is None:
        return Finding.of(Checks.COMPARED, base=base, new=new, why=why)
    kind = Checks.TAKES_BACK if is_revert else Checks.EXPLAINS
    if judgement.level is Level.REGRESSED and not is_revert and short:
        kind = Checks.EXPLAINS_PART
    return Finding.of(kind, base=base, new=new, why=why, share=share)
