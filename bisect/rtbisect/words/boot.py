# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of what makes a boot no evidence, and of labs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.kinds.boot import Blocks, Boots, Commands, Labs, Noise, Part, Raw
from rtbisect.words.numbers import further

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.finding import Value
    from rtbisect.words.template import Words


def _if(name: str, words: str, otherwise: str) -> Words:
    """The first of these where the finding has that datum, even 0, the other where it has none."""
    return lambda data: otherwise if data[name] in (None, ()) else words


def _listed(words: str, end: str = "") -> Words:
    """Names behind `words`, and how many more there are."""
    return lambda data: f"{words}{{names}} {further(int(str(data['more'])))}".rstrip() + end


def _where(before: str, after: str, boot: str = "at boot") -> Words:
    """With how far the boot had come between these."""
    places = {Part.BOOT.value: boot, Part.SUITE.value: "in a suite"}
    return lambda data: f"{before} {places[str(data['part'])]}{after}"


def _hang(data: Mapping[str, Value]) -> str:
    at_boot = data["part"] == Part.BOOT
    where, silence = ("at boot", "no login prompt") if at_boot else ("in a suite", "no output")
    return f"hang {where}: {silence if data['symptom'] is None else '{symptom}'}"


_LINKED_ONCE = "with `build.layout: fixed` in the site file kernels are linked once"

_BOOTS: Mapping[str, Words] = {
    Boots.STALE_BREAKPOINT: "the emulator ran into a breakpoint that was gone already (Oops: int3)",
    Boots.PANIC: _where("panic or oops", ": {symptom}"),
    Boots.FLOOD: _where("the console was flooded", ": {lost_bytes} bytes lost"),
    Boots.HANG: _hang,
    Boots.RESET: _where(
        "the machine reset or powered off", " without a message", boot="during boot"
    ),
    Boots.KERNEL_MESSAGES: _if("said", "at boot: {said}", "at boot: LAVA gave no reason"),
    Boots.SUITES_STOPPED: _if(
        "said", "the suites stopped: {said}", "the suites stopped: LAVA gave no reason"
    ),
    Boots.STEP_FAILED: "a step of the suites ended with an error",
    Boots.NOT_LINKED: (
        "the kernel is built, and linking it with its functions in another order (seed {seed})"
        f" fails: {{error}}; {_LINKED_ONCE}"
    ),
    Boots.ONLY_MOVED: (
        "the kernel boots as it was built, and not with its functions in another order (seed"
        f" {{seed}}): {{why}}; {_LINKED_ONCE}"
    ),
    Boots.MAYBE_MOVED: (
        "the kernel did not boot with its functions in another order (seed {seed}): {why};"
        f" another boot of it did not end so, and the order may be the reason; {_LINKED_ONCE}"
    ),
    Boots.OTHER_AGAIN: (
        "the kernel is to be linked with its functions in another order, and compiling it again"
        f" gives another kernel; {_LINKED_ONCE}"
    ),
    Boots.FAKE: "the fake lab was told {status}",
    Boots.MANY_CASES: "the device reported {cases} cases, more than {most}",
    Boots.CASE_MISSING: "the case {case} is missing",
    Boots.CASE_FAILED: _if(
        "fact", "the case {case} did not pass ({fact}={value})", "the case {case} did not pass"
    ),
    Boots.CONSOLE_END: "the console does not end with {mark}",
    Boots.NO_FACTS: "the block has no {file}",
    Boots.FACTS: "{file}: {why}",
    Boots.BOOT_LINE: "the boot line arrived without {lost}",
    Boots.CPUS: _if(
        "value",
        "{fact} is {value!r} in the guest, not as asked",
        "{fact} is 'unknown' in the guest, not as asked",
    ),
    Boots.SMT: _if(
        "value", "smt_active is {value!r}, not {wanted}", "smt_active is 'unknown', not {wanted}"
    ),
    Boots.CLOCK_SOURCE: _if(
        "value",
        "the clock source is {value!r}, not tsc",
        "the clock source is 'unknown', not tsc",
    ),
    Boots.WINDOW_ORDER: "windows ran as {ran}, not {wanted}",
    Boots.SUITE: "{suite}@{window}: {why}",
    Boots.SOURCES: "{window}: {why}",
    Boots.GATE: "{window}: {gate}: {why}",
    Boots.EVENTS_LOST: "{window}: {events:.0f} events were lost",
    Boots.DOSE: (
        "{window}: the workload made {events_per_s:.0f} events/s, less than half of its nominal"
        " {nominal_per_s:.0f}/s"
    ),
    Boots.LONG_WINDOW: "{window}: the window took {lasted_ms:.0f} ms",
    Boots.CALLS: "{window}: {timed:.0f} durations of {wanted} calls",
}

_BLOCKS: Mapping[str, Words] = {
    Blocks.NONE: "the console has no block of results",
    Blocks.SEVERAL: "the console has {blocks} blocks of results, not one",
    Blocks.FIRST_LINE: "the first line of the block is damaged: {line}",
    Blocks.NO_END: "the block has no end",
    Blocks.FOREIGN_TEXT: "foreign text in the block: {line}",
    Blocks.LARGE: "the block has {has_bytes} bytes, more than {most_bytes}",
    Blocks.SHORT: "the block has {has_bytes} bytes, not {said_bytes}",
    Blocks.SHA256: "the block does not have the sha256 that it says",
    Blocks.UNPACKS_LARGE: "the block is cut off or unpacks to over {most_bytes} bytes",
    Blocks.NO_BASE64: "the block is no base64: {error}",
    Blocks.NO_GZIP: "the block is no gzip: {error}",
    Blocks.NO_TAR: "the block is no tar archive: {error}",
    Blocks.NO_FILE: "the block has {name:quoted}, which is no regular file",
    Blocks.FILE_NAME: "the block has a file named {name:quoted}",
    Blocks.FILE_TWICE: "the block has {name} twice",
    Blocks.LARGE_FILE: "the block has too many files, or {name} is too large",
}

_FILES: Mapping[str, Words] = {
    Raw.MISSING: "{file} is missing",
    Raw.EMPTY: "{file} is empty",
    Raw.NO_ASCII: "{file} has bytes that are not ASCII",
    Raw.CUT_OFF: "{file} is cut off in a line",
    Raw.UNREADABLE: "{file} cannot be read: {error}",
    Raw.NO_HEAD: "{file} does not begin with its head",
    Raw.FOREIGN_LINE: "{file} has a foreign line: {line!r}",
    Raw.FOREIGN: "{file} has a foreign line",
    Raw.CANNOT_BE: "{file}: {line!r} cannot be",
    Raw.BOTH: "{key} is both {first!r} and {second!r}",
    Raw.NO_KEY: "{file} has no {key}",
    Raw.NO_COUNT: "{file}: {key} is {value!r}, not a count",
    Raw.NO_TIME: "{file}: {key} is {value!r}, no time",
    Raw.SETTING: "{file}: {key} is {value}, not {wanted}",
    Raw.NO_HZ: _if("value", "{file} tells no hz: {value!r}", "{file} tells no hz: 'no such line'"),
    Raw.STRAY_MEASURED: "{tool} measured CPU {cpu}, which is not watched",
    Raw.STRAY_SAMPLED: "{tool} sampled CPU {cpu}, which is not watched",
    Raw.STRAY_HISTOGRAM: "{tool} has a histogram of CPU {cpu}, which is not watched",
    Raw.OFFLINE: "watched CPU {cpu} is not online",
    Raw.NO_SAMPLE: "{tool} has no sample of watched CPU {cpu}",
    Raw.NO_ROW: "{tool} has no row of watched CPU {cpu}",
    Raw.FEW_LATENCIES: "{tool} has {latencies} {context} latencies of watched CPU {cpu}",
    Raw.LOST: "the tracer lost {events} events",
    Raw.LOST_OF_CPU: "the tracer lost {events} events of CPU {cpu}",
    Raw.LOST_LINE: "the tracer lost events: {line!r}",
    Raw.TOOL_LOST: "{tool} lost events: {line!r}",
    Raw.TAINTED: "the tracer says that its samples are tainted",
    Raw.NO_CPUS: "{file} does not begin with a line of CPUs",
    Raw.NO_VECTOR: "/proc/interrupts has no line {line}",
    Raw.NO_COUNTS: "{file}: line {line} has no count for each of {cpus} CPUs",
    Raw.LINE_TWICE: "{file} has {line} twice",
    Raw.CPUS_CHANGED: "CPUs came or went between the snapshots",
    Raw.LINE_GONE: "{line} is in the first snapshot only",
    Raw.BACKWARDS: "{line} counted backwards",
    Raw.DOSE_BACKWARDS: "the dose counted {count} backwards",
    Raw.PART_OF_DOSE: "{file} has only a part of the dose",
    Raw.NO_DOSE: "{file} has no dose of the workload",
    Raw.SHORT_WINDOW: "the window lasted {lasted_s:.3f} s, at least {least_s} s are needed",
    Raw.NO_LENGTH: "the window has no length",
    Raw.WINDOW_TIMES: "{file}: the window went from {first_s} to {last_s} s",
    Raw.NO_PERIOD: "{file}: the period is 0",
}

_INSTRUMENTS: Mapping[str, Words] = {
    Raw.WRONG_TRACER: "{file} is not of the {tool} tracer",
    Raw.NO_WORKLOAD: "{tool} ran without its workload",
    Raw.INTERRUPTS_ON: "{tool} ran with interrupts on",
    Raw.WITH_INTERRUPTS_OFF: "{figure} is {value:g} with interrupts off",
    Raw.NO_SAMPLE_LINE: "{file} has a line that is no sample: {line!r}",
    Raw.SAMPLE_TWICE: "{file} tells a sample of CPU {cpu:03} twice",
    Raw.NO_RUNTIME: "{tool}: a sample of CPU {cpu:03} has no runtime",
    Raw.SAMPLE: "{tool}: CPU {cpu:03}: {why}",
    Raw.NOISE_TWICE: "{file} has {noise} {source} of CPU {cpu} twice",
    Raw.NOISE_SUMS: "{file}: the sources of {noise} on CPU {cpu} are not all of it",
    Raw.LATENCIES_TWICE: "{file} has {context} of CPU {cpu} twice",
    Raw.FOREIGN_TRACE: "the trace has lines that are none of {tool}: {line!r}",
    Raw.NO_TABLE: "{tool} printed no table",
    Raw.NO_UNIT: "{tool} does not say that its times are in us",
    Raw.CPU_TWICE: "{tool} has two rows of a CPU",
    Raw.ROW_WIDTH: "{tool}: a row is not {width} characters in its columns: {line!r}",
    Raw.ROW_NUMBERS: "{tool}: a row has no numbers in its columns: {line!r}",
    Raw.ROW: "{tool}: CPU {cpu} has figures that cannot be together",
    Raw.NO_HISTOGRAM: "{file} is no histogram of {tool} in us",
    Raw.HISTOGRAM_HEAD: "{file} has neither columns nor a block of zeros",
    Raw.HISTOGRAM_COLUMN: "{file} has a column {column!r}",
    Raw.HISTOGRAM_ROW: "{file} has a foreign row: {row!r}",
    Raw.HISTOGRAM_COUNTS: "{file}: row {row} has no count for each CPU of its head",
    Raw.HISTOGRAM_END: "{file} does not come to its end",
    Raw.HISTOGRAM_SUM: "{file}: the buckets of CPU {cpu} do not add up",
    Raw.NO_DURATION: "{file} has a line that is no duration: {line!r}",
    Raw.DURATION: "a call of {call} took {took_ns} ns, which cannot be",
    Raw.FEW_CALLS: "{file} has {calls} calls, at least {least} are needed",
    Raw.TEST_END: _if("end", "{tool} ended with {end!r}", "{tool} ended with 'nothing'"),
    Raw.TEST_TIME: "{tool} reports a run time of 0",
    Raw.WINDOW_LINE: "{file} does not begin with its window: {line!r}",
    Raw.WINDOW_ENDED: "the window did not run to its end beside the probes",
    Raw.FUNCTION_TWICE: "{file} tells {function} twice",
    Raw.SENDER_CPU: "{file} has the CPU {cpu!r}",
    Raw.SENDER_CPUS: "{file} has the CPUs {cpus!r}",
    Raw.THREADS_TWICE: "{file} tells {threads} threads twice",
    Raw.NO_RATE: "{events} events of {threads} threads in {took_ns} ns are no rate",
    Raw.FEW_PERIODS: (
        "the task was throttled in {throttled} of {periods} periods, at least {least} are needed"
    ),
    Raw.NO_FIGURE: "the device reported no figure",
    Raw.CASE_NAME: "{case!r} is no name of a figure",
    Raw.CASE_TWICE: "{case} was reported twice",
    Raw.CASE_FAILED: "{case} did not pass",
    Raw.CASE_NUMBER: "{case} is {value!r}, no number",
    Raw.CASE_INFINITE: "{case} is {value}, not finite",
    Raw.CASE_UNIT: "{case} has the unit {unit!r}, not one of {known}",
    Noise.RANGE: "{noise_us:g} us of noise in {runtime_us:g} us",
    Noise.AVAILABLE: (
        "{avail_percent:g}% available does not follow from {noise_us:g} us of noise"
        " in {runtime_us:g} us"
    ),
    Noise.WORST_BELOW_MEAN: (
        "the worst sample has {max_noise_us:g} us of noise, the mean of all {mean_us:g} us"
    ),
    Noise.WORST_ABOVE_SUM: (
        "one sample has {max_noise_us:g} us of noise, all of them {noise_us:g} us"
    ),
    Noise.SINGLE: "a single noise of {max_single_us:g} us in {noise_us:g} us of noise",
}

_COMMANDS: Mapping[str, Words] = {
    Commands.LEFT_OUT: "left out by --skip",
    Commands.NO_SUBMODULE: "your clone does not have the submodule {path}",
    Commands.NO_SUBMODULE_COMMIT: (
        "your clone does not have the commit {commit:.12} of the submodule {path}"
    ),
    Commands.NOT_CARRIED: "your uncommitted changes conflict with this revision, in {first}",
    Commands.NOT_THERE: "{program} is not in this revision",
    Commands.NOT_EXECUTABLE: "{program} is not executable in this revision",
    Commands.NO_INTERPRETER: (
        "the first line of {program} in this revision asks for {interpreter}, which is not there"
    ),
    Commands.NOT_STARTED: (
        "{program} of this revision, or what starts it, cannot be started: {error}"
    ),
    Commands.LATE: "the command ran longer than {limit_s:g} s",
    Commands.ENDED: "the command ended with {code}",
    Commands.LAST_ERROR: "{why}: {line}",
    Commands.NOT_COUNTED: "{counter} has counted no instructions of the command",
    Commands.UNCOUNTABLE: "valgrind does not run this command: {line}",
    Commands.NO_PRODUCT: "the build leaves no {path}, which --product names",
    Commands.LARGE_PRODUCT: "{path}, which --product names, has more than {most:size}",
    Commands.ALONE: "{revision:.12}: {why}; it shares runs with no other revision",
    Commands.PRODUCTS_VARY: (
        "two builds of {revision:.12} leave different products, which may hold the time of the"
        " build: no two revisions will share their runs"
    ),
    Commands.NOT_REBUILT: "it was built before, and does not build again: {error}",
    Commands.NOT_LINKED: "--build fails when it runs again for another code layout: {error}",
    Commands.SEED_IGNORED: (
        "--build makes the same program with four values of RTBISECT_LAYOUT_SEED: it ignores them,"
        " or there are too few functions to move"
    ),
    Commands.NOTHING_LINKED: (
        "--build links no program when it runs again in a tree that is built"
    ),
    Commands.LINKS_DIFFER: (
        "two builds with one RTBISECT_LAYOUT_SEED differ, as with a time of the build in them, so"
        " that nobody can see whether another seed changes the layout"
    ),
    Commands.NOTHING: "the command printed nothing",
    Commands.NO_NUMBER: "no number in {line:quoted}",
    Commands.NOT_FINITE: "{line:quoted} is no measurement: NaN, infinite, or of too many digits",
    Commands.TOO_LARGE: "{line:quoted} cannot be a measurement",
    Commands.NO_RATIO: "{value:g} has no ratio to another figure; leave out --ratio",
    Commands.OTHER_LINES: _listed("no line {metric}=... in the output, it has "),
    Commands.UNNAMED: (
        "no line {metric}=... in the output, it has a number without a name: {line:quoted}"
    ),
    Commands.NO_LINE: (
        "no line {metric}=... in the output, the last one is {line:quoted}; --extract reads other"
        " forms"
    ),
    Commands.SEVERAL: _listed("{figures} figures (", "); name one with --metric"),
    Commands.NO_OBJECT: "the last lines are no JSON object: {line:quoted}",
    Commands.OTHER_KEYS: _listed("no number {metric:quoted} in the JSON object, it has "),
    Commands.NO_KEY: "no number {metric:quoted} in the JSON object",
    Commands.NO_NUMBERS: "no number in the JSON object",
    Commands.SEVERAL_KEYS: _listed(
        "{figures} numbers in the JSON object (", "); name one with --metric"
    ),
    Commands.NO_OUTPUT_OF: "no result of {tool} in the output",
    Commands.OTHER_OF: _listed("{tool} has no result {metric:quoted}, it has "),
    Commands.NO_MATCH: "nothing in the output matches {pattern:quoted}",
    Commands.SLOW_MATCH: (
        "{pattern:quoted} takes more than {limit_s:g} s to search the output: write it with fewer"
        " repetitions inside each other"
    ),
    Commands.NO_PATH: _if(
        "names",
        "the path finds no {step:quoted} in the JSON, there is {names}",
        "the path finds no {step:quoted} in the JSON",
    ),
    Commands.TOO_LONG: "the output has {size:size}, and at most {most:size} are read",
    Commands.UNREADABLE: (
        "the JSON in the output is nested too deep, or broken at too many places, to be read"
    ),
    Commands.OVERRAN: "it printed more than {most:size} and was ended",
    Commands.UNITS_DIFFER: "the units of the figure do not fit each other: {units}",
    Commands.FIRST: (
        "the first run has a figure that does not count: {why}; where no later run has one, the"
        " search ends soon"
    ),
    Commands.REPEATED: (
        "the first run printed {metric} {times} times; one run is one observation, so their median"
        " counts: {value:in {unit}}"
    ),
    Commands.FAILS: lambda data: (
        "the first run that fails ended with {code}"
        + (", its last lines: {lines:;}" if data["lines"] else ", and printed nothing")
    ),
}

_LABS: Mapping[str, Words] = {
    Labs.NOT_GOOD: "{device} is in {health}",
    Labs.OFFLINE: "{device}'s worker {worker} is offline",
    Labs.QUARANTINED: "{device} is quarantined ({why})",
    Labs.IN_SERVICE: "{device} {state}",
    Labs.NO_DEVICE: "the lab shows no device of type {device_type}",
    Labs.NONE_FITS: "no device fits, because {whys}",
    Labs.WAITS: "job {job} waits: {why}",
    Labs.AHEAD: _if("devices", "{ahead} jobs ahead; {devices}", "{ahead} jobs ahead; no device"),
    Labs.HOURS: "the lab takes our jobs from {begin:02}:00 to {end:02}:00 UTC",
    Labs.OURS_WAIT: "{jobs} jobs of ours wait there already",
    Labs.OTHERS_WAIT: "{jobs} jobs of others wait there",
    Labs.OUT_OF_LIMITS: "out of limits: {sensors}",
    Labs.NO_BMC: "{error}",
    Labs.FOUND_BEFORE: "found before a campaign: {why}",
    Labs.FAULTS: "{faults} faults in a row, the last one: {error}",
}

SENTENCES: Mapping[str, Words] = {
    **_BOOTS,
    **_BLOCKS,
    **_FILES,
    **_INSTRUMENTS,
    **_COMMANDS,
    **_LABS,
}
