# SPDX-License-Identifier: GPL-2.0-or-later
"""What the search and its verification find."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Untestable(Kind):
    """Why a revision cannot be tested."""

    NO_BUILD = "untestable.no-build"
    #: The revision had so many invalid `runs` in a row.
    INVALID = "untestable.invalid", "runs"
    #: The command that measures the revision skips it.
    SKIPPED = "untestable.skipped"
    HUNG = "untestable.hung"
    NO_BOOT = "untestable.no-boot"
    #: A revision, and why it cannot be tested: one of the above.
    REVISION = "untestable.revision", "sha why"


class Costs(Kind):
    """What was spent, or is expected to be."""

    #: Numbers of builds and boots; of a forecast they are no whole ones.
    WORK = "cost.work", "builds boots"


class Endings(Kind):
    """How a search ends. `why` is the ending that the rest belongs to, `boots` are all of it."""

    NOT_OVER = "ending.not-over"
    #: Both ends are one kernel.
    EQUAL = "ending.equal"
    #: An end cannot be tested; `why` is one of Untestable.
    OLDER_UNTESTABLE = "ending.older-untestable", "sha why"
    NEWER_UNTESTABLE = "ending.newer-untestable", "sha why"
    #: The untestable revision is not to blame, but what measures it.
    MEASUREMENT = "ending.measurement", "why"
    #: The looks at the ends found no difference; `boots` a side, `asked` is the p that was needed.
    ALIKE = "ending.alike", "boots p asked"
    #: The last look that the budget allows did not tell; numbers as in ALIKE.
    MAY_DIFFER = "ending.may-differ", "boots p asked"
    #: All boots of both ends gave the same figure, to the last digit.
    STILL = "ending.still", "boots"
    SWAPPED = "ending.swapped"
    #: The budget ended; `spent` is one of Costs.
    CALIBRATION_BUDGET = "ending.calibration-budget", "spent"
    #: The same after a look; numbers as in ALIKE.
    ALIKE_BUDGET = "ending.alike-budget", "boots p asked spent"
    SEARCH_BUDGET = "ending.search-budget", "spent"
    #: Before this neighbour of a likely culprit was built, or seen in another layout.
    NOT_BUILT = "ending.not-built", "why sha"
    NO_LAYOUT = "ending.no-layout", "why sha"
    #: No single commit agrees with which kernels are equal.
    CONTRADICTION = "ending.contradiction"
    NO_CHANGE = "ending.no-change", "probability boots"
    #: No change, or less than `share` of what the ends differ in; `none`: probability of no change.
    LITTLE = "ending.little", "probability none share boots"
    #: It is NO_CHANGE or LITTLE, as builds of the same code differ as much.
    BUILDS_DIFFER = "ending.builds-differ", "why"
    #: `sha` lies between the levels of two culprits.
    TWO_CULPRITS = "ending.two-culprits", "probability sha"
    #: The level rises in many small steps, on which so many kernels between the ends lie.
    #: `stretches` are findings of STRETCH, older ones first.
    GRADUAL = "ending.gradual", "probability boots kernels stretches"
    #: A part of the history with its share of the shift (1: all of it), and where 90% of that lie.
    STRETCH = "ending.stretch", "older newer share low high"
    #: No test tells the candidates apart that are left.
    INSEPARABLE = "ending.inseparable"
    CULPRIT = "ending.culprit", "sha probability boots"
    #: The culprit of `why` is a merge of so many `parents`.
    MERGE = "ending.merge", "why parents"
    #: The commit is likely, and the proof decides; `none` is the probability of no change.
    LIKELY_CULPRIT = "ending.likely-culprit", "sha probability none boots"
    #: The culprit is one of so many `commits`; `untestable` are findings of Untestable.REVISION.
    CULPRIT_SET = "ending.culprit-set", "commits probability untestable"
    #: A commit without a parent to compare it with.
    ORPHAN = "ending.orphan", "sha probability"


class Checks(Kind):
    """What a reader calls a check, and what it has found."""

    PARENT = "check.parent", "parent"
    NAMED = "check.named", "check"
    #: More boots are due.
    OPEN = "check.open"
    #: A revision that does not build or run in another layout.
    NO_LAYOUT = "check.no-layout", "sha"
    #: So many builds of both sides, the reason of the judgement, and the standard deviation of
    #: builds of one side as the size of a move; older programs kept it as an effect.
    BUILDS = "check.builds", "base new why spread"
    #: The reason of a judgement of builds: they do not differ as the ends do.
    SURELY_LESS = "check.surely-less", "effect"
    #: There are too few other builds to say how builds differ.
    TOO_FEW_BUILDS = "check.too-few-builds"
    #: The revert does not apply to the tip.
    NO_REVERT = "check.no-revert"
    #: The tip without the commit is the kernel of this parent of it.
    REVERT_IS_PARENT = "check.revert-is-parent", "parent"
    #: Boots of both sides, and the reason of the judgement.
    COMPARED = "check.compared", "base new why"
    #: The same, with the share of the ends' shift (1: all of it) that the culprit explains.
    EXPLAINS = "check.explains", "base new why share"
    #: The same, where the share is below all of it by more than luck.
    EXPLAINS_PART = "check.explains-part", "base new why share"
    #: The share that the revert takes back.
    TAKES_BACK = "check.takes-back", "base new why share"
    #: The reason of a judgement: as many boots of the ends would often differ as little.
    LUCK = "check.luck", "effect"
    #: The same: so few boots do not exclude the smallest effect that counts.
    NOT_RULED_OUT = "check.not-ruled-out", "effect"
