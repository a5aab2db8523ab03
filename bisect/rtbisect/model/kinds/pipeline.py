# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign tells and what its answer rests on."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Reasons(Kind):
    """Reasons of a result that repeat something of it: mails tell that elsewhere."""

    JUDGED = "reason.judged", "metric level why"
    OBJECTION = "reason.objection", "gate why"
    #: The request made no sense, as the first run showed; `message` is that of the error.
    MISASKED = "reason.misasked", "message"


class Joined(Kind):
    """Several findings in one."""

    #: Several findings, one after the other.
    AND = "joined.and", "findings"
    #: The same as a sentence, with a capital letter and a full stop.
    SENTENCE = "joined.sentence", "findings"


class Work(Kind):
    """Builds and boots, as they begin and end. `variant` is a code layout, "" for none."""

    BUILDING = "step.building", "revision variant"
    BUILT = "step.built", "revision variant signature wall_s"
    REUSED = "step.reused", "revision variant signature"
    #: `error` is foreign text.
    NOT_BUILT = "step.not-built", "revision variant error"
    #: A revision that is not built apart from its runs cannot be tried.
    SKIPPED = "step.skipped", "revision why"
    #: The build of a command leaves the same product as that of `other`.
    SAME_PRODUCT = "step.same-product", "revision other"
    #: Of a command: a built tree takes `size` bytes, so many bytes are free and trees are kept.
    TREES_KEPT = "step.trees-kept", "size free trees"
    BOOTING = "step.booting", "number revision purpose"
    #: A boot that gave no evidence.
    BOOT_ENDED = "step.boot-ended", "number revision purpose status why"
    #: The searched figure of a boot.
    FIGURE = "step.figure", "purpose revision variant metric value unit"
    #: The figures of a boot in a comparison, each a FIGURE_OF; those of several windows
    #: each a FIGURE_IN. `beside` is what runs beside the measurement there (Window.level),
    #: "" where another of the windows has the same.
    FIGURES = "step.figures", "side revision figures"
    FIGURE_OF = "step.figure-of", "suite name value unit"
    FIGURE_IN = "step.figure-in", "suite name window beside value unit"


class Ends(Kind):
    """The comparison of two ends."""

    RANGE = "ends.range", "commits older newer"
    #: `given` is no ancestor of the other end.
    MERGE_BASE = "ends.merge-base", "given"
    #: `others` is a number of further ends that are not measured.
    SEVERAL = "ends.several", "older others"
    #: Only commits that touch one of `paths` are candidates.
    PATHS = "ends.paths", "paths"
    #: The change came with commits that touch none of them, after `older` and up to `newer`;
    #: the command that searches there.
    OUTSIDE = "ends.outside", "older newer paths probability command"
    #: So many `files` of the work tree are changed, the first of them is named.
    UNCOMMITTED = "ends.uncommitted", "files first"
    #: So many `files` of an end are pointers of Git LFS without contents, the first is named.
    UNFETCHED = "ends.unfetched", "revision files first"
    SEARCHED_ON = "ends.searched-on", "metric why"
    SAME = "ends.same"
    NOT_BUILT = "ends.not-built", "revision error"
    #: So many `boots` in a row were no evidence.
    NO_EVIDENCE = "ends.no-evidence", "revision boots why"
    #: `dead` of `boots` hang or die, of the other end fewer; `how` is that of the first, or None.
    DIES_MORE = "ends.dies-more", "revision dead boots base base_dead base_boots how"
    LOOK = "ends.look", "boots level"
    #: All boots of both have this one figure.
    CONSTANT = "ends.constant", "boots value unit"
    #: Each of these boots of both ends has failed: at the first look (older programs told no
    #: campaign), and of a search that has named no commit.
    ALL_FAIL = "ends.all-fail", "boots campaign"
    ALL_FAILED = "ends.all-failed", "boots campaign"
    #: At both ends the figures of runs right after a checkout or a build lie apart from those of
    #: the runs `behind` them, on one side: medians of the older end.
    FRESH_DIFFER = "ends.fresh-differ", "fresh behind unit"
    COMPARED = "ends.compared", "boots"
    NOT_SEARCHED = "ends.not-searched"
    #: `given` is the end that a merge base stands for.
    NO_BOOTS_LEFT = "ends.no-boots-left", "given"
    IS_GIVEN = "ends.is-given", "given"
    GIVEN_OPEN = "ends.given-open", "given why"
    #: `called` is the option that named the end which the merge base is like.
    OTHER_BRANCH = "ends.other-branch", "base called given command"


class Limits(Kind):
    """One revision against a limit."""

    NOT_BUILT = "limit.not-built", "error"
    FEW_BOOTS = "limit.few-boots", "valid asked why"
    JUDGED = "limit.judged", "mean boots value unit limit"
    OF_METRIC = "limit.of-metric", "metric why"


class Searches(Kind):
    """How a search goes."""

    #: So many `revisions` were built, which left so many different `products`.
    PRODUCTS = "search.products", "revisions products"
    #: `silent` of all `commits` touch no file that the ends were made from.
    SILENT = "search.silent", "silent commits"
    #: From here on boots measure in these windows alone; so many others are left out.
    SHORT_BOOTS = "search.short-boots", "windows left_out"
    #: `builds`, `expected` boots and `wall_s` are in the middle of what is to come, four of five
    #: searches take `low` to `high` boots and `low_s` to `high_s`; `least` and `most` are boots of
    #: a proof.
    EXPECTED = (
        "search.expected",
        "boots p figure builds expected low high wall_s low_s high_s chance least most",
    )
    #: The same after so many boots, which are more than was expected.
    LONGER = "search.longer", "boots expected low high wall_s chance"
    #: The budget of boots, which has grown from one to the other as the forecast asked.
    GROWN = "search.grown", "before most"
    #: The probability of no change before the first boot, of the worst of so many `figures`; `p`
    #: of the check that found it, or None.
    PRIOR = "search.prior", "none figures p"
    #: The expectation as it was told before there were intervals.
    FORECAST = "search.forecast", "boots p figure builds expected wall_s chance least most"
    ENDED = "search.ended", "outcome why"
    #: The time that a person gave is over after so many boots.
    TIME_OVER = "search.time-over", "time_s boots"
    #: So many of the candidates hold 95% of their probability; the likeliest of them has so much.
    STANDS = "search.stands", "candidates holding likeliest probability"
    #: The same of each candidate, oldest first, and of each tested revision how probable it is that
    #: it is like the newer end; `skipped` cannot be tested, `subject` is that of the likeliest
    #: commit, `moved` says whether STANDS was told with it.
    SPREAD = "search.spread", "commits probabilities tested newer skipped subject moved"
    #: Of a budget of `most` boots so many are kept for a proof, and `leading` once a commit leads.
    KEEPS = "search.keeps", "most kept leading"
    #: The search may take so many boots, and others are kept.
    FEW_LEFT = "search.few-left", "left kept"
    #: A person, or the end of the process, has ended the session after so many boots.
    PAUSED = "search.paused", "campaign boots"
    #: A person wants so many more boots of a revision.
    ASKED = "search.asked", "revision boots"
    #: `left` of `most` boots are kept for the proof; a search may not take them.
    KEPT_BOOTS = "search.kept-boots", "left most"
    #: So many of these boots were slowed by something else on the machine.
    DISTURBED = "search.disturbed", "disturbed boots"
    #: The machine changed its speed: of these boots `other` came at another one than the first, at
    #: which figures are so much larger (`effect`); of `unknown` nobody can tell.
    SPEEDS = "search.speeds", "effect other unknown boots"
    #: The machine drifted over these boots: those furthest from the first level are so much larger
    #: or smaller (`effect`).
    DRIFT = "search.drift", "effect boots"
    #: `why` is None where a commit is named, which says more.
    OUTCOME = "search.outcome", "outcome culprit confidence cause why"


class Proofs(Kind):
    """The proof of a culprit."""

    CHECK = "proof.check", "culprit check status note"
    REFUTED = "proof.refuted", "culprit check note"
    NOT_CONFIRMED = "proof.not-confirmed", "culprit check note"
    PROBABILITY = "proof.probability", "culprit probability"
    #: Fresh boots pass and leave the culprit less likely than is `asked`; or no regression more
    #: likely (`none`) than may be (`none_asked`).
    UNLIKELY = "proof.unlikely", "culprit probability asked none none_asked"
    #: `probability` may be None, and `why` in what older programs kept.
    SEARCHED_ON = "proof.searched-on", "culprit probability why"
    BUDGET_ENDED = "proof.budget-ended", "boots"
    BUDGET_ENDED_LATE = "proof.budget-ended-late", "boots"
    #: Why no other proof follows, which no budget changes: a search makes so many `proofs`, and
    #: with the boots of this one it names the same commit.
    LAST = "proof.last", "proofs"
    SAME = "proof.same", "culprit"
    #: Said first of a proven commit where a repair was sought.
    REPAIRS = "proof.repairs"
    TAKEN_BACK = "proof.taken-back", "newer culprit why"
    REVERT_FAILED = "proof.revert-failed", "culprit tip"
    REVERT_NOT_BUILT = "proof.revert-not-built"
    #: Fresh boots of a revision do not confirm what the search believed of it.
    DOUBTED = "proof.doubted"
    #: Revisions that the culprit does not explain, each a LIES_OFF.
    UNEXPLAINED = "proof.unexplained", "revisions"
    LIES_OFF = "proof.lies-off", "revision p"
    ITSELF_OFF = "proof.itself-off", "p"
    PREDICTED = "proof.predicted"
    NOT_OF_END = "proof.not-of-end"


class Attributions(Kind):
    """What makes the effect of a proven culprit."""

    CAUSE = "attribution.cause", "cause why"
    MORE_BOOTS = "attribution.more-boots", "why"
    #: The commit was found in a part of the figure, `why` is of the whole.
    OF_WHOLE = "attribution.of-whole", "figure why"
    SOURCE = "attribution.source", "share kind name"
    FUNCTIONS = "attribution.functions", "revision functions"
    GATE = "attribution.gate", "gate status why"
    FACTOR = "attribution.factor", "why"
    WITHOUT_RT_NOT_BUILT = "attribution.without-rt-not-built", "revision"
    WITHOUT_RT_TOO = "attribution.without-rt-too", "why"
    WITHOUT_RT_SAME = "attribution.without-rt-same", "why"
    WITHOUT_RT_OPEN = "attribution.without-rt-open", "why"


class Parts(Kind):
    """Searches of parts of a range, for more than one culprit."""

    BESIDE = "part.beside", "culprit"
    BETWEEN = "part.between", "between older newer"
    FORKED = "part.forked", "merge parent older"
    OPEN_BRANCH = "part.open-branch", "merge"
    BUDGET_SPENT = "part.budget-spent"
    #: `culprit` and `why` may be None.
    ENDED = "part.ended", "older newer outcome culprit why"
    NO_OTHER_PROVED = "part.no-other-proved"
    #: Of a revision: it was tested in the search for another culprit, which may be None.
    TESTED_FOR = "part.tested-for", "culprit"
