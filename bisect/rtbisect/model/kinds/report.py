# SPDX-License-Identifier: GPL-2.0-or-later
"""What a mail about a campaign says, sentence by sentence."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Changes(Kind):
    """What changed from one kernel to the other. `title` is what the thresholds call the figure;
    `isolated` is whether the watched CPUs are.
    """

    FIGURE = "change.figure", "suite name title base new unit isolated"
    #: The change is in a part of the figure alone.
    PART = "change.part", "suite name part base new unit"
    #: On one side `base` of `base_boots` boots show it, on the other `new` of `new_boots`.
    BOOTS = "change.boots", "suite name title base base_boots new new_boots"
    #: The same of a repair: of the kernel without it, and of the one with it.
    WITHOUT = "change.without", "suite name title base base_boots new new_boots"
    #: One side has no boots.
    UNMEASURED = "change.unmeasured", "suite name"


class Symptoms(Kind):
    """The same in a subject, as short as it gets."""

    FIGURE = "symptom.figure", "suite name base new unit"
    PART = "symptom.part", "suite name part base new unit"
    BOOTS = "symptom.boots", "suite name base base_boots new new_boots"
    #: The symptom that a repair ends.
    ENDED = "symptom.ended", "suite name base base_boots new new_boots"
    UNMEASURED = "symptom.unmeasured", "suite name"
    #: An answer that names no commit, by its `outcome`; `commits` are those that it may be.
    ANSWER = "symptom.answer", "outcome better repair commits older newer metric"


class Levels(Kind):
    """What one kernel has: a figure, or so many of so many boots."""

    FIGURE = "level.figure", "value unit"
    BOOTS = "level.boots", "seen boots"
    UNMEASURED = "level.unmeasured"


class Columns(Kind):
    """What stands over a column of a table: a figure with its unit."""

    FIGURE = "column.figure", "suite name unit"
    #: A column that stands below the name of its suite.
    IN_SUITE = "column.in-suite", "suite name unit"
    #: Below a table: what a workload does whose name stands in it.
    WORKLOAD = "column.workload", "workload"
    #: Told in the place of a table where no figure was measured.
    NO_FIGURE = "column.no-figure"
    #: Says which numbers stand in the cells of figures.
    CELLS = "column.cells"


class Tasks(Kind):
    """Which tasks make something: one by its name, several of one name, or so many that nobody
    knows by name.
    """

    NAMED = "tasks.named", "name"
    SEVERAL = "tasks.several", "name tasks"
    UNKNOWN = "tasks.unknown", "tasks"


class Where(Kind):
    """On what it was seen. `isolated` are CPUs as a list, "" where none are."""

    MACHINE = "where.machine", "machine sockets isolated realtime"
    EMULATED = "where.emulated", "isolated realtime"


class Opens(Kind):
    """The first sentence. `change` is one of `Changes`, `where` one of `Where`; `middle` is what
    the figures of a change are over so many boots, None where it says so itself; `beside` is the
    workload that the change needs, "" where it needs none. `metric` is `Columns.FIGURE`, or what
    stands for it where there is none.
    """

    CULPRIT = "opens.culprit", "change middle boots commit subject beside where"
    #: What a search for a repair found; `commit` is the one of mainline where stable is asked to
    #: pick it for `series`, which lack it, and `applies` whether it does in each of them.
    REPAIR = "opens.repair", "change middle boots commit subject beside where"
    BACKPORT = "opens.backport", "series applies commit subject change beside where"
    #: A commit whose effect nobody could attribute; where the tool makes it no report is drafted.
    UNATTRIBUTED = "opens.unattributed", "change middle boots beside commit subject where"
    SET = "opens.set", "change middle boots beside commits where"
    MULTIPLE = "opens.multiple", "change middle boots beside commits where"
    #: One of several: the change is its own; `culprits` are so many that are proved.
    ONE_OF_SEVERAL = (
        "opens.one-of-several",
        "change middle boots beside commit subject culprits where",
    )
    MERGE = "opens.merge", "change middle boots beside commits where"
    LAYOUT = "opens.layout", "change middle boots beside where"
    #: A change in many steps; of boots that no comparison has judged.
    GRADUAL = "opens.gradual", "change middle boots beside where"
    GRADUAL_UNMEASURED = "opens.gradual-unmeasured", "metric"
    NOT_REPRODUCED = "opens.not-reproduced", "metric"
    NOOP = "opens.noop", "metric"
    OPEN = "opens.open", "metric"
    #: Nothing got worse, or, of a search for a repair, nothing better; "" for all metrics.
    NOTHING = "opens.nothing", "metric confidence"
    NO_REPAIR = "opens.no-repair", "metric confidence"
    IMPROVED = "opens.improved", "figures"


class Sure(Kind):
    """How sure that is."""

    #: The boots of both kernels do not overlap; they do; of what a boot has or has not, `p` of
    #: the test `test`.
    APART = "sure.apart"
    OVERLAP = "sure.overlap"
    LUCK = "sure.luck", "p test"
    #: What the tip has without the commit, one of `Levels`; OPEN may have None.
    REVERT_HELPS = "sure.revert-helps", "level"
    REVERT_SHORT = "sure.revert-short", "level"
    REVERT_NOT = "sure.revert-not", "level"
    REVERT_OPEN = "sure.revert-open", "level"
    CONFIDENCE = "sure.confidence", "confidence"


class Found(Kind):
    """Where the commit was found. `tree` is a URL, "" for a copy on the machine of the lab;
    `release` is what its kernels call themselves, "" where tags or a URL tell more.
    """

    RANGE = "found.range", "older newer commits tree release"
    #: Told in the place of RANGE where no commit is named.
    SEARCHED = "found.searched", "older newer commits tree"
    RELEASED = "found.released", "release"
    #: The newest revision that was booted still has the change; whether it does is not sure.
    STILL = "found.still", "newest"
    PERHAPS_GONE = "found.perhaps-gone", "newest"


class Shows(Kind):
    """Why it is this commit, or how the ends differ. `p` is that of the test `test`."""

    #: `p` after Holm's correction where it is one of several `figures`.
    RATIO = "shows.ratio", "ratio low high floor unit test p figures"
    DIFFERENCE = "shows.difference", "difference low high unit test p figures"
    #: A kernel with another code layout shows the same; it does not.
    LAYOUT = "shows.layout"
    LAYOUT_NOT = "shows.layout-not"
    #: Each boot had a code layout of its own.
    RELINKED = "shows.relinked"
    #: What the check on builds that the search had not booted has found.
    BUILDS = "shows.builds", "why"
    #: `why` is what a trust gate found.
    SAME_KERNEL = "shows.same-kernel", "why"
    FUNCTIONS = "shows.functions", "why"
    HANGS = "shows.hangs", "why"
    RIGHT = "shows.right", "gate why"
    LOOP = "shows.loop", "why"
    WITHOUT_RT = "shows.without-rt", "why"


class Concerns(Kind):
    """Whom it concerns: what of the workload, and what a revert costs."""

    #: Only with and without the workload, with revert and layout tested, it is the kernel's own.
    KERNEL = "concerns.kernel"
    #: What parent and commit have beside another workload than that of the first sentence, "" for
    #: none: both are `Levels`.
    WITH_AND_WITHOUT = "concerns.with-and-without", "workload base new"
    NO_WORKLOAD = "concerns.no-workload"
    ONLY_BESIDE = "concerns.only-beside", "workload"
    ABOUT = "concerns.about", "workload"
    #: The workload is a program of our own, at `source`, or one of the site.
    OURS = "concerns.ours", "workload source"
    OF_SITE = "concerns.of-site", "workload"
    #: Of what a search for a repair found: nobody knows which series lack it.
    NEEDED = "concerns.needed"
    #: What the commit repairs, as its own `tag` says, or as a campaign has measured.
    REPAIRS = "concerns.repairs", "tag"
    REPAIRED = "concerns.repaired", "suite name part without with_it campaign"


class Series(Kind):
    """Stable series and a repair; `names` are those of several."""

    #: What stable is asked for: the mainline commit, and each series that lacks it.
    PICK = "series.pick", "commit lacking"
    #: The series that lack the repair, where nobody is asked to pick it.
    LACK = "series.lack", "lacking"
    APPLIES = "series.applies", "name"
    CONFLICTS = "series.conflicts", "name files"
    #: The series had the repair as `commit`, and took it back.
    REVERTED = "series.reverted", "name commit"
    HAVE = "series.have", "names"
    UNAFFECTED = "series.unaffected", "names"
    UNKNOWN = "series.unknown", "names"
    TESTED = "series.tested", "names"


class Untested(Kind):
    """What was not tested, each as the end of "Not tested:"."""

    LIST = "untested.list", "parts"
    REVERT = "untested.revert", "why"
    LAYOUT = "untested.layout"
    MACHINES = "untested.machines"
    SAME_KERNEL = "untested.same-kernel"
    #: Whether the functions that the commit changes run at all.
    REACH = "untested.reach"
    HARDWARE = "untested.hardware"
    PRODUCTION = "untested.production"
    WORKLOAD = "untested.workload"
    SERIES = "untested.series"
    WHAT_IT_REPAIRS = "untested.what-it-repairs"


class Machines(Kind):
    """The machine and the kernel, a line each."""

    #: `cpus` are those that are measured.
    TOPOLOGY = "machine.topology", "sockets cores threads smt memory_mib cpus isolates"
    #: Several hosts; `within` says that boots were compared within each of them.
    HOSTS = "machine.hosts", "hosts within"
    HOST = "machine.host", "name boots"
    KERNEL = "machine.kernel", "release config compiler"
    #: The kernel was linked anew for each boot.
    LINKED = "machine.linked", "linker"
    BOOT_LINE = "machine.boot-line", "line"


class Tried(Kind):
    """What a patch, or the newest revision, does to what a report is about. `what` is one of
    `Newer`, `change` one of `Changes`; `middle` and `boots` are as in `Opens`.
    """

    FIXES = "tried.fixes", "what change middle boots"
    #: It fixes a part: surely less than all of it.
    PARTLY = "tried.partly", "what change middle boots"
    NOT = "tried.not", "what change middle boots"
    #: The figure is surely even worse.
    WORSENS = "tried.worsens", "what change middle boots"
    OPEN = "tried.open", "what change middle boots"
    #: More boots hang or die with it: `dead` of `dead_boots` and `base_dead` of `base_boots` do,
    #: `how` is that of the first one or None.
    DIES = "tried.dies", "what change middle boots dead dead_boots base_dead base_boots how"
    UNMEASURED = "tried.unmeasured", "what change"
    #: Not measured because it does not build, or not boot; `metric` is as in `Opens`.
    NOT_BUILT = "tried.not-built", "what metric"
    NO_BOOT = "tried.no-boot", "what metric"
    #: What the report has of a kernel without its fault: the parent of the commit, or, of a
    #: repair, the commit. One of `Levels`.
    PARENT_HAD = "tried.parent-had", "level"
    COMMIT_HAS = "tried.commit-has", "level"
    #: How both were booted; of a report that names no commit `commit` and `subject` are "".
    SETUP = "tried.setup", "commit subject where"
    WORSE = "tried.worse", "change middle boots"
    #: None of so many other judged `figures` got worse.
    NONE_WORSE = "tried.none-worse", "figures"
    #: The campaign that booted them, and what it cost.
    CLOSING = "tried.closing", "campaign cost"


class Online(Kind):
    """Where people read all that a mail has no room for: the address of the page of its campaign,
    and of that of the report that an answer is to.
    """

    PAGE = "online.page", "address"
    REPORT = "online.report", "address"


class Withdrawn(Kind):
    """A report that is taken back."""

    REPORT = "withdrawn.report", "commit subject why"
    #: What the withdrawal means for who got the report; NO_TAGS where it had offered tags.
    NOTHING_TO_DO = "withdrawn.nothing-to-do"
    NO_TAGS = "withdrawn.no-tags"
    SORRY = "withdrawn.sorry"


class Footers(Kind):
    """What a reader may do next, and who answers for the mail."""

    APPROVED = "footer.approved", "bot approver"
    COMMANDS = "footer.commands"
    #: The tags that a fix may carry.
    TAGS = "footer.tags", "reported_by closes fixes"
    HURTS = "footer.hurts", "approver use_case"
    #: In a mail to the operator alone: what the campaign cost, and whom the mail would go to.
    COST = "footer.cost", "builds boots skipped wall_s"
    TO = "footer.to", "author address places"
    READ = "footer.read"
    SEARCH_REPAIR = "footer.search-repair"
