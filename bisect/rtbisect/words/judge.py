# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of judgements, of their cause and of the gates.

A gate is asked of kernels that boot, and so is a cause: these tell of boots in every voice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rtbisect.model.kinds.judge import Causes, Figures, Gates, Health, Judged, Reach, Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.finding import Value
    from rtbisect.words.template import Words

    Data = Mapping[str, Value]


def _factor(data: Data) -> str:
    """What is on in one window and off in the other."""
    return "the tool {tool}" if data["tool"] else "the workload"


def _during(data: Data) -> str:
    return f"while {_factor(data)} {'measures' if data['tool'] else 'runs'}"


def _small_share(data: Data) -> str:
    percent = max(1, math.ceil(100 * _number(data["share"])))
    with_it = f"at most {percent}% of that with it"
    return f"the change of {{figure:metric}} without {_factor(data)} is {with_it}: {{why}}"


def _number(value: Value) -> float:
    if not isinstance(value, int | float):
        raise TypeError(value)
    return value


#: Boots of kernels that were taken before their proof, and in it.
_APART = "{earlier} boots of {kernels} kernels from before the proof and {later} later ones"


def _drift(data: Data) -> str:
    whose = "the {side}'s boots" if data["side"] else "its boots"
    how = "better" if data["better"] else "worse"
    return f"the second half of {whose} is {how} than the first: {{why}}"


def _how(data: Data) -> str:
    return " ({how})" if data["how"] else ""


_ONE_CHANGED = "the function that the commit changes"
_ALL_CHANGED = "of the {functions} functions that the commit changes"


def _runs(data: Data) -> str:
    if data["functions"] == 1:
        return f"{_ONE_CHANGED} runs: {{function}}, {{per_s:figure}} times a second"
    often = "{function} ran {per_s:figure} times a second"
    return f"{{ran}} {_ALL_CHANGED} ran in the window; {often}"


def _none_ran(data: Data) -> str:
    if data["functions"] == 1:
        return f"{_ONE_CHANGED} did not run in the window"
    return f"none {_ALL_CHANGED} ran in the window"


def _uncounted(data: Data) -> str:
    if data["functions"] == 1:
        return f"unknown: {_ONE_CHANGED} was not counted: {{function}}"
    more = int(_number(data["uncounted"])) - 1
    uncounted = f"{{function}} and {more} more were" if more else "{function} was"
    return f"unknown: none {_ALL_CHANGED} was seen to run, but {uncounted} not counted"


_SOURCES = "the figure goes from {base:figure} to {new:figure}, and by the instrument that names"
_SOURCES += " the sources from {traced_base:figure} to {traced_new:figure}"
_DOSES = "{base_per_s:.0f} events a second on the parent, {new_per_s:.0f} on the culprit"
_LOOP = "{events:.2g} times the events make {interrupts:.2g} times the interrupts"
_HANGS = "{parent} of {parent_boots} boots of the parent hang, {culprit} of {culprit_boots}"
_HANGS += " of the culprit"
_TICKS = "{window}: {per_s:figure} timer interrupts a second while idle"

SENTENCES: Mapping[str, Words] = {
    Told.RATIO: "ratio {ratio:figure}",
    Told.DIFFERENCE: "difference {difference:+in {unit}}",
    Told.SHIFT_RATIO: "a ratio of {ratio:figure}",
    Told.SHIFT: "{difference:in {unit}}",
    Figures.SPREAD: "in the spread of the {voice.run}s",
    Figures.MEAN: "in the mean of the {voice.run}s, not in their median",
    Figures.ONE_CPU: "on the watched CPU number {number} beside the others",
    Judged.NO_BOOTS: "no {voice.run}s of {side}",
    Judged.REGRESSED: "{effect}, p = {p:.2g}",
    Judged.EXCLUDED: "{effect}; its 95% interval stays below the smallest change that counts",
    Judged.INCLUDED: "{effect}; its 95% interval includes the smallest change that counts",
    Judged.TOO_FEW: "{effect}; {base} + {new} {voice.run}s cannot reach p <= {alpha:.2g}",
    Judged.ABOVE_ALPHA: "{effect}, but p = {p:.2g} is above {alpha:.2g}",
    Judged.HOLM: "p = {p:.2g} after Holm over {metrics} figures is above {alpha:.2g}",
    Judged.LIMIT_BROKEN: (
        "{why}; breaks the limit of {limit:in {unit}} ({base:in {unit}} -> {new:in {unit}})"
    ),
    Causes.NO_DIFFERENCE: "the kernels do not differ in {metric:metric}: {why}",
    Causes.NO_WORKLOAD: "the kernels differ in {metric:metric}, and no workload is involved",
    Causes.ITS_WORKLOAD: (
        "the kernels differ in {metric:metric}, a figure of the workload {workload} itself:"
        " there is none without it"
    ),
    Causes.WITHOUT_TOO: lambda data: f"the kernels differ with {_factor(data)} and without it",
    Causes.ONLY_WITH: lambda data: f"the kernels differ only {_during(data)}",
    Causes.SMALL_SHARE: _small_share,
    Causes.MORE_WITH: lambda data: (
        f"the kernels differ more {_during(data)} than without it, where the boots show no"
        " difference: {why}"
    ),
    Causes.LITTLE_WITHOUT: lambda data: (
        f"the kernels differ {_during(data)}; without it by less than counts: {{why}}"
    ),
    Causes.OPEN: lambda data: (
        f"the kernels differ {_during(data)}; without it the boots do not decide: {{why}}"
    ),
    Gates.INSTRUMENTS: (
        "CPU {cpu}: the tracer saw {traced_per_s:figure} interrupts a second,"
        " /proc/interrupts {counted_per_s:figure}"
    ),
    Gates.NO_SECOND_INSTRUMENT: "no second instrument tells of this figure",
    Gates.SOURCES: _SOURCES,
    Gates.SOURCES_LITTLE: f"{_SOURCES}: too little to compare",
    Gates.SOURCES_DIFFER: (f"{_SOURCES}: what makes the figure does not change as the figure does"),
    Gates.RAW_EQUAL: "{first} and {second} have the same raw files",
    Gates.RAW_FEW: "raw files of fewer than two boots",
    Gates.RAW_DIFFERS: "raw files of {boots} boots differ",
    Gates.ZERO_OR_ONE: "{metric:metric} of the {side} is yes or no in each boot, so nothing varies",
    Gates.VALUES_FEW: "{metric:metric} of the {side}: fewer than three boots",
    Gates.VALUES_EQUAL: "{metric:metric} of the {side}: {value:number} in all {boots} boots",
    Gates.VALUES: "{metric:metric} of the {side}: {values} different values in {boots} boots",
    Gates.CPU_VIRTUAL: "the CPU says that it is virtual",
    Gates.VENDOR_VIRTUAL: "the machine is made by {vendor}",
    Gates.EMULATED: "the device type is an emulator",
    Gates.SYNTHETIC: "the workload is ours, not somebody's use",
    Gates.REAL: "a real machine and a workload that somebody uses",
    Gates.NO_DOSE: "no workload with a dose",
    Gates.DOSES: _DOSES,
    Gates.DOSES_PER_EVENT: f"{_DOSES}; the figure counts for each event",
    Gates.DOSES_DIFFER: f"{_DOSES}: more than {{share:percent}} apart, so rates cannot be compared",
    Gates.ONE_RATE: "one event rate only",
    Gates.RATES_EQUAL: "the event rates do not differ",
    Gates.LOOP: _LOOP,
    Gates.FEEDS_ITSELF: f"{_LOOP}, more than one per event: a feedback loop",
    Gates.MEANING_CHANGED: (
        "the commit changes {file}, which makes the figures of the suite {suite}:"
        " they may mean something else since"
    ),
    Gates.MADE_BY_NO_FILE: "the figures of the suite {suite} are made by no file of the kernel",
    Gates.MEANING_KEPT: "the commit changes none of the files that make the figures of {suite}",
    Gates.HANGS_SEARCHED: "hangs are what the searched figure counts",
    Gates.NO_HANG: "no boot of either kernel hangs",
    Gates.HANGS: _HANGS,
    Gates.CULPRIT_HANGS: lambda data: f"{_HANGS}{_how(data)}: that comes before any noise",
    Gates.PARENT_HANGS: lambda data: f"{_HANGS}{_how(data)}: a revert may bring that back",
    Gates.CULPRIT_NOT_ENDED: (
        "{window}: no run on the culprit got to its end, on the parent it did"
    ),
    Gates.NOT_ON_BOTH: "{window}: {suite} did not run on both kernels",
    Gates.FAILURES: (
        "{window}: {parent:.0f} of {parent_runs} runs fail on the parent,"
        " {culprit:.0f} of {culprit_runs} on the culprit"
    ),
    Gates.TICKS: _TICKS,
    Gates.TICKS_MANY: f"{_TICKS}, at most {{most_per_s:g}} are expected with nohz_full",
    Gates.PARENT_FEW: "{boots} boots of the parent, at least {fewest} are needed",
    Gates.IN_PART: "the commit was found {part}",
    Gates.NO_LUCK_TOLD: "not for shares and counts: boots of one kernel alone tell too little",
    Gates.LUCK: (
        "two random samples of {boots} boots of the parent have medians less than {luck} apart in"
        " {percent:.0f} of 100 draws; parent and commit are {change} apart"
    ),
    Gates.LUCK_OF_BUILDS: (
        "two random samples of {builds} builds of the parent's side have means less than {luck}"
        " apart in {percent:.0f} of 100 draws; both sides are {change} apart"
    ),
    Gates.APART_ALIKE: (f"{_APART} do not differ, kernel by kernel; {{why}}"),
    Gates.NOT_APART: (
        "too few boots of these kernels were taken before the proof to compare them with later"
        " ones; {why}"
    ),
    Gates.APART_DIFFER: lambda data: (
        f"{_APART} differ, kernel by kernel: the later ones are"
        f" {'better' if data['better'] else 'worse'}: {{why}}"
    ),
    Gates.DRIFT: _drift,
    Gates.GUARDS_BLIND: "these kernels cannot report {guards}",
    Gates.GUARDS_TELL: "these kernels can report {guards}",
    Gates.NO_VALID_BOOT: "no valid boot",
    Gates.MACHINE_BLIND: "the kernel cannot tell {counters}; all else stayed as it was",
    Gates.MACHINE_STEADY: (
        "no throttling, no machine check, no SMI, no taint, one clock source in {boots} boots"
    ),
    Reach.BUILDS_SILENT: "unknown: the builds do not tell which functions differ",
    Reach.NOT_BUILT: "the kernel is built from none of the files that the commit changes",
    Reach.NO_FUNCTION: "unknown: no function differs, the commit changes data or headers only",
    Reach.RUNS: _runs,
    Reach.AT_BOOT: lambda data: (
        f"unknown: {_none_ran(data)}, but the kernel calls {{function}} while it boots, and what"
        " that does may last"
    ),
    Reach.NEVER: lambda data: f"{_none_ran(data)}: {{names}}",
    Reach.NOT_COUNTED: "unknown: no boot counted functions",
    Reach.UNCOUNTED: _uncounted,
    Health.THROTTLED: "the CPU throttled itself {times} times: it was too hot",
    Health.MACHINE_CHECKS: "{times} machine check exceptions: the hardware is failing",
    Health.SMI: "the firmware stopped the CPUs {times} times (SMIs, those of all CPUs together)",
    Health.TAINTED: "the kernel got tainted in a window (bit {bits}): {after}",
    Health.NO_COUNTS: "{counter} was {before!r} before the windows and {after!r} after them",
    Health.CLOCK_CHANGED: "the clock source changed to {clock} in a window",
}
