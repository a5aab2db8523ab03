# SPDX-License-Identifier: GPL-2.0-or-later
"""Histories of numbered commits for tests of whole campaigns, and what is to be found in them."""

import math
from dataclasses import KW_ONLY, dataclass, field, fields, replace

from helpers.campaigns import World, boots, sha
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import CampaignRequest, Cause, Limits, Outcome
from rtbisect.model.code import Commit, CommitGraph

#: Numbers of reverts are those of the commits and this.
REVERTED = 10**6
#: (name, window) of the figures of a suite that a commit raises.
FIGURES = {
    "ipi": {("res_per_iwi", "pf-on"), ("res_per_s", "clock-on"), ("res_per_s", "pf-on")},
    "rcu": {("p50_us", "rcu-off"), ("p50_us", "rcu-on")},
}


@dataclass(frozen=True)
class History:
    """Commits 1 to `count` above the good end 0, each on top of the one before it, and what their
    kernels do.
    """

    count: int = 8
    _: KW_ONLY
    #: Parents of a commit that is not, or not only, on top of the one before it.
    parents: dict[int, tuple[int, ...]] = field(default_factory=dict)
    #: How many times a commit makes the figures of a suite.
    ipi: dict[int, float] = field(default_factory=dict)
    rcu: dict[int, float] = field(default_factory=dict)
    #: What they make more differs by at most this part of it from boot to boot.
    noise: float = 0.0
    #: Commits that do not build, and commits whose kernel is that of another one.
    broken: tuple[int, ...] = ()
    same: dict[int, int] = field(default_factory=dict)
    #: How the first boots of a commit end ("*": of any); those that follow are complete.
    ends: dict[int | str, list] = field(default_factory=dict)
    suite: str | None = None
    metric: str | None = None
    limits: Limits = field(default_factory=Limits)

    def world(self, state):
        """The campaign over it; what a commit does can be reverted on the tip."""
        graph = CommitGraph(sha(0), sha(self.count), tuple(map(self._commit, self._numbers())))
        return World(
            state,
            graph,
            FakeLab(self._draw, {n if n == "*" else sha(n): each for n, each in self.ends.items()}),
            FakeBuilder(
                failing={sha(n): "a.c:1: error: x" for n in self.broken},
                same_as={sha(n): sha(other) for n, other in self.same.items()},
            ),
            {(graph.newer, sha(n)): sha(REVERTED + n) for n in {*self.ipi, *self.rcu}},
            CampaignRequest(
                kind="bisect",
                site="s",
                tree="t",
                older=graph.older,
                newer=graph.newer,
                suite=self.suite,
                metric=self.metric,
            ),
            limits=self.limits,
        )

    def _numbers(self):
        return range(1, self.count + 1)

    def _commit(self, number):
        return Commit(sha(number), tuple(map(sha, self._above(number))), f"commit {number}")

    def _above(self, number):
        return self.parents.get(number, (number - 1,)) if number in self._numbers() else ()

    def _held(self, number):
        """The commits that a kernel is made of."""
        if number > REVERTED:
            return self._held(self.count) - {number - REVERTED}
        return {number}.union(*map(self._held, self._above(number)))

    def _draw(self, request, random):
        held = self._held(int(request.revision, 16))
        spread = random.uniform(1 - self.noise, 1 + self.noise) if self.noise else 1.0
        times = {
            suite: 1 + spread * (math.prod(does[n] for n in does if n in held) - 1)
            for suite, does in (("ipi", self.ipi), ("rcu", self.rcu))
        }
        return [
            replace(m, value=m.value * times[m.suite])
            if (m.name, m.window) in FIGURES.get(m.suite, ())
            else m
            for m in boots(None)(request, random)
        ]


@dataclass(frozen=True)
class Found:
    """What a campaign ends with. Of the fields behind the first two, None is not looked at."""

    outcome: Outcome
    #: The culprit, or the candidates where there are several.
    commits: int | set[int] | None = None
    _: KW_ONLY
    cause: Cause | None = None
    metric: str | None = None
    #: Names of checks and how they ended.
    checks: dict[str, str] | None = None
    #: How many parents the culprit was compared with.
    parents: int | None = None
    #: Commits that were booted.
    booted: set[int] | None = None
    #: Whether there is a mail.
    mail: bool = True

    def seen(self, here, result):
        """The same of a campaign that ended, with the fields that are looked at here."""
        several = result.outcome in (Outcome.MULTIPLE_CULPRITS, Outcome.CULPRIT_SET)
        candidates = {int(each, 16) for each, _probability in result.candidates}
        status = {check.check: check.status for check in result.verifications}
        all_seen = Found(
            result.outcome,
            candidates if several else result.culprit and int(result.culprit, 16),
            cause=result.cause,
            metric=str(result.metric),
            checks={name: status.get(name) for name in self.checks or ()},
            parents=sum(bool(check.parent) for check in result.verifications),
            booted={int(request.revision, 16) for request in here.lab.requests},
            mail=bool(here.mailer.drafts),
        )
        ignored = (each.name for each in fields(self)[2:] if getattr(self, each.name) is None)
        return replace(all_seen, **dict.fromkeys(ignored))
