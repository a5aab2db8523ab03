# SPDX-License-Identifier: GPL-2.0-or-later
"""How likely the build of a candidate is another kernel than all that are built.

Commits that change a comment, or code that this configuration leaves out, give the kernel of
their parent once more. Such a build rules out the commits between it and the known kernel, but it
says nothing of how much builds of one code differ, for which another kernel has to boot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from rtbisect.search.information import entropy

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Ancestry, Bools, Floats
    from rtbisect.search.equal_kernels import EqualKernels

Numbers: TypeAlias = npt.NDArray[np.intp]

#: Chance at least that a candidate is another kernel, also between two revisions of one kernel:
#: what it changed was taken back.
TAKEN_BACK = 0.02
#: Number of shares of the commits that change the kernel. Small ones lie close together: in a long
#: range it may be one commit in a thousand.
_SHARES = 50


@dataclass(frozen=True, eq=False)
class OtherKernels:
    """What is known of candidates before they are built."""

    #: Chance that each candidate (n,) is a kernel that is not known yet; 1 of those that are built,
    #: so that their bits stay as they are.
    chance: Floats
    #: Bits about the culprit that it tells if a candidate (n,) is a known kernel.
    told: Floats

    def bits(self, fresh: Floats) -> Floats:
        """Bits (n,) that a candidate is worth: those that it tells if it is a known kernel, and,
        times the chance of another one, what `fresh` (n,), the bits of a boot of that, has beyond
        them.
        """
        told = np.minimum(fresh, self.told)
        bits: Floats = told + self.chance * (fresh - told)
        return bits


def other_kernels(
    ancestry: Ancestry, equal: EqualKernels, built: Bools, commits: Floats
) -> OtherKernels | None:
    """What the builds so far say of the others; None as long as no two of them were one kernel, or
    nobody knows those of the ends. `built` (n,) are the candidates that need no build,
    `commits` (n,) the probabilities that one is the culprit.

    Commits change the kernel independently of each other, with one chance that follows from the
    builds. Between two revisions lie the commits that only the newer one has.
    """
    graph, kernels = ancestry.graph, equal.signatures
    if not equal.twins or not all(kernels.get(end) for end in graph.ends):
        return None
    builds = [graph.older, *(each.sha for each in graph.commits if kernels.get(each.sha))]
    _names, kernel = np.unique([kernels[sha] for sha in builds], return_inverse=True)
    at = np.array([-1, *ancestry.places(builds[1:])])
    may_change = np.ones(ancestry.size)
    may_change[ancestry.places(sha for sha, _parent in equal.assumed)] = 0.0
    # Such commits of each candidate, and of the older end.
    changes = np.append(ancestry.mass(may_change), 0.0)
    older, newer = _nearest(ancestry, at, changes)
    last = older[at[1:]]
    share = _share(changes[at[1:]] - changes[at[last]], kernel[1:] != kernel[last])
    chance = _between(share, changes[:-1] - changes[at[older]], changes[at[newer]] - changes[:-1])
    chance[kernel[older] == kernel[newer]] = TAKEN_BACK
    chance = np.maximum(chance, TAKEN_BACK)
    chance[built] = 1.0
    return OtherKernels(chance, _told(ancestry.mass(commits), at[older], at[newer]))


def _told(mass: Floats, older: Numbers, newer: Numbers) -> Floats:
    """Bits (n,) of learning whether a candidate is the kernel of the build before it or of the one
    after it, at these places (n,), -1 for the older end: on which side of it the culprit lies,
    where it lies between these two. `mass` (n,) are the probabilities that it is a candidate or
    one of its ancestors.
    """
    up_to = np.append(mass, 0.0)
    before = np.maximum(mass - up_to[older], 0.0)
    behind = np.maximum(up_to[newer] - mass, 0.0)
    between = np.maximum(before + behind, 1e-300)
    share = before / between
    told: Floats = between * entropy(np.stack((share, 1 - share), axis=1))
    return told


def _nearest(ancestry: Ancestry, at: Numbers, changes: Floats) -> tuple[Numbers, Numbers]:
    """Which of the builds at these places (b,), the ends first and last, is the nearest one among
    the ancestors and among the descendants of each candidate (n,).
    """
    older = np.zeros(ancestry.size, dtype=np.intp)
    newer = np.full(ancestry.size, len(at) - 1)
    for number, place in enumerate(at.tolist()[1:], 1):
        below, above = ancestry.descendants_or_self(place), ancestry.ancestors_or_self(place)
        below[place] = above[place] = False
        older[below & (changes[place] >= changes[at[older]])] = number
        newer[above & (changes[place] < changes[at[newer]])] = number
    return older, newer


def _shares() -> tuple[Floats, Floats]:
    """Shares of the commits that change the kernel (s,), and their weights: all are as likely
    before anything is built.
    """
    root = (np.arange(_SHARES) + 0.5) / _SHARES
    return root**3, root**2


def _share(distances: Floats, differ: Bools) -> Floats:
    """Probability of each share (s,), after builds so many commits apart (b,), equal or not."""
    shares, weights = _shares()
    log_kept = np.log1p(-shares)[:, None]
    log_equal = log_kept * distances
    # Of two branches silent commits may be all that lies between builds that differ.
    log_differ = np.log(-np.expm1(np.minimum(log_equal, log_kept)))
    log_likelihood = np.where(differ, log_differ, log_equal).sum(axis=1)
    likelihood = weights * np.exp(log_likelihood - log_likelihood.max())
    probability: Floats = likelihood / likelihood.sum()
    return probability


def _between(share: Floats, from_older: Floats, to_newer: Floats) -> Floats:
    """Chance that a commit so far from the nearest builds before and after it (n,), which differ,
    has the kernel of neither.
    """
    total = np.zeros(from_older.size)
    for probability, changing in zip(share.tolist(), _shares()[0].tolist(), strict=True):
        older, newer = (1 - changing) ** from_older, (1 - changing) ** to_newer
        differ = np.maximum(1 - older * newer, 1e-300)
        total += probability * (1 - older) * (1 - newer) / differ
    return total
