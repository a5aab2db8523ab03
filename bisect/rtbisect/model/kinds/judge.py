# SPDX-License-Identifier: GPL-2.0-or-later
"""What judgements, causes and gates find."""

from __future__ import annotations

from enum import StrEnum

from rtbisect.model.finding import Kind


class Side(StrEnum):
    """One of the two samples that are compared."""

    BASE = "base"
    NEW = "new"
    PARENT = "parent"
    CULPRIT = "culprit"


class Told(Kind):
    """Effects of a judgement, and what a comparison of two samples says."""

    #: new/base.
    RATIO = "effect.ratio", "ratio"
    #: new - base.
    DIFFERENCE = "effect.difference", "difference unit"
    #: The size of a move of a figure, by luck or by a commit.
    SHIFT_RATIO = "shift.ratio", "ratio"
    SHIFT = "shift.difference", "difference unit"


class Judged(Kind):
    """Why a judgement has its level; `effect` is one of `Told`."""

    #: `side` has no boots.
    NO_BOOTS = "judged.no-boots", "side"
    REGRESSED = "judged.regressed", "effect p"
    #: The interval of the effect excludes the smallest one that counts; it includes it.
    EXCLUDED = "judged.excluded", "effect"
    INCLUDED = "judged.included", "effect"
    #: So few boots (`base`, `new`) can have no p as small as `alpha`.
    TOO_FEW = "judged.too-few", "effect base new alpha"
    ABOVE_ALPHA = "judged.above-alpha", "effect p alpha"
    #: The same, of a `p` that is adjusted for so many `metrics`.
    HOLM = "judged.holm", "p metrics alpha"
    #: Beside `why`, one of these: the middle of the new boots breaks the limit, that of base kept
    #: it.
    LIMIT_BROKEN = "judged.limit-broken", "why limit base new unit"


class Causes(Kind):
    """What makes an effect; `tool` is on in one window and off in the other, and where it is ""
    the workload is. `why` is one of `Judged`.
    """

    NO_DIFFERENCE = "cause.no-difference", "metric why"
    NO_WORKLOAD = "cause.no-workload", "metric"
    #: The figure is about this workload: there is none without it.
    ITS_WORKLOAD = "cause.its-workload", "metric workload"
    #: The kernels differ with it and without it; only with it.
    WITHOUT_TOO = "cause.without-too", "tool"
    ONLY_WITH = "cause.only-with", "tool"
    #: Without it the figure changes by at most this share of its change beside it.
    SMALL_SHARE = "cause.small-share", "tool figure share why"
    #: More with it than without it, where there is no difference to be seen.
    MORE_WITH = "cause.more-with", "tool why"
    #: Without it by less than counts; without it nothing is decided.
    LITTLE_WITHOUT = "cause.little-without", "tool why"
    OPEN = "cause.open", "tool why"


class Gates(Kind):
    """What gates of a boot or a campaign have seen (docs/trust.md)."""

    # G4
    INSTRUMENTS = "gate.instruments", "cpu traced_per_s counted_per_s"
    NO_SECOND_INSTRUMENT = "gate.no-second-instrument"
    #: Medians of a figure, and what the instrument that names its sources saw.
    SOURCES = "gate.sources", "base new traced_base traced_new"
    SOURCES_LITTLE = "gate.sources-little", "base new traced_base traced_new"
    SOURCES_DIFFER = "gate.sources-differ", "base new traced_base traced_new"
    # G5
    RAW_EQUAL = "gate.raw-equal", "first second"
    RAW_FEW = "gate.raw-few"
    RAW_DIFFERS = "gate.raw-differs", "boots"
    ZERO_OR_ONE = "gate.zero-or-one", "metric side"
    VALUES_FEW = "gate.values-few", "metric side"
    VALUES_EQUAL = "gate.values-equal", "metric side value boots"
    VALUES = "gate.values", "metric side values boots"
    # G15
    CPU_VIRTUAL = "gate.cpu-virtual"
    VENDOR_VIRTUAL = "gate.vendor-virtual", "vendor"
    EMULATED = "gate.emulated"
    SYNTHETIC = "gate.synthetic"
    REAL = "gate.real"
    # G16
    NO_DOSE = "gate.no-dose"
    DOSES = "gate.doses", "base_per_s new_per_s"
    DOSES_PER_EVENT = "gate.doses-per-event", "base_per_s new_per_s"
    #: The doses of both sides differ by more than this share.
    DOSES_DIFFER = "gate.doses-differ", "base_per_s new_per_s share"
    ONE_RATE = "gate.one-rate"
    RATES_EQUAL = "gate.rates-equal"
    #: `events` times as many events make `interrupts` times as many interrupts.
    LOOP = "gate.loop", "events interrupts"
    FEEDS_ITSELF = "gate.feeds-itself", "events interrupts"
    # meaning
    MEANING_CHANGED = "gate.meaning-changed", "file suite"
    MADE_BY_NO_FILE = "gate.made-by-no-file", "suite"
    MEANING_KEPT = "gate.meaning-kept", "suite"
    # G9
    HANGS_SEARCHED = "gate.hangs-searched"
    NO_HANG = "gate.no-hang"
    #: Boots that hang, of all `..._boots` of each side.
    HANGS = "gate.hangs", "parent parent_boots culprit culprit_boots"
    #: `how` is why one of the side did that hangs more; None where nobody said.
    CULPRIT_HANGS = "gate.culprit-hangs", "parent parent_boots culprit culprit_boots how"
    PARENT_HANGS = "gate.parent-hangs", "parent parent_boots culprit culprit_boots how"
    # G11
    CULPRIT_NOT_ENDED = "gate.culprit-not-ended", "window"
    NOT_ON_BOTH = "gate.not-on-both", "window suite"
    #: Runs that fail, of all `..._runs` of each side.
    FAILURES = "gate.failures", "window parent parent_runs culprit culprit_runs"
    # G17
    TICKS = "gate.ticks", "window per_s"
    TICKS_MANY = "gate.ticks-many", "window per_s most_per_s"
    # G10
    PARENT_FEW = "gate.parent-few", "boots fewest"
    IN_PART = "gate.in-part", "part"
    NO_LUCK_TOLD = "gate.no-luck-told"
    #: `luck` and `change` are shifts of `Told`.
    LUCK = "gate.luck", "boots luck percent change"
    LUCK_OF_BUILDS = "gate.luck-of-builds", "builds luck percent change"
    #: Boots of so many kernels that were taken before the proof and in it do not differ, or too few
    #: were taken before it; `why` is what luck makes of boots or builds.
    APART_ALIKE = "gate.apart-alike", "kernels earlier later why"
    NOT_APART = "gate.not-apart", "why"
    #: They do differ: the later boots are `better` than the earlier ones, or worse.
    APART_DIFFER = "gate.apart-differ", "kernels earlier later better why"
    #: The second half of the boots is `better` than the first, or worse; `side` is None for those
    #: of the kernel that is asked about.
    DRIFT = "gate.drift", "side better why"
    # guards
    GUARDS_BLIND = "gate.guards-blind", "guards"
    GUARDS_TELL = "gate.guards-tell", "guards"
    # machine
    NO_VALID_BOOT = "gate.no-valid-boot"
    MACHINE_BLIND = "gate.machine-blind", "counters"
    MACHINE_STEADY = "gate.machine-steady", "boots"


class Reach(Kind):
    """Whether what a commit changes runs; `functions` is how many it changes."""

    BUILDS_SILENT = "reachability.builds-silent"
    NOT_BUILT = "reachability.not-built"
    NO_FUNCTION = "reachability.no-function"
    #: `function` is the changed one that runs most, `per_s` times a second.
    RUNS = "reachability.runs", "functions ran function per_s"
    #: `function` does not run in the window, but while the kernel boots.
    AT_BOOT = "reachability.at-boot", "functions function"
    #: None runs in the window; `names` are the first of them.
    NEVER = "reachability.never", "functions names"
    NOT_COUNTED = "reachability.not-counted"
    #: `function` is the first of those that nobody counted, `uncounted` is how many they are.
    UNCOUNTED = "reachability.uncounted", "functions function uncounted"


class Health(Kind):
    """What makes the figures of a boot those of a sick machine."""

    THROTTLED = "health.throttled", "times"
    MACHINE_CHECKS = "health.machine-checks", "times"
    SMI = "health.smi", "times"
    #: Bits that are new, and all of them after the windows.
    TAINTED = "health.tainted", "bits after"
    #: A counter should be a number before and after the windows, and is not.
    NO_COUNTS = "health.no-counts", "counter before after"
    CLOCK_CHANGED = "health.clock-changed", "clock"


class Figures(Kind):
    """What of a boot the ends differ in, where it is not the figure itself."""

    SPREAD = "figure.spread"
    #: Medians are equal, and means are not.
    MEAN = "figure.mean"
    #: One of the watched CPUs beside the others, by its number from 1.
    ONE_CPU = "figure.one-cpu", "number"
