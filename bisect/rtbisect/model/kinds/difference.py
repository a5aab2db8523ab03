# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes a figure differ: code, layout, machine, or nobody can tell."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Differs(Kind):
    """`change` of `metric` is a share of what it was, with its standard `error`; both None where it
    has none. `base` and `new` are code layouts of both sides, 0 where each had one build only.
    `instructions` is the share by which more are executed, None where nobody knows; `same` says
    that it is none to speak of.
    """

    CODE = "differs.code", "metric change error base new instructions same"
    #: Instructions are the figure.
    COUNTS = "differs.counts", "instructions"
    #: `spread` is the standard deviation of builds whose code is the same, as a share; `noise` that
    #: of runs of one build; `builds` are so many. `change` lies between the ends.
    LAYOUT = "differs.layout", "metric change error spread noise builds"
    #: Runs `first` to `last` are shifted by `shift`, a share, against others of the same builds:
    #: `runs` of `revisions` tell so, with a permutation p. The rest is of the ends without them.
    MACHINE = "differs.machine", "metric first last shift runs revisions p change error"
    #: `helps` are options that would tell.
    UNCLEAR = "differs.unclear", "metric change error base new instructions same helps"
