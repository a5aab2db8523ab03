# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of judgements, of their cause and by the gates."""

import pytest

from helpers.gate_sentences import OF_GATES
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Causes, Figures, Gates, Health, Judged, Reach, Told
from rtbisect.model.subject import Measured
from rtbisect.words.judge import SENTENCES
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of

pytestmark = pytest.mark.words

RATIO = Finding.of(Told.RATIO, ratio=2.1049)
WHY = Finding.of(Judged.EXCLUDED, effect=RATIO)
NONE = Finding.of(Judged.NO_BOOTS, side="base")

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
    *OF_GATES,
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
        "the function that the commit changes runs: f, 12.5 times a second",
    ),
    (
        Reach.RUNS,
        {"functions": 3, "ran": 1, "function": "f", "per_s": 12345.6},
        (
            "1 of the 3 functions that the commit changes ran in the window;"
            " f ran 12346 times a second"
        ),
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
            "unknown: none of the 2 functions that the commit changes ran in the window, but the"
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
        "none of the 5 functions that the commit changes ran in the window: f, g",
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
            "unknown: none of the 2 functions that the commit changes was seen to run, but f was"
            " not counted"
        ),
    ),
    (
        Reach.UNCOUNTED,
        {"functions": 4, "function": "f", "uncounted": 3},
        (
            "unknown: none of the 4 functions that the commit changes was seen to run, but f and 2"
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
