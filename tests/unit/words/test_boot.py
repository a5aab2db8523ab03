# SPDX-License-Identifier: GPL-2.0-or-later
"""Sentences of what makes a run no evidence."""

import pytest

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Blocks, Boots, Commands, Labs, Noise, Part, Raw
from rtbisect.words import boot
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

EVERY = [kind for area in (Boots, Blocks, Raw, Noise, Commands, Labs) for kind in area]
FEW = {"names": ("a", "b"), "more": 0}
MANY = {"names": ("a", "b"), "more": 3}


def test_each_kind_has_a_sentence_and_no_sentence_is_without_a_kind():
    assert set(boot.SENTENCES) == set(EVERY)


@pytest.mark.parametrize(
    ("kind", "data", "sentence"),
    [
        (Boots.PANIC, {"part": Part.BOOT, "symptom": "VFS"}, "panic or oops at boot: VFS"),
        (Boots.PANIC, {"part": Part.SUITE, "symptom": "VFS"}, "panic or oops in a suite: VFS"),
        (
            Boots.FLOOD,
            {"part": Part.SUITE, "lost_bytes": 7},
            "the console was flooded in a suite: 7 bytes lost",
        ),
        (Boots.HANG, {"part": Part.BOOT, "symptom": None}, "hang at boot: no login prompt"),
        (Boots.HANG, {"part": Part.SUITE, "symptom": None}, "hang in a suite: no output"),
        (Boots.HANG, {"part": Part.SUITE, "symptom": "x"}, "hang in a suite: x"),
        (
            Boots.RESET,
            {"part": Part.BOOT},
            "the machine reset or powered off during boot without a message",
        ),
        (
            Boots.RESET,
            {"part": Part.SUITE},
            "the machine reset or powered off in a suite without a message",
        ),
        (Boots.KERNEL_MESSAGES, {"said": None}, "at boot: LAVA gave no reason"),
        (Boots.KERNEL_MESSAGES, {"said": "a\nb"}, "at boot: a?b"),
        (Boots.SUITES_STOPPED, {"said": None}, "the suites stopped: LAVA gave no reason"),
        (Boots.FAKE, {"status": "hung"}, "the fake lab was told hung"),
        (
            Boots.CASE_FAILED,
            {"case": "c", "fact": "f", "value": ""},
            "the case c did not pass (f=)",
        ),
        (
            Boots.CASE_FAILED,
            {"case": "c", "fact": None, "value": None},
            "the case c did not pass",
        ),
        (Boots.SMT, {"value": None, "wanted": "1"}, "smt_active is 'unknown', not 1"),
        (Boots.SMT, {"value": "", "wanted": "1"}, "smt_active is '', not 1"),
        (Boots.SMT, {"value": 0, "wanted": 1}, "smt_active is 0, not 1"),
        (Raw.NO_HZ, {"file": "f.txt", "value": 0}, "f.txt tells no hz: 0"),
        (
            Boots.CPUS,
            {"fact": "online", "value": None},
            "online is 'unknown' in the guest, not as asked",
        ),
        (Boots.CLOCK_SOURCE, {"value": "hpet"}, "the clock source is 'hpet', not tsc"),
        (
            Boots.DOSE,
            {"window": "pf-on", "events_per_s": 660.8, "nominal_per_s": 1388.0},
            "pf-on: the workload made 661 events/s, less than half of its nominal 1388/s",
        ),
        (
            Boots.EVENTS_LOST,
            {"window": "pf-on", "events": 1.0},
            "pf-on: 1 events were lost",
        ),
        (
            Boots.CALLS,
            {"window": "rcu-on", "timed": 99.0, "wanted": 100},
            "rcu-on: 99 durations of 100 calls",
        ),
        (
            Blocks.FILE_NAME,
            {"name": "a\x1b'"},
            '''the block has a file named "a?'"''',
        ),
        (Blocks.FIRST_LINE, {"line": "x\x1by"}, "the first line of the block is damaged: x?y"),
        (
            Raw.FOREIGN_LINE,
            {"file": "f.txt", "line": "\x1b[31m"},
            r"f.txt has a foreign line: '\x1b[31m'",
        ),
        (Raw.NO_HZ, {"file": "f.txt", "value": None}, "f.txt tells no hz: 'no such line'"),
        (Raw.TEST_END, {"tool": "t", "end": None}, "t ended with 'nothing'"),
        (Raw.TEST_END, {"tool": "t", "end": "WELL"}, "t ended with 'WELL'"),
        (Raw.UNREADABLE, {"file": "f.txt", "error": "no"}, "f.txt cannot be read: no"),
        (Raw.NO_DOSE, {"file": "f.txt"}, "f.txt has no dose of the workload"),
        (Raw.ROW, {"tool": "t", "cpu": 3}, "t: CPU 3 has figures that cannot be together"),
        (Raw.SENDER_CPU, {"file": "f.txt", "cpu": "2f"}, "f.txt has the CPU '2f'"),
        (
            Raw.CASE_UNIT,
            {"case": "w.f", "unit": "x", "known": ("1", "us")},
            "w.f has the unit 'x', not one of 1, us",
        ),
        (
            Noise.WORST_BELOW_MEAN,
            {"max_noise_us": 57.4, "mean_us": 1e6},
            "the worst sample has 57.4 us of noise, the mean of all 1e+06 us",
        ),
        (
            Noise.WORST_ABOVE_SUM,
            {"max_noise_us": 9.0, "noise_us": 8.0},
            "one sample has 9 us of noise, all of them 8 us",
        ),
        (Commands.LATE, {"limit_s": 0.5}, "the command ran longer than 0.5 s"),
        (Commands.NOT_THERE, {"program": "./x"}, "./x is not in this revision"),
        (Commands.NOT_EXECUTABLE, {"program": "./x"}, "./x is not executable in this revision"),
        (
            Commands.NOT_STARTED,
            {"program": "./x", "error": "Exec format error"},
            "./x of this revision, or what starts it, cannot be started: Exec format error",
        ),
        (
            Commands.NO_INTERPRETER,
            {"program": "./x", "interpreter": "/bin/sh\\r"},
            "the first line of ./x in this revision asks for /bin/sh\\r, which is not there",
        ),
        (
            Commands.NO_SUBMODULE,
            {"path": "libs/x"},
            "your clone does not have the submodule libs/x",
        ),
        (
            Commands.NO_SUBMODULE_COMMIT,
            {"path": "libs/x", "commit": "a" * 40},
            "your clone does not have the commit aaaaaaaaaaaa of the submodule libs/x",
        ),
        (
            Commands.NOT_CARRIED,
            {"first": "a.c"},
            "your uncommitted changes conflict with this revision, in a.c",
        ),
        (Commands.LEFT_OUT, {}, "left out by --skip"),
        (Commands.NO_RATIO, {"value": 0.0}, "0 has no ratio to another figure; leave out --ratio"),
        (
            Commands.OTHER_LINES,
            {"metric": "m", **FEW},
            "no line m=... in the output, it has a, b",
        ),
        (
            Commands.OTHER_KEYS,
            {"metric": "m", **MANY},
            "no number 'm' in the JSON object, it has a, b and 3 more",
        ),
        (
            Commands.SEVERAL,
            {"figures": 5, **MANY},
            "5 figures (a, b and 3 more); name one with --metric",
        ),
        (
            Commands.OTHER_OF,
            {"tool": "go", "metric": "m", **FEW},
            "go has no result 'm', it has a, b",
        ),
        (Commands.NO_PATH, {"step": "a", "names": ()}, "the path finds no 'a' in the JSON"),
        (
            Commands.NO_PATH,
            {"step": "a", "names": ("a", "b")},
            "the path finds no 'a' in the JSON, there is a, b",
        ),
        (
            Commands.TOO_LONG,
            {"size": 10**8, "most": 16_000_000},
            "the output has 100.0 MB, and at most 16.0 MB are read",
        ),
        (
            Commands.LARGE_PRODUCT,
            {"path": "bench", "most": 512 << 20},
            "bench, which --product names, has more than 536.9 MB",
        ),
        (
            Commands.OVERRAN,
            {"most": 256 << 20},
            "it printed more than 268.4 MB and was ended",
        ),
        (
            Commands.UNREADABLE,
            {},
            ("the JSON in the output is nested too deep, or broken at too many places, to be read"),
        ),
        (
            Commands.FIRST,
            {"why": Finding.of(Commands.NOT_FINITE, line="nan")},
            (
                "the first run has a figure that does not count: 'nan' is no measurement: NaN,"
                " infinite, or of too many digits; where no later run has one, the search ends soon"
            ),
        ),
        (
            Commands.REPEATED,
            {"metric": "p99", "times": 3, "value": 12250.0, "unit": "ns"},
            (
                "the first run printed p99 3 times; one run is one observation, so their median"
                " counts: 12.2 us"
            ),
        ),
        (
            Commands.FAILS,
            {"code": 1, "lines": ("FAILED test_queue", "1 failed")},
            ("the first run that fails ended with 1, its last lines: FAILED test_queue; 1 failed"),
        ),
        (
            Commands.FAILS,
            {"code": 2, "lines": ()},
            "the first run that fails ended with 2, and printed nothing",
        ),
    ],
)
def test_a_sentence(kind, data, sentence):
    assert str(speak(Finding.of(kind, **data))) == sentence


def test_a_finding_stands_in_the_sentence_of_the_one_above():
    noise = Finding.of(Noise.RANGE, noise_us=6e5, runtime_us=500_000)
    row = Finding.of(Raw.SAMPLE, tool="t", cpu=4, why=noise)
    told = "t: CPU 004: 600000 us of noise in 500000 us"
    refused = Finding.of(Boots.SUITE, suite="osnoise", window="osnoise-off", why=row)
    assert str(speak(refused)) == f"osnoise@osnoise-off: {told}"
    assert str(speak(Finding.of(Boots.SOURCES, window="w", why=row))) == f"w: {told}"
    gate = Finding.of(Boots.GATE, window="w", gate="G4", why=row)
    assert str(speak(gate)) == f"w: G4: {told}"
    ended = Finding.of(Commands.ENDED, code=3)
    last = Finding.of(Commands.LAST_ERROR, why=ended, line="no\x07device")
    assert str(speak(last)) == "the command ended with 3: no?device"


REST = Finding.of(Labs.NOT_GOOD, device="a", health="maintenance")
BUSY = Finding.of(Labs.IN_SERVICE, device="b", state="running")
HOT = Finding.of(Labs.OUT_OF_LIMITS, sensors=("inlet", "outlet"))


@pytest.mark.parametrize(
    ("kind", "data", "sentence"),
    [
        (Labs.OFFLINE, {"device": "a", "worker": "w"}, "a's worker w is offline"),
        (Labs.QUARANTINED, {"device": "a", "why": "fan 2"}, "a is quarantined (fan 2)"),
        (Labs.NO_DEVICE, {"device_type": "x"}, "the lab shows no device of type x"),
        (
            Labs.NONE_FITS,
            {"whys": (REST, REST)},
            "no device fits, because a is in maintenance, a is in maintenance",
        ),
        (
            Labs.AHEAD,
            {"ahead": 2, "devices": (BUSY, REST)},
            "2 jobs ahead; b running, a is in maintenance",
        ),
        (Labs.AHEAD, {"ahead": 0, "devices": ()}, "0 jobs ahead; no device"),
        (Labs.WAITS, {"job": 7, "why": REST}, "job 7 waits: a is in maintenance"),
        (
            Labs.HOURS,
            {"begin": 7, "end": 19},
            "the lab takes our jobs from 07:00 to 19:00 UTC",
        ),
        (Labs.OURS_WAIT, {"jobs": 2}, "2 jobs of ours wait there already"),
        (Labs.OTHERS_WAIT, {"jobs": 1}, "1 jobs of others wait there"),
        (Labs.NO_BMC, {"error": "no answer"}, "no answer"),
        (Labs.FOUND_BEFORE, {"why": HOT}, "found before a campaign: out of limits: inlet, outlet"),
        (
            Labs.FAULTS,
            {"faults": 3, "error": "no power"},
            "3 faults in a row, the last one: no power",
        ),
    ],
)
def test_a_sentence_of_a_lab(kind, data, sentence):
    assert str(speak(Finding.of(kind, **data))) == sentence
