# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of judgements, of their cause and by the gates."""

import pytest

from rtbisect.model.finding import Finding, as_said
from rtbisect.model.kinds.judge import Causes, Figures, Gates, Health, Judged, Reach, Told
from rtbisect.model.subject import Measured
from rtbisect.words.judge import SENTENCES
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of

pytestmark = pytest.mark.words

RATIO = Finding.of(Told.RATIO, ratio=2.1049)
WHY = Finding.of(Judged.EXCLUDED, effect=RATIO)
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

SAID = [
    (Told.RATIO, {"ratio": 2.1049}, "ratio 2.10"),
    (Told.DIFFERENCE, {"difference": 3.0, "unit": "us"}, "difference +3 us"),
    (Told.DIFFERENCE, {"difference": -0.625, "unit": "1"}, "difference -0.625"),
    (Told.DIFFERENCE, {"difference": 12345.6, "unit": ""}, "difference +12346"),
    (Told.SHIFT_RATIO, {"ratio": 2.0}, "a ratio of 2.00"),
    (Told.SHIFT, {"difference": 12345.6, "unit": "us"}, "12.3 ms"),
    (Figures.SPREAD, {}, "in the spread of the boots"),
    (Figures.MEAN, {}, "in the mean of the boots, not in their median"),
    (Figures.ONE_CPU, {"number": 3}, "on the watched CPU number 3 beside the others"),
    (Judged.NO_BOOTS, {"side": "new"}, "no boots of new"),
    (Judged.REGRESSED, {"effect": RATIO, "p": 1 / 924}, "ratio 2.10, p = 0.0011"),
    (
        Judged.EXCLUDED,
        {"effect": RATIO},
        "ratio 2.10; its 95% interval stays below the smallest change that counts",
    ),
    (
        Judged.INCLUDED,
        {"effect": RATIO},
        "ratio 2.10; its 95% interval includes the smallest change that counts",
    ),
    (
        Judged.TOO_FEW,
        {"effect": RATIO, "base": 3, "new": 4, "alpha": 0.01},
        "ratio 2.10; 3 + 4 boots cannot reach p <= 0.01",
    ),
    (
        Judged.ABOVE_ALPHA,
        {"effect": RATIO, "p": 0.1234, "alpha": 0.01},
        "ratio 2.10, but p = 0.12 is above 0.01",
    ),
    (
        Judged.HOLM,
        {"p": 2 / 924, "metrics": 2, "alpha": 0.0015},
        "p = 0.0022 after Holm over 2 figures is above 0.0015",
    ),
    (
        Judged.LIMIT_BROKEN,
        {"why": NONE, "limit": 0.5, "base": 0.05, "new": 0.95, "unit": "1"},
        "no boots of base; breaks the limit of 0.500 (0.0500 -> 0.950)",
    ),
    (
        Judged.LIMIT_BROKEN,
        {"why": NONE, "limit": 20.0, "base": 10.0, "new": 42.5, "unit": "us"},
        "no boots of base; breaks the limit of 20 us (10 us -> 42.5 us)",
    ),
    (
        Causes.NO_DIFFERENCE,
        {"metric": "ipi.res@on", "why": NONE},
        "the kernels do not differ in ipi.res: no boots of base",
    ),
    (
        Causes.NO_WORKLOAD,
        {"metric": "ipi.res@on"},
        "the kernels differ in ipi.res, and no workload is involved",
    ),
    (
        Causes.ITS_WORKLOAD,
        {"metric": "ipi.res@on", "workload": "epoll"},
        (
            "the kernels differ in ipi.res, a figure of the workload epoll itself:"
            " there is none without it"
        ),
    ),
    (Causes.WITHOUT_TOO, {"tool": ""}, "the kernels differ with the workload and without it"),
    (Causes.WITHOUT_TOO, {"tool": "perf"}, "the kernels differ with the tool perf and without it"),
    (Causes.ONLY_WITH, {"tool": ""}, "the kernels differ only while the workload runs"),
    (Causes.ONLY_WITH, {"tool": "perf"}, "the kernels differ only while the tool perf measures"),
    (
        Causes.SMALL_SHARE,
        {"tool": "", "figure": "res", "share": 0.1201, "why": NONE},
        ("the change of res without the workload is at most 13% of that with it: no boots of base"),
    ),
    (
        Causes.SMALL_SHARE,
        {"tool": "perf", "figure": "res", "share": 0.0, "why": NONE},
        ("the change of res without the tool perf is at most 1% of that with it: no boots of base"),
    ),
    (
        Causes.MORE_WITH,
        {"tool": "", "why": NONE},
        (
            "the kernels differ more while the workload runs than without it, where the boots show"
            " no difference: no boots of base"
        ),
    ),
    (
        Causes.LITTLE_WITHOUT,
        {"tool": "", "why": NONE},
        (
            "the kernels differ while the workload runs; without it by less than counts: no boots"
            " of base"
        ),
    ),
    (
        Causes.OPEN,
        {"tool": "perf", "why": NONE},
        (
            "the kernels differ while the tool perf measures; without it the boots do not decide:"
            " no boots of base"
        ),
    ),
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
    (Gates.ZERO_OR_ONE, VALUES, "ipi.res of the culprit: a boot has it or has it not"),
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
        f"{DOSES}: more than 10% apart, so rates do not compare",
    ),
    (Gates.ONE_RATE, {}, "one event rate only"),
    (Gates.RATES_EQUAL, {}, "the event rates do not differ"),
    (Gates.LOOP, {"events": 2.0, "interrupts": 6.0}, LOOP),
    (
        Gates.FEEDS_ITSELF,
        {"events": 2.0, "interrupts": 6.0},
        f"{LOOP}, more than one each: they feed themselves",
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
        "of shares and counts the boots of one side alone say too little",
    ),
    (
        Gates.LUCK,
        SERIES,
        (
            "medians of 12 boots drawn at random from those of the parent differ by less than"
            " a ratio of 1.10 in 99 of 100 pairs; parent and commit differ by 3.01 ms"
        ),
    ),
    (
        Gates.LUCK_OF_BUILDS,
        {name: SERIES[name] for name in ("luck", "change")} | {"builds": 8, "percent": 95.0},
        (
            "means of 8 builds drawn at random from those of the parent's side differ by less than"
            " a ratio of 1.10 in 95 of 100 pairs; both sides differ by 3.01 ms"
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
    (Reach.BUILDS_SILENT, {}, "unknown: the builds do not tell which functions differ"),
    (Reach.NOT_BUILT, {}, "the kernel is built from none of the files that the commit changes"),
    (
        Reach.NO_FUNCTION,
        {},
        "unknown: no function differs, the commit changes data or headers only",
    ),
    (
        Reach.RUNS,
        {"functions": 1, "ran": 1, "function": "f", "per_s": 12.5},
        "the function that the commit changes runs: f 12.5 times a second",
    ),
    (
        Reach.RUNS,
        {"functions": 3, "ran": 1, "function": "f", "per_s": 12345.6},
        "of the 3 functions that the commit changes 1 ran, f 12346 times a second",
    ),
    (
        Reach.AT_BOOT,
        {"functions": 1, "function": "f"},
        (
            "unknown: the function that the commit changes did not run in the window, but the"
            " kernel calls f while it boots, and what that does may last"
        ),
    ),
    (
        Reach.AT_BOOT,
        {"functions": 2, "function": "f"},
        (
            "unknown: of the 2 functions that the commit changes none ran in the window, but the"
            " kernel calls f while it boots, and what that does may last"
        ),
    ),
    (
        Reach.NEVER,
        {"functions": 1, "names": ("f",)},
        "the function that the commit changes did not run in the window: f",
    ),
    (
        Reach.NEVER,
        {"functions": 5, "names": ("f", "g")},
        "of the 5 functions that the commit changes none ran in the window: f, g",
    ),
    (Reach.NOT_COUNTED, {}, "unknown: no boot counted functions"),
    (
        Reach.UNCOUNTED,
        {"functions": 1, "function": "f", "uncounted": 1},
        "unknown: the function that the commit changes was not counted: f",
    ),
    (
        Reach.UNCOUNTED,
        {"functions": 2, "function": "f", "uncounted": 1},
        (
            "unknown: of the 2 functions that the commit changes none was seen to run, but f was"
            " not counted"
        ),
    ),
    (
        Reach.UNCOUNTED,
        {"functions": 4, "function": "f", "uncounted": 3},
        (
            "unknown: of the 4 functions that the commit changes none was seen to run, but f and 2"
            " more were not counted"
        ),
    ),
    (Health.THROTTLED, {"times": 2}, "the CPU throttled itself 2 times: it was too hot"),
    (
        Health.MACHINE_CHECKS,
        {"times": 1},
        "1 machine check exceptions: the hardware is failing",
    ),
    (
        Health.SMI,
        {"times": 50},
        "the firmware stopped the CPUs 50 times (SMIs, those of all CPUs together)",
    ),
    (
        Health.TAINTED,
        {"bits": (2, 9), "after": 516},
        "the kernel got tainted in a window (bit 2, 9): 516",
    ),
    (
        Health.NO_COUNTS,
        {"counter": "smi", "before": "12", "after": ""},
        "smi was '12' before the windows and '' after them",
    ),
    (Health.CLOCK_CHANGED, {"clock": "hpet"}, "the clock source changed to hpet in a window"),
]


@pytest.mark.parametrize(("kind", "data", "said"), SAID)
def test_what_is_said(kind, data, said):
    assert str(speak(Finding.of(kind, **data))) == said


def test_every_kind_is_there():
    assert {kind for kind, _, _ in SAID} == set(SENTENCES)
    kinds = (Told, Judged, Causes, Gates, Reach, Health, Figures)
    assert {kind for area in kinds for kind in area} == set(SENTENCES)


def test_a_command_runs_and_does_not_boot():
    voice = voice_of(measured=Measured.COMMAND)
    few = Finding.of(Judged.TOO_FEW, effect=RATIO, base=3, new=4, alpha=0.01)
    assert str(speak(few, voice)) == "ratio 2.10; 3 + 4 runs cannot reach p <= 0.01"
    assert str(speak(NONE, voice)) == "no runs of base"
    assert str(speak(Finding.of(Figures.SPREAD), voice)) == "in the spread of the runs"
