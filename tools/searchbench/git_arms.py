# SPDX-License-Identifier: GPL-2.0-or-later
"""`git bisect run` with the verdicts of its users: one boot, a majority, kci-dev's, syzbot's and
Pinpoint's rule. Each has 125 for what does not build.

kci-dev 0.1.12 (subcommands/bisect.py) tries a failure twice more and calls a commit good as soon as
one of three passes. syzbot (pkg/bisect) boots ten times: it called a commit bad as soon as one
crashed; since syzkaller#5047 bad takes two of ten, good none, and what lies between is skipped.
Both have pass and fail: a boot fails beyond a limit that is best for their rule by the calibration.

Pinpoint (catapult, dashboard/pinpoint/models/compare) compares neighbours: the smaller p of a
Mann-Whitney and a Kolmogorov-Smirnov test. Below 0.01 they differ; above a second limit, which a
true difference as large as the wanted one exceeds in one case of a hundred, they are the same; in
between both get ten more. It walks a line; here git chooses its midpoints, on the real graph. As
today's service has it, its culprit is compared with each parent on 30 fresh boots a side.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.stats import ks_2samp, mannwhitneyu, norm

from rtbisect.errors import InternalError
from rtbisect.model.campaign import Outcome
from searchbench.calibration import calibrated
from searchbench.scoring import Said, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.model.code import CommitGraph
    from searchbench.world import World

Ends: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
GOOD, BAD, SKIP = "good", "bad", "skip"
#: Boots of a comparison that are added at once, and those of the last one, of Pinpoint.
ATTEMPTS, VERIFYING = 10, 30
DIFFERENT = 0.01


def git_bisect(verdict: Callable[[World, Ends, str], str], world: World, _arm: str) -> Said:
    """What `git bisect` names: one commit, or all between skipped ones."""
    ends = calibrated(world)
    if ends is None:
        return said(Outcome.NOT_REPRODUCED)
    return _named(
        Repository.of(world.graph).bisect(_buildable(world, partial(verdict, world, ends)))
    )


def _buildable(world: World, verdict: Callable[[str], str]) -> Callable[[str], str]:
    return lambda sha: SKIP if world.build(sha) is None else verdict(sha)


def _named(found: list[str]) -> Said:
    outcome = Outcome.CULPRIT if len(found) == 1 else Outcome.CULPRIT_SET
    return Said(outcome.value, tuple(found), 1.0)


def majority(votes: int, world: World, ends: Ends, sha: str, *, same_boot: bool) -> str:
    """By most of the runs, against the middle of the calibration; of a flaky test by how many of
    the runs fail, against the middle of the ends' shares.
    """
    flaky = world.cell.kind == "fails"
    middle = statistics.fmean if flaky else statistics.median
    limit = sum(middle(end) for end in ends) / 2
    if same_boot:
        values = world.values(sha, votes)
    else:
        values = [world.values(sha, 1)[0] for _ in range(votes)]
    if flaky:
        return BAD if statistics.fmean(values) > limit else GOOD
    return BAD if sum(v > limit for v in values) * 2 > votes else GOOD


def kci_dev(world: World, ends: Ends, sha: str) -> str:
    """Good as soon as one of three passes."""
    limit = best_limit(ends, lambda fails: fails**3)
    return BAD if all(world.values(sha, 1)[0] > limit for _ in range(3)) else GOOD


def syzbot(world: World, ends: Ends, sha: str) -> str:
    """Bad as soon as one of ten fails."""
    limit = best_limit(ends, lambda fails: 1 - (1 - fails) ** 10)
    return BAD if any(world.values(sha, 1)[0] > limit for _ in range(10)) else GOOD


def syzbot_two(world: World, ends: Ends, sha: str) -> str:
    """Good when none of ten fails, bad when two do, else skipped."""
    limit = best_limit(ends, lambda fails: 1 - (1 - fails) ** 10 - 10 * fails * (1 - fails) ** 9)
    failed = sum(world.values(sha, 1)[0] > limit for _ in range(10))
    return GOOD if not failed else BAD if failed > 1 else SKIP


def best_limit(ends: Ends, says_bad: Callable[[np.ndarray], np.ndarray]) -> float:
    """The limit of a boot at which a rule is wrong least often, by normal distributions with the
    means of the ends and their common scale; `says_bad` of the chance that a boot fails.
    """
    good, bad = (statistics.fmean(end) for end in ends)
    scale = math.sqrt(statistics.fmean(statistics.variance(end) for end in ends))
    limits = np.linspace(min(good, bad) - 3 * scale, max(good, bad) + 3 * scale, 601)
    wrong = says_bad(norm.sf(limits, good, scale)) + 1 - says_bad(norm.sf(limits, bad, scale))
    return float(limits[int(np.argmin(wrong))])


def pinpoint(world: World, _arm: str) -> Said:
    """Pinpoint's comparisons on the real graph, then the comparison with the parents."""
    ends = calibrated(world)
    if ends is None:
        return said(Outcome.NOT_REPRODUCED)
    sides = _Neighbours(world, ends)
    answer = _named(Repository.of(world.graph).bisect(_buildable(world, sides.verdict)))
    if len(answer.named) != 1:
        return answer
    parents = next(c.parents for c in world.graph.commits if c.sha == answer.named[0])
    new = [world.values(answer.named[0], 1)[0] for _ in range(VERIFYING)]
    for parent in parents:
        old = [world.values(parent, 1)[0] for _ in range(VERIFYING)]
        if mannwhitneyu(old, new, alternative="less").pvalue > DIFFERENT:
            return said(Outcome.INCONCLUSIVE)
    return answer


class _Neighbours:
    """The revisions between which the change lies, by the comparisons so far, with their boots."""

    def __init__(self, world: World, ends: Ends) -> None:
        graph = world.graph
        self.world = world
        self.shas = {GOOD: graph.older, BAD: graph.newer}
        self.boots = {graph.older: list(ends[0]), graph.newer: list(ends[1])}
        scale = math.sqrt(statistics.fmean(statistics.variance(end) for end in ends))
        #: The wanted difference in standard deviations.
        self.shift = abs(statistics.fmean(ends[1]) - statistics.fmean(ends[0])) / scale

    def verdict(self, sha: str) -> str:
        """Where two comparisons differ the larger difference counts, for there is one culprit."""
        found = BAD if self._p(self.shas[GOOD], sha) < self._p(sha, self.shas[BAD]) else GOOD
        self.shas[found] = sha
        return found

    def _p(self, one: str, other: str) -> float:
        """Of two revisions, with as many boots as it takes to know."""
        pair = [self.boots.setdefault(sha, []) for sha in (one, other)]
        wanted = ATTEMPTS
        while True:
            for sha, boots in zip((one, other), pair, strict=True):
                boots += [self.world.values(sha, 1)[0] for _ in range(wanted - len(boots))]
            rank = mannwhitneyu(*pair).pvalue
            p = float(min(rank, ks_2samp(*pair).pvalue))
            if p < DIFFERENT or p > same_above(self.shift, wanted):
                return p
            wanted += ATTEMPTS


def same_above(shift: float, boots: int) -> float:
    """The p above which two samples count as the same: one in a hundred that differ by `shift`
    standard deviations, with so many boots each, exceeds it. It falls below DIFFERENT, which ends
    the repeats.
    """
    power = shift * math.sqrt(boots / 2) * math.sqrt(3 / math.pi)
    return float(2 * norm.sf(max(0.0, power - norm.ppf(0.99))))


class Repository:
    """A real git repository with the shape of a graph; every tree is empty."""

    _known: dict[int, Repository] = {}  # noqa: RUF012  (one a process, never changed)

    def __init__(self, graph: CommitGraph) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rtbisect-bench-")
        self.path = Path(self._folder.name)
        self._git("init", "-q", "--bare", "-b", "main")
        who = "committer Person 001 <person-001@example.org> 1700000000 +0000\ndata 0\n"
        marks = {graph.older: 1} | {c.sha: i + 2 for i, c in enumerate(graph.commits)}
        lines = [f"commit refs/heads/good\nmark :1\n{who}"]
        for commit in graph.commits:
            lines.append(f"commit refs/heads/main\nmark :{marks[commit.sha]}\n{who}")
            parents = [marks.get(p, 1) for p in commit.parents] or [1]
            words = ["from", *["merge"] * (len(parents) - 1)]
            lines += [f"{word} :{mark}\n" for word, mark in zip(words, parents, strict=True)]
        out = self.path / "marks"
        self._git("fast-import", "--quiet", f"--export-marks={out}", stdin="".join(lines))
        names = dict(line.split() for line in out.read_text().splitlines())
        back = {mark: sha for sha, mark in marks.items()}
        self.sha = {names[mark]: back[int(mark[1:])] for mark in names}
        self.good, self.bad = names[":1"], names[f":{marks[graph.newer]}"]

    @classmethod
    def of(cls, graph: CommitGraph) -> Repository:
        # Histories are made once a process, so that each has one identity.
        if id(graph) not in cls._known:
            cls._known[id(graph)] = cls(graph)
        return cls._known[id(graph)]

    def _git(self, *words: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", "-C", str(self.path), *words],
            input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        return done.stdout

    def bisect(self, verdict: Callable[[str], str]) -> list[str]:
        """Our names of the first bad commit, or of all that git says it could be."""
        self._git("bisect", "start", "--no-checkout", self.bad, self.good)
        known: dict[str, str] = {}
        for _ in range(10000):
            here = self._git("rev-parse", "--verify", "--quiet", "BISECT_HEAD").strip()
            word = known.get(here) or verdict(self.sha[here])
            known[here] = word
            said = self._git("bisect", word)
            if "is the first bad commit" in said:
                self._git("bisect", "reset", self.bad)
                return [self.sha[said.split()[0]]]
            if "cannot bisect more" in said or ("only" in said and "skip" in said):
                self._git("bisect", "reset", self.bad)
                return [self.sha[line] for line in said.split() if line in self.sha]
        raise InternalError("git bisect does not end")


ARMS: dict[str, Callable[[World, str], Said]] = {
    **{
        f"git-{k}": partial(git_bisect, partial(majority, k, same_boot=False)) for k in (1, 3, 5, 9)
    },
    **{
        f"git-{k}-same-boot": partial(git_bisect, partial(majority, k, same_boot=True))
        for k in (3, 9)
    },
    "kci-dev": partial(git_bisect, kci_dev),
    "syzbot": partial(git_bisect, syzbot),
    "syzbot-two": partial(git_bisect, syzbot_two),
    "pinpoint": pinpoint,
}
