# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of the model and of the choice of tests, each of which a benchmark can switch off."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from rtbisect.model.campaign import FIRST_RULES

if TYPE_CHECKING:
    from rtbisect.model.campaign import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a search takes into account. The program has all of it; what a part is worth is what a
    search without it does worse (an ablation).
    """

    #: Ends are booted again when boots tell little.
    controls: bool = True
    #: Builds of one code differ: tau may be more than 0.
    build_noise: bool = True
    #: The model has the hypothesis that nothing has regressed (H0).
    none: bool = True
    #: The search measures other layouts of a revision, where there are such builds.
    layouts: bool = True
    #: Other layouts of both ends come first, and a little rest of a change is left alone; not in
    #: campaigns that began before it was so.
    end_layouts: bool = True
    #: Tests are chosen by what they tell for their cost; else all cost one boot.
    costs: bool = True
    #: A range is split where two builds of a revision say so; not in campaigns that began before.
    split_builds: bool = True
    #: Shares of failures have one p value for all looks at them, and no controls; not in campaigns
    #: that began before.
    share_looks: bool = True
    #: Shares differ by the smallest effect where their interval reaches it; not in campaigns that
    #: began before.
    share_reach: bool = True
    #: Pairs of culprits are weighed.
    two_culprits: bool = True
    #: A build whose level is known is left alone; not in campaigns that began before it was.
    spent_builds: bool = True
    #: A change in many small steps is thought of; not in campaigns that began before it was.
    gradual: bool = True
    #: A regression may show on one watched CPU only. The looks at the ends know of it in any case.
    cpus: bool = True
    #: Boots that something else on the machine slowed are no evidence; not in campaigns that began
    #: before they were none.
    disturbed: bool = True
    #: Values may be rounded: a boot that lies a step above others was not disturbed, and builds
    #: differ in how often they meet a state; not in campaigns that began before.
    rounded: bool = True
    #: Other builds of a proof are taken first where revisions have built; not in campaigns that
    #: began before they were.
    failing_last: bool = True
    #: Of tests that are worth the same the first one is taken, and not what a processor rounds up;
    #: not in campaigns that began before it was so.
    ties: bool = True
    #: Candidates whose build is likely a known kernel are worth less; not in campaigns that began
    #: before they were.
    other_kernels: bool = True
    #: A proof takes boots as they are where the machine drifts, and decides where builds are spent;
    #: not in campaigns that began before it did.
    whole_proof: bool = True
    #: A machine may have two speeds; not in campaigns that began before it might.
    speeds: bool = True
    #: Which speed a run has may come by lot; not in campaigns that began before it might.
    speeds_by_lot: bool = True
    #: A machine may drift; not in campaigns that began before it might.
    drift: bool = True
    #: Boots may fall into a few states.
    states: bool = True

    @classmethod
    def of(cls, limits: Limits, *, build_noise: bool) -> Parts:
        """Those of a campaign with these limits, which say what it did not know when it began."""
        return cls(build_noise=build_noise, **{name: getattr(limits, name) for name in RULES})


#: All parts: with these the program searches.
WHOLE_MODEL = Parts()
#: Parts that came after the first campaigns.
RULES = tuple(part.name for part in fields(Parts) if part.name in FIRST_RULES)
