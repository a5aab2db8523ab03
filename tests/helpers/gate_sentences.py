# SPDX-License-Identifier: GPL-2.0-or-later
"""What the gates say: kinds, data, sentences."""

from rtbisect.model.finding import Finding, as_said
from rtbisect.model.kinds.judge import Figures, Gates, Judged, Told

RATIO = Finding.of(Told.RATIO, ratio=2.1049)
NONE = Finding.of(Judged.NO_BOOTS, side="base")
RATES = {"base_per_s": 1200.4, "new_per_s": 600.0}
SEEN = {"base": 0.0733, "new": 1.08, "traced_base": 0.08762, "traced_new": 0.06921}
SOURCES = (
    "the figure goes from 0.0733 to 1.08, and by the instrument that names the sources from"
    " 0.0876 to 0.0692"
)
VALUES = {"metric": "ipi.res@on", "side": "culprit"}
HANG = {"parent": 0, "parent_boots": 6, "culprit": 2, "culprit_boots": 8}
HANGS = "0 of 6 boots of the parent hang, 2 of 8 of the culprit"
LOOP = "2 times the events make 6 times the interrupts"
TICKS = "osnoise-off: 1000 timer interrupts a second while idle"
DOSES = "1200 events a second on the parent, 600 on the culprit"
SERIES = {
    "boots": 12,
    "luck": Finding.of(Told.SHIFT_RATIO, ratio=1.1049),
    "percent": 99.0,
    "change": Finding.of(Told.SHIFT, difference=3006.2, unit="us"),
}
APART = {"kernels": 4, "earlier": 30, "later": 22, "why": RATIO}

OF_GATES = [
    (
        Gates.INSTRUMENTS,
        {"cpu": 1, "traced_per_s": 1.05263, "counted_per_s": 5950.2},
        "CPU 1: the tracer saw 1.05 interrupts a second, /proc/interrupts 5950",
    ),
    (Gates.NO_SECOND_INSTRUMENT, {}, "no second instrument tells of this figure"),
    (Gates.SOURCES, SEEN, SOURCES),
    (Gates.SOURCES_LITTLE, SEEN, f"{SOURCES}: too little to compare"),
    (
        Gates.SOURCES_DIFFER,
        SEEN,
        f"{SOURCES}: what makes the figure does not change as the figure does",
    ),
    (Gates.RAW_EQUAL, {"first": "r1", "second": "r3"}, "r1 and r3 have the same raw files"),
    (Gates.RAW_FEW, {}, "raw files of fewer than two boots"),
    (Gates.RAW_DIFFERS, {"boots": 8}, "raw files of 8 boots differ"),
    (
        Gates.ZERO_OR_ONE,
        VALUES,
        "ipi.res of the culprit is yes or no in each boot, so nothing varies",
    ),
    (Gates.VALUES_FEW, VALUES, "ipi.res of the culprit: fewer than three boots"),
    (
        Gates.VALUES_EQUAL,
        VALUES | {"value": 2.0, "boots": 4},
        "ipi.res of the culprit: 2 in all 4 boots",
    ),
    (
        Gates.VALUES,
        VALUES | {"values": 3, "boots": 4},
        "ipi.res of the culprit: 3 different values in 4 boots",
    ),
    (Gates.CPU_VIRTUAL, {}, "the CPU says that it is virtual"),
    (Gates.VENDOR_VIRTUAL, {"vendor": "QEMU"}, "the machine is made by QEMU"),
    (Gates.EMULATED, {}, "the device type is an emulator"),
    (Gates.SYNTHETIC, {}, "the workload is ours, not somebody's use"),
    (Gates.REAL, {}, "a real machine and a workload that somebody uses"),
    (Gates.NO_DOSE, {}, "no workload with a dose"),
    (Gates.DOSES, RATES, DOSES),
    (Gates.DOSES_PER_EVENT, RATES, f"{DOSES}; the figure counts for each event"),
    (
        Gates.DOSES_DIFFER,
        RATES | {"share": 0.1},
        f"{DOSES}: more than 10% apart, so rates cannot be compared",
    ),
    (Gates.ONE_RATE, {}, "one event rate only"),
    (Gates.RATES_EQUAL, {}, "the event rates do not differ"),
    (Gates.LOOP, {"events": 2.0, "interrupts": 6.0}, LOOP),
    (
        Gates.FEEDS_ITSELF,
        {"events": 2.0, "interrupts": 6.0},
        f"{LOOP}, more than one per event: a feedback loop",
    ),
    (
        Gates.MEANING_CHANGED,
        {"file": "irq.c", "suite": "ipi"},
        (
            "the commit changes irq.c, which makes the figures of the suite ipi: they may mean"
            " something else since"
        ),
    ),
    (
        Gates.MADE_BY_NO_FILE,
        {"suite": "rcu"},
        "the figures of the suite rcu are made by no file of the kernel",
    ),
    (
        Gates.MEANING_KEPT,
        {"suite": "ipi"},
        "the commit changes none of the files that make the figures of ipi",
    ),
    (Gates.HANGS_SEARCHED, {}, "hangs are what the searched figure counts"),
    (Gates.NO_HANG, {}, "no boot of either kernel hangs"),
    (Gates.HANGS, HANG, HANGS),
    (
        Gates.CULPRIT_HANGS,
        HANG | {"how": as_said("soft lockup")},
        f"{HANGS} (soft lockup): that comes before any noise",
    ),
    (Gates.CULPRIT_HANGS, HANG | {"how": None}, f"{HANGS}: that comes before any noise"),
    (
        Gates.PARENT_HANGS,
        HANG | {"how": as_said("soft lockup")},
        f"{HANGS} (soft lockup): a revert may bring that back",
    ),
    (
        Gates.CULPRIT_NOT_ENDED,
        {"window": "rcu"},
        "rcu: no run on the culprit got to its end, on the parent it did",
    ),
    (
        Gates.NOT_ON_BOTH,
        {"window": "rcu", "suite": "rcutorture"},
        "rcu: rcutorture did not run on both kernels",
    ),
    (
        Gates.FAILURES,
        {"window": "rcu", "parent": 0.0, "parent_runs": 2, "culprit": 1.0, "culprit_runs": 2},
        "rcu: 0 of 2 runs fail on the parent, 1 of 2 on the culprit",
    ),
    (Gates.TICKS, {"window": "osnoise-off", "per_s": 1000.0}, TICKS),
    (
        Gates.TICKS_MANY,
        {"window": "osnoise-off", "per_s": 1000.0, "most_per_s": 10.0},
        f"{TICKS}, at most 10 are expected with nohz_full",
    ),
    (
        Gates.PARENT_FEW,
        {"boots": 5, "fewest": 6},
        "5 boots of the parent, at least 6 are needed",
    ),
    (
        Gates.IN_PART,
        {"part": Finding.of(Figures.SPREAD)},
        "the commit was found in the spread of the boots",
    ),
    (
        Gates.NO_LUCK_TOLD,
        {},
        "not for shares and counts: boots of one kernel alone tell too little",
    ),
    (
        Gates.LUCK,
        SERIES,
        (
            "two random samples of 12 boots of the parent have medians less than a ratio of 1.10"
            " apart in 99 of 100 draws; parent and commit are 3.01 ms apart"
        ),
    ),
    (
        Gates.LUCK_OF_BUILDS,
        {name: SERIES[name] for name in ("luck", "change")} | {"builds": 8, "percent": 95.0},
        (
            "two random samples of 8 builds of the parent's side have means less than a ratio of"
            " 1.10 apart in 95 of 100 draws; both sides are 3.01 ms apart"
        ),
    ),
    (
        Gates.APART_ALIKE,
        APART,
        (
            "30 boots of 4 kernels from before the proof and 22 later ones do not differ, kernel by"
            " kernel; ratio 2.10"
        ),
    ),
    (
        Gates.NOT_APART,
        {"why": RATIO},
        (
            "too few boots of these kernels were taken before the proof to compare them with later"
            " ones; ratio 2.10"
        ),
    ),
    *(
        (
            Gates.APART_DIFFER,
            APART | {"better": better},
            (
                "30 boots of 4 kernels from before the proof and 22 later ones differ, kernel by"
                f" kernel: the later ones are {how}: ratio 2.10"
            ),
        )
        for better, how in ((True, "better"), (False, "worse"))
    ),
    (
        Gates.DRIFT,
        {"side": "parent", "better": False, "why": NONE},
        "the second half of the parent's boots is worse than the first: no boots of base",
    ),
    (
        Gates.DRIFT,
        {"side": None, "better": True, "why": NONE},
        "the second half of its boots is better than the first: no boots of base",
    ),
    (
        Gates.GUARDS_BLIND,
        {"guards": ("lockdep", "rcu_stall")},
        "these kernels cannot report lockdep, rcu_stall",
    ),
    (Gates.GUARDS_TELL, {"guards": ("lockdep",)}, "these kernels can report lockdep"),
    (Gates.NO_VALID_BOOT, {}, "no valid boot"),
    (
        Gates.MACHINE_BLIND,
        {"counters": ("smi", "tainted")},
        "the kernel cannot tell smi, tainted; all else stayed as it was",
    ),
    (
        Gates.MACHINE_STEADY,
        {"boots": 8},
        "no throttling, no machine check, no SMI, no taint, one clock source in 8 boots",
    ),
]
