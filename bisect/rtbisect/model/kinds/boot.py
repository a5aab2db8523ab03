# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a boot, or the run of a command, is no evidence; what its lab says meanwhile."""

from __future__ import annotations

from enum import StrEnum

from rtbisect.model.finding import Kind


class Part(StrEnum):
    """How far a boot had come."""

    BOOT = "boot"
    SUITE = "suite"


class Symptom(StrEnum):
    """What a console says of how a kernel stood still or died, where a suite may count that."""

    #: A suite's own program saw it, and ended the boot.
    FROZEN_PERIODS = "frozen-periods"
    #: A detector of the kernel: no grace period ends, a task or a CPU does not get on.
    GRACE_PERIOD = "grace-period"
    BLOCKED_TASK = "blocked-task"
    SOFT_LOCKUP = "soft-lockup"


class Boots(Kind):
    """How a job ended, and what of it does not agree with what was asked for."""

    #: The emulator ran into a breakpoint that was gone already.
    STALE_BREAKPOINT = "boot.stale-breakpoint"
    #: `part` is a Part, here and below.
    PANIC = "boot.panic", "part symptom"
    FLOOD = "boot.flood", "part lost_bytes"
    #: `symptom` is what the kernel said of it, None for a kernel that said nothing.
    HANG = "boot.hang", "part symptom"
    RESET = "boot.reset", "part"
    #: LAVA did not like the kernel's messages; `said` is what LAVA says, None for nothing.
    KERNEL_MESSAGES = "boot.kernel-messages", "said"
    SUITES_STOPPED = "boot.suites-stopped", "said"
    STEP_FAILED = "boot.step-failed"
    #: The link of a kernel that is built failed with a seed of another code layout; one that boots
    #: as it was built did not, twice, with its functions in the order of a seed, because of `why`;
    #: one did not once, and nobody knows whether that order is the reason.
    NOT_LINKED = "boot.not-linked", "seed error"
    ONLY_MOVED = "boot.only-moved", "seed why"
    MAYBE_MOVED = "boot.maybe-moved", "seed why"
    #: Compiled again for a link, a revision gave another kernel than before.
    OTHER_AGAIN = "boot.other-again"
    #: A fake lab, for tests, was told to end the job with this status.
    FAKE = "boot.fake", "status"

    #: LAVA's test cases: there are too many, one is missing, one failed.
    MANY_CASES = "boot.many-cases", "cases most"
    CASE_MISSING = "boot.case-missing", "case"
    #: `fact` of the guest explains it by its value; both are None where none does.
    CASE_FAILED = "boot.case-failed", "case fact value"
    CONSOLE_END = "boot.console-end", "mark"
    NO_FACTS = "boot.no-facts", "file"
    FACTS = "boot.facts", "file why"
    BOOT_LINE = "boot.boot-line", "lost"
    #: CPUs that are not as asked; `value` of a fact is None where the guest does not tell it.
    CPUS = "boot.cpus", "fact value"
    SMT = "boot.smt", "value wanted"
    CLOCK_SOURCE = "boot.clock-source", "value"
    #: The order of windows, as it was and as it should be: names with blanks between them.
    WINDOW_ORDER = "boot.window-order", "ran wanted"

    #: Something is wrong in a window, which is named by `window`.
    SUITE = "boot.suite", "suite window why"
    SOURCES = "boot.sources", "window why"
    GATE = "boot.gate", "window gate why"
    EVENTS_LOST = "boot.events-lost", "window events"
    DOSE = "boot.dose", "window events_per_s nominal_per_s"
    LONG_WINDOW = "boot.long-window", "window lasted_ms"
    CALLS = "boot.calls", "window timed wanted"


class Blocks(Kind):
    """What is wrong with the block of raw files on a console."""

    NONE = "block.none"
    SEVERAL = "block.several", "blocks"
    FIRST_LINE = "block.first-line", "line"
    NO_END = "block.no-end"
    FOREIGN_TEXT = "block.foreign-text", "line"
    LARGE = "block.large", "has_bytes most_bytes"
    SHORT = "block.short", "has_bytes said_bytes"
    SHA256 = "block.sha256"
    UNPACKS_LARGE = "block.unpacks-large", "most_bytes"
    #: `error` as the library says it.
    NO_BASE64 = "block.no-base64", "error"
    NO_GZIP = "block.no-gzip", "error"
    NO_TAR = "block.no-tar", "error"
    NO_FILE = "block.no-file", "name"
    FILE_NAME = "block.file-name", "name"
    FILE_TWICE = "block.file-twice", "name"
    LARGE_FILE = "block.large-file", "name"


class Raw(Kind):
    """What is wrong with the raw files of a window, or with what the device reported in it."""

    MISSING = "raw.missing", "file"
    EMPTY = "raw.empty", "file"
    NO_ASCII = "raw.no-ascii", "file"
    CUT_OFF = "raw.cut-off", "file"
    UNREADABLE = "raw.unreadable", "file error"
    NO_HEAD = "raw.no-head", "file"
    #: A line that is none of the file's own, told and not told.
    FOREIGN_LINE = "raw.foreign-line", "file line"
    FOREIGN = "raw.foreign", "file"
    CANNOT_BE = "raw.cannot-be", "file line"

    #: Values of `key value` files; `key` stands there twice.
    BOTH = "raw.both", "key first second"
    NO_KEY = "raw.no-key", "file key"
    NO_COUNT = "raw.no-count", "file key value"
    NO_TIME = "raw.no-time", "file key value"
    SETTING = "raw.setting", "file key value wanted"
    #: `value` is None where there is no such line.
    NO_HZ = "raw.no-hz", "file value"

    #: A tool tells of a CPU that is not watched.
    STRAY_MEASURED = "raw.stray-measured", "tool cpu"
    STRAY_SAMPLED = "raw.stray-sampled", "tool cpu"
    STRAY_HISTOGRAM = "raw.stray-histogram", "tool cpu"
    #: A watched CPU is offline, or a tool tells too little of it.
    OFFLINE = "raw.offline", "cpu"
    NO_SAMPLE = "raw.no-sample", "tool cpu"
    NO_ROW = "raw.no-row", "tool cpu"
    FEW_LATENCIES = "raw.few-latencies", "tool latencies context cpu"

    #: A tracer says that it lost events, or that its samples are tainted.
    LOST = "raw.lost", "events"
    LOST_OF_CPU = "raw.lost-of-cpu", "events cpu"
    LOST_LINE = "raw.lost-line", "line"
    TOOL_LOST = "raw.tool-lost", "tool line"
    TAINTED = "raw.tainted"

    #: Snapshots of /proc/interrupts; `line` is the name of one.
    NO_CPUS = "raw.no-cpus", "file"
    NO_VECTOR = "raw.no-vector", "line"
    NO_COUNTS = "raw.no-counts", "file line cpus"
    LINE_TWICE = "raw.line-twice", "file line"
    CPUS_CHANGED = "raw.cpus-changed"
    LINE_GONE = "raw.line-gone", "line"
    BACKWARDS = "raw.backwards", "line"
    DOSE_BACKWARDS = "raw.dose-backwards", "count"
    PART_OF_DOSE = "raw.part-of-dose", "file"
    NO_DOSE = "raw.no-dose", "file"

    #: Times of a window.
    SHORT_WINDOW = "raw.short-window", "lasted_s least_s"
    NO_LENGTH = "raw.no-length"
    WINDOW_TIMES = "raw.window-times", "file first_s last_s"
    NO_PERIOD = "raw.no-period", "file"

    #: A tracer of noise; `why` is a Noise.
    WRONG_TRACER = "raw.wrong-tracer", "file tool"
    NO_WORKLOAD = "raw.no-workload", "tool"
    INTERRUPTS_ON = "raw.interrupts-on", "tool"
    WITH_INTERRUPTS_OFF = "raw.with-interrupts-off", "figure value"
    NO_SAMPLE_LINE = "raw.no-sample-line", "file line"
    SAMPLE_TWICE = "raw.sample-twice", "file cpu"
    NO_RUNTIME = "raw.no-runtime", "tool cpu"
    SAMPLE = "raw.sample", "tool cpu why"
    NOISE_TWICE = "raw.noise-twice", "file noise source cpu"
    NOISE_SUMS = "raw.noise-sums", "file noise cpu"
    #: A tracer of latencies.
    LATENCIES_TWICE = "raw.latencies-twice", "file context cpu"
    FOREIGN_TRACE = "raw.foreign-trace", "tool line"

    #: A table that a tool prints for people.
    NO_TABLE = "raw.no-table", "tool"
    NO_UNIT = "raw.no-unit", "tool"
    CPU_TWICE = "raw.cpu-twice", "tool"
    ROW_WIDTH = "raw.row-width", "tool width line"
    ROW_NUMBERS = "raw.row-numbers", "tool line"
    ROW = "raw.row", "tool cpu"
    #: The histogram that a tool prints.
    NO_HISTOGRAM = "raw.no-histogram", "file tool"
    HISTOGRAM_HEAD = "raw.histogram-head", "file"
    HISTOGRAM_COLUMN = "raw.histogram-column", "file column"
    HISTOGRAM_ROW = "raw.histogram-row", "file row"
    HISTOGRAM_COUNTS = "raw.histogram-counts", "file row"
    HISTOGRAM_END = "raw.histogram-end", "file"
    HISTOGRAM_SUM = "raw.histogram-sum", "file cpu"

    #: Calls of a function of the kernel, and a test; `end` is None where it does not tell.
    NO_DURATION = "raw.no-duration", "file line"
    DURATION = "raw.duration", "call took_ns"
    FEW_CALLS = "raw.few-calls", "file calls least"
    TEST_END = "raw.test-end", "tool end"
    TEST_TIME = "raw.test-time", "tool"

    #: Functions that are counted, and senders of IPIs.
    WINDOW_LINE = "raw.window-line", "file line"
    WINDOW_ENDED = "raw.window-ended"
    FUNCTION_TWICE = "raw.function-twice", "file function"
    SENDER_CPU = "raw.sender-cpu", "file cpu"
    SENDER_CPUS = "raw.sender-cpus", "file cpus"

    #: Workloads: producers of events, a task that is throttled.
    THREADS_TWICE = "raw.threads-twice", "file threads"
    NO_RATE = "raw.no-rate", "events threads took_ns"
    FEW_PERIODS = "raw.few-periods", "throttled periods least"

    #: Figures that the device reports by itself, as LAVA's test cases.
    NO_FIGURE = "raw.no-figure"
    CASE_NAME = "raw.case-name", "case"
    CASE_TWICE = "raw.case-twice", "case"
    CASE_FAILED = "raw.case-failed", "case"
    CASE_NUMBER = "raw.case-number", "case value"
    CASE_INFINITE = "raw.case-infinite", "case value"
    CASE_UNIT = "raw.case-unit", "case unit known"


class Labs(Kind):
    """What is found of a lab, its devices and the queue before them."""

    #: Why a device takes no job. `health` is LAVA's word in lower case, `why` what our list says.
    NOT_GOOD = "lab.not-good", "device health"
    OFFLINE = "lab.offline", "device worker"
    QUARANTINED = "lab.quarantined", "device why"
    #: One that takes jobs; `state` is a word of LAVA in lower case.
    IN_SERVICE = "lab.in-service", "device state"
    #: Why no device takes a job; `whys` are the reasons of each.
    NO_DEVICE = "lab.no-device", "device_type"
    NONE_FITS = "lab.none-fits", "whys"
    #: A job that waits; `devices` are findings of each.
    WAITS = "lab.waits", "job why"
    AHEAD = "lab.ahead", "ahead devices"
    #: Why a guest submits none: the hours of its day (UTC), and who waits there.
    HOURS = "lab.hours", "begin end"
    OURS_WAIT = "lab.ours-wait", "jobs"
    OTHERS_WAIT = "lab.others-wait", "jobs"

    #: What a BMC tells; NO_BMC where it tells nothing, with `error` as it was raised.
    OUT_OF_LIMITS = "lab.out-of-limits", "sensors"
    NO_BMC = "lab.no-bmc", "error"
    #: Why a device is quarantined; `error` is that of the last job.
    FOUND_BEFORE = "lab.found-before", "why"
    FAULTS = "lab.faults", "faults error"


class Noise(Kind):
    """What cannot be together in a row of an osnoise table."""

    RANGE = "noise.range", "noise_us runtime_us"
    AVAILABLE = "noise.available", "avail_percent noise_us runtime_us"
    WORST_BELOW_MEAN = "noise.worst-below-mean", "max_noise_us mean_us"
    WORST_ABOVE_SUM = "noise.worst-above-sum", "max_noise_us noise_us"
    SINGLE = "noise.single", "max_single_us noise_us"


class Commands(Kind):
    """Why the run of a command has no figure."""

    #: A person has left the revision out (--skip).
    LEFT_OUT = "command.left-out"
    #: The clone has no repository of it, or not the commit of it that the revision names.
    NO_SUBMODULE = "command.no-submodule", "path"
    NO_SUBMODULE_COMMIT = "command.no-submodule-commit", "path commit"
    #: Uncommitted changes, of this file among others.
    NOT_CARRIED = "command.not-carried", "first"
    NOT_THERE = "command.not-there", "program"
    NOT_EXECUTABLE = "command.not-executable", "program"
    #: The first line of the script names a program that is not on this machine.
    NO_INTERPRETER = "command.no-interpreter", "program interpreter"
    #: The kernel does not start it, as one of another machine or without its dynamic linker.
    NOT_STARTED = "command.not-started", "program error"
    LATE = "command.late", "limit_s"
    ENDED = "command.ended", "code"
    #: The last line that it printed as an error, beside what was found.
    LAST_ERROR = "command.last-error", "why line"
    #: Perf or valgrind (`counter`) counted no instructions; valgrind says why in `line`.
    NOT_COUNTED = "command.not-counted", "counter"
    UNCOUNTABLE = "command.uncountable", "line"
    #: A revision stands for itself for this reason.
    ALONE = "command.alone", "revision why"
    #: The build has not left this file or folder.
    NO_PRODUCT = "command.no-product", "path"
    #: The file that it has left is larger than `most` bytes.
    LARGE_PRODUCT = "command.large-product", "path most"
    #: Two builds of one revision leave products that differ.
    PRODUCTS_VARY = "command.products-vary", "revision"
    #: The tree of the revision had gone, and the build that made it once now fails.
    NOT_REBUILT = "command.not-rebuilt", "error"
    #: The build of a revision that is built failed with the seed of another code layout.
    NOT_LINKED = "command.not-linked", "error"
    #: With two seeds it wrote the same files; it wrote none, or no program; with one seed it writes
    #: others, too.
    SEED_IGNORED = "command.seed-ignored"
    NOTHING_LINKED = "command.nothing-linked"
    LINKS_DIFFER = "command.links-differ"

    NOTHING = "command.nothing"
    NO_NUMBER = "command.no-number", "line"
    NOT_FINITE = "command.not-finite", "line"
    TOO_LARGE = "command.too-large", "line"
    NO_RATIO = "command.no-ratio", "value"

    #: Lines `name=value` without the metric: there are others, `more` beside those that are named;
    #: or a number alone; or none.
    OTHER_LINES = "command.other-lines", "metric names more"
    UNNAMED = "command.unnamed", "metric line"
    NO_LINE = "command.no-line", "metric line"
    #: The output has several figures, and none was asked for by name.
    SEVERAL = "command.several", "figures names more"

    #: The same of a JSON object.
    NO_OBJECT = "command.no-object", "line"
    OTHER_KEYS = "command.other-keys", "metric names more"
    NO_KEY = "command.no-key", "metric"
    NO_NUMBERS = "command.no-numbers"
    SEVERAL_KEYS = "command.several-keys", "figures names more"

    #: The same of a tool whose output is known, of an expression, and of a path into JSON.
    NO_OUTPUT_OF = "command.no-output-of", "tool"
    OTHER_OF = "command.other-of", "tool metric names more"
    NO_MATCH = "command.no-match", "pattern"
    #: The expression took more CPU time than `limit_s`.
    SLOW_MATCH = "command.slow-match", "pattern limit_s"
    NO_PATH = "command.no-path", "step names"

    TOO_LONG = "command.too-long", "size most"
    #: JSON that is nested too deep, or broken at too many places.
    UNREADABLE = "command.unreadable"
    #: The command was ended because it had printed more than `most` bytes.
    OVERRAN = "command.overran", "most"
    #: A figure has several `units`: within one run, or in this run and those before it.
    UNITS_DIFFER = "command.units-differ", "units"
    #: What is wrong with the figure of the first run.
    FIRST = "command.first", "why"
    #: The first run has a figure so many `times`; `value` is their median.
    REPEATED = "command.repeated", "metric times value unit"
    #: The first run that fails, where that is what is judged; the last `lines` that it printed.
    FAILS = "command.fails", "code lines"
