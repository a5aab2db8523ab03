# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search hears, and the sum of it: which revisions are built, equal, broken or booted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from rtbisect.model.lab import RunStatus
from rtbisect.search.events import Booted, Built, Event, Reverted, Silent
from rtbisect.search.likelihood.features import Views, views, without_hosts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbisect.model.campaign import Threshold

#: Boots in a row that did not reach the suites' end, after which a revision is skipped.
FAILED_BOOTS = 3
#: How often a revision with an invalid run is proposed again before the search gives up.
INVALID_RERUNS = 3


@dataclass(frozen=True)
class Ledger:
    """The events, summed up per revision. `views` are those of the valid boots in their order,
    by revision and layout; `failed_boots` and `invalid` hold what came since the last one.
    `invalid_streak` revisions were given up for their invalid runs since the last valid one of any
    revision. `reverts` are known by their own shas, which no graph has.
    """

    signatures: Mapping[str, str]
    build_failed: frozenset[str]
    failed_boots: Mapping[str, tuple[RunStatus, ...]]
    invalid: Mapping[str, int]
    builds: int
    boots: int
    silent: tuple[tuple[str, str], ...] = ()
    shared: Mapping[str, frozenset[int]] = field(default_factory=dict)
    views: Mapping[tuple[str, int], tuple[Views, ...]] = field(default_factory=dict)
    layouts_failed: frozenset[str] = frozenset()
    invalid_streak: int = 0
    reverts: Mapping[str, Reverted] = field(default_factory=dict)

    @cached_property
    def values(self) -> Mapping[str, tuple[float, ...]]:
        """Badness (see `judge.scale`) of the boots of each revision as it is configured."""
        return {
            sha: tuple(boot[0] for boot in boots)
            for (sha, layout), boots in self.views.items()
            if not layout
        }

    def built(self, sha: str) -> bool:
        return sha in self.signatures

    def tried(self, sha: str) -> bool:
        """A build was tried, so another one costs nothing or is hopeless."""
        return sha in self.signatures or sha in self.build_failed

    def untestable(self, sha: str) -> str:
        """Why `sha` cannot be tested; empty when it can."""
        if sha in self.build_failed:
            return "does not build"
        if self.invalid.get(sha, 0) > INVALID_RERUNS:
            return f"has {self.invalid[sha]} invalid runs in a row"
        failed = self.failed_boots.get(sha, ())
        # What has worked before and is skipped once is tried again.
        if RunStatus.SKIPPED in failed and (len(failed) >= FAILED_BOOTS or sha not in self.values):
            return "is skipped by the command"
        if len(failed) < FAILED_BOOTS:
            return ""
        return "hangs in the suites" if RunStatus.HUNG in failed else "does not boot"

    @cached_property
    def untestable_shas(self) -> frozenset[str]:
        """The revisions that cannot be tested."""
        return frozenset(
            sha
            for sha in {*self.build_failed, *self.failed_boots, *self.invalid}
            if self.untestable(sha)
        )

    @cached_property
    def twins(self) -> tuple[tuple[str, ...], ...]:
        """Revisions with the same signature, where there are at least two of them."""
        found: dict[str, list[str]] = {}
        for sha, signature in self.signatures.items():
            if signature:
                found.setdefault(signature, []).append(sha)
        return tuple(tuple(group) for group in found.values() if len(group) > 1)

    @cached_property
    def assumed(self) -> tuple[tuple[str, str], ...]:
        """Silent pairs that no signature contradicts. Where two members of a chain have
        different kernels, nobody knows which of its pairs is wrong, and none is believed.
        """
        if not self.silent:
            return ()
        chain = _chains(self.silent)
        kernels: dict[str, set[str]] = {}
        for sha, signature in self.signatures.items():
            if signature and sha in chain:
                kernels.setdefault(chain[sha], set()).add(signature)
        wrong = {root for root, found in kernels.items() if len(found) > 1}
        return tuple(pair for pair in self.silent if chain[pair[0]] not in wrong)

    @cached_property
    def _above(self) -> Mapping[str, str]:
        """The parent of each commit that is taken to have its kernel."""
        return dict(self.assumed)

    @cached_property
    def classes(self) -> tuple[tuple[str, ...], ...]:
        """Revisions with the same kernel, by signature or as nothing touches it; built first."""
        pairs = [(one, other) for group in self.twins for one, other in pairwise(group)]
        chain = _chains((*pairs, *self.assumed))
        found: dict[str, list[str]] = {}
        for sha, root in chain.items():
            found.setdefault(root, []).append(sha)
        groups = (sorted(g, key=lambda sha: (not self.built(sha), sha)) for g in found.values())
        return tuple(tuple(group) for group in groups)

    @cached_property
    def kin(self) -> Mapping[str, tuple[str, ...]]:
        """The class of each revision that has one."""
        return {sha: group for group in self.classes for sha in group}

    @cached_property
    def stretches(self) -> tuple[tuple[str, ...], ...]:
        """Silent commits between two built kernels of a chain, the upper one of which is left out
        and the lower one is the last; in the order of the chain.
        """
        found = []
        for sha, signature in self.signatures.items():
            path, above = [sha], self._above.get(sha)
            while above is not None and not self.built(above):
                path.append(above)
                above = self._above.get(above)
            if signature and above is not None and self.signatures[above]:
                found.append(tuple(reversed(path)))
        return tuple(found)

    @cached_property
    def spanned(self) -> frozenset[str]:
        """Revisions that need no build of their own to be proven equal: built kernels before and
        after them in a chain of silent commits are equal, and nothing between touches their files
        again, so that nothing is taken back.
        """
        found: set[str] = set()
        for path in self.stretches:
            times = Counter(file for sha in path for file in self.shared.get(sha, ()))
            found.update(
                sha for sha in path[:-1] if all(times[f] == 1 for f in self.shared.get(sha, ()))
            )
        return frozenset(found)

    def to_prove(self, shas: Iterable[str]) -> list[str]:
        """What to build so that all of `shas`, which are taken to be one kernel, are proven to be
        one: the ends of chains, then as few as can be between commits that touch the same file.
        """
        asked = set(shas)
        inside = {sha for path in self.stretches for sha in path}
        hanging = {sha for sha in asked - inside if not self.tried(sha)}
        if hanging:
            return sorted(hanging - {self._above.get(sha, "") for sha in hanging})
        found: dict[str, None] = {}
        for path in self.stretches:
            if asked.issuperset(path):
                found.update(dict.fromkeys(self._cuts(path)))
        return list(found)

    def _cuts(self, path: tuple[str, ...]) -> Iterable[str]:
        """The fewest points of a stretch between which no file is touched twice: as late as can be
        each (the classic cover of intervals by points).
        """
        last: dict[int, int] = {}
        cut = -1
        for i, sha in enumerate(path):
            files = self.shared.get(sha, frozenset())
            first = max((last[file] for file in files if file in last), default=-1)
            if first > cut:
                able = [k for k in range(first, i) if not self.tried(path[k])]
                if able:
                    cut = able[-1]
                    yield path[cut]
            last.update(dict.fromkeys(files, i))

    def stand_in(self, sha: str) -> str:
        """A built revision with the kernel of `sha`, itself where there is none."""
        first = self.kin.get(sha, (sha,))[0]
        return first if not self.built(sha) and self.built(first) else sha


def ledger(threshold: Threshold, events: tuple[Event, ...]) -> Ledger:
    """Sum up a log of builds and boots. A revision that booted was built."""
    tally = _Tally(threshold)
    for event in events:
        if isinstance(event, Silent):
            tally.silent, tally.shared = event.pairs, event.shared
        elif isinstance(event, Reverted):
            tally.reverts[event.revision] = event
        elif isinstance(event, Built):
            tally.built(event)
        else:
            tally.booted(event)
    return Ledger(
        tally.signatures,
        frozenset(tally.build_failed),
        {sha: tuple(found) for sha, found in tally.failed.items()},
        tally.invalid,
        tally.builds,
        tally.boots,
        tally.silent,
        tally.shared,
        without_hosts(threshold, tally.views, tally.hosts),
        frozenset(tally.layouts_failed),
        tally.given_up,
        tally.reverts,
    )


@dataclass
class _Tally:
    """What the events say so far."""

    threshold: Threshold
    signatures: dict[str, str] = field(default_factory=dict)
    build_failed: set[str] = field(default_factory=set)
    views: dict[tuple[str, int], list[Views]] = field(default_factory=dict)
    hosts: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    failed: dict[str, list[RunStatus]] = field(default_factory=dict)
    invalid: dict[str, int] = field(default_factory=dict)
    silent: tuple[tuple[str, str], ...] = ()
    shared: Mapping[str, frozenset[int]] = field(default_factory=dict)
    layouts_failed: set[str] = field(default_factory=set)
    barren: dict[tuple[str, int], int] = field(default_factory=dict)
    given_up: int = 0
    reverts: dict[str, Reverted] = field(default_factory=dict)
    builds: int = 0
    boots: int = 0

    def built(self, event: Built) -> None:
        sha = event.revision
        self.builds += 1
        if event.layout:
            if event.ok:
                self.views.setdefault((sha, event.layout), [])
            else:
                self.layouts_failed.add(sha)
        elif event.ok:
            self.signatures[sha] = event.signature
            self.build_failed.discard(sha)
        elif sha not in self.signatures:
            self.build_failed.add(sha)

    def booted(self, event: Booted) -> None:
        sha = event.revision
        self.boots += 1
        found = evidence(self.threshold, event)
        if found is not None:
            self.given_up = 0
            assert event.observation is not None
            self.views.setdefault((sha, event.layout), []).append(found)
            self.hosts.setdefault((sha, event.layout), []).append(event.observation.host)
        if event.layout:
            key = (sha, event.layout)
            self.barren[key] = 0 if found else self.barren.get(key, 0) + 1
            if self.barren[key] >= FAILED_BOOTS:
                self.layouts_failed.add(sha)
            return
        self.signatures.setdefault(sha, "")
        if found is not None:
            self.invalid[sha] = 0
            self.failed.pop(sha, None)
        elif event.status in (RunStatus.BOOT_FAILED, RunStatus.HUNG, RunStatus.SKIPPED):
            self.failed.setdefault(sha, []).append(event.status)
        else:
            self.invalid[sha] = self.invalid.get(sha, 0) + 1
            self.given_up += self.invalid[sha] == INVALID_RERUNS + 1


def _chains(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The first member of the group of each revision that pairs connect."""
    above: dict[str, str] = {}

    def root(sha: str) -> str:
        while above[sha] != sha:
            above[sha] = above[above[sha]]
            sha = above[sha]
        return sha

    for one, other in pairs:
        for sha in (one, other):
            above.setdefault(sha, sha)
        above[root(one)] = root(other)
    return {sha: root(sha) for sha in list(above)}


def evidence(threshold: Threshold, event: Booted) -> Views | None:
    """Views of a boot; None when the boot is no evidence."""
    try:
        complete = event.status is RunStatus.COMPLETE and event.observation is not None
        return views(threshold, event.observation) if complete and event.observation else None
    except ValueError:
        return None
