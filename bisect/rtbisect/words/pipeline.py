# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of a campaign's story and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.campaign import Level, Outcome
from rtbisect.model.kinds.pipeline import (
    Attributions,
    Ends,
    Joined,
    Limits,
    Parts,
    Proofs,
    Reasons,
    Searches,
    Work,
)
from rtbisect.model.lab import RunStatus
from rtbisect.search.spec import BootPurpose
from rtbisect.words.metrics import phrases_of, seen_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

#: Functions that a line of the story names.
_NAMED = 4
#: What a boot is for, in words: of an end and of the one kernel of a limit that says nothing.
_PURPOSES = {
    BootPurpose.CALIBRATE: "calibration",
    BootPurpose.LAYOUT: "other layout",
    BootPurpose.RECHECK_END: "check of an end",
    BootPurpose.VERIFY: "proof",
    BootPurpose.REVERT: "proof",
    BootPurpose.BUILDS: "proof, other {voice.build}",
    BootPurpose.GIVEN: "the end that was asked for",
    BootPurpose.BASE: "",
    BootPurpose.TIP: "",
    BootPurpose.TRY: "",
}
#: Of kernels that the search has named.
_AFTER_SEARCH = (BootPurpose.VERIFY, BootPurpose.CAUSE, BootPurpose.WITHOUT_RT)
_VALUE = "{value:in {unit}}"
#: What a campaign found, or the search of a part of its range.
OUTCOMES = {
    Outcome.CULPRIT: "commit {culprit:.12}",
    Outcome.CULPRIT_SET: "one of several commits, which the boots do not tell apart",
    Outcome.MULTIPLE_CULPRITS: "more than one commit",
    Outcome.MERGE_CULPRIT: "a merge, and none of its parents alone",
    Outcome.NO_REGRESSION: "nothing got worse",
    Outcome.NOT_REPRODUCED: "the change did not show again",
    Outcome.INCONCLUSIVE: "the boots do not settle which commit it is",
    Outcome.NOOP: "the commit builds the same kernel as its parent",
    Outcome.LAYOUT_SENSITIVE: "it follows the layout of the code and no commit",
    Outcome.GRADUAL: "it came in many small steps, and no one commit makes it",
}
_STATUS = {
    RunStatus.BOOT_FAILED: "failed",
    RunStatus.HUNG: "hung",
    RunStatus.INVALID: "is invalid",
    RunStatus.SKIPPED: "was skipped",
}


def _purpose(data: Mapping[str, Any]) -> str:
    return _PURPOSES.get(data["purpose"], "{purpose}")


def _kernel(data: Mapping[str, Any]) -> str:
    """The kernel of a boot, by what is known of it where it is booted."""
    if data["purpose"] == BootPurpose.REVERT:
        return "{revision:proven revert}"
    return "{revision:proven}" if data["purpose"] in _AFTER_SEARCH else "{revision:kernel}"


def _label(data: Mapping[str, Any], kernel: str = "{revision:kernel}") -> str:
    return f"{kernel} {{variant}}" if data["variant"] else kernel


def _built(data: Mapping[str, Any]) -> str:
    # Of what a command builds nobody knows whether two builds are the same.
    signature = ", kernel signature {signature:.12}" if data["signature"] else ""
    return f"built {_label(data)} in {{wall_s:duration}}{signature}"


def _booting(data: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, ("{voice.run} {number}", _purpose(data), _kernel(data))))


def _figure(data: Mapping[str, Any]) -> str:
    where = ", ".join(filter(None, (_purpose(data), _label(data, _kernel(data)))))
    seen = seen_in(data["metric"], data["value"])
    return f"{where}: {seen or '{metric:before}{value:seen {unit}}'}"


def _figure_of(data: Mapping[str, Any], where: str = "") -> str:
    """One of several figures of a boot."""
    key = f"{data['suite']}.{data['name']}"
    phrases = phrases_of(key)
    name = phrases.name if phrases else "{suite}.{name}"
    return (seen_in(key, data["value"]) or f"{name} {_VALUE}") + where


def _figure_in(data: Mapping[str, Any]) -> str:
    """The same of one that the boot tells in several windows."""
    if not data["beside"]:
        return _figure_of(data, " in window {window}")
    level = "no workload" if data["beside"] == "none" else "{beside}"
    return _figure_of(data, f" with {level}")


def _boot_ended(data: Mapping[str, Any]) -> str:
    purpose = f" ({told})" if (told := _purpose(data)) else ""
    status = _STATUS.get(data["status"], "{status}")
    why = ": {why}" if data["why"] else ""
    return f"{{voice.run}} {{number}} of {_kernel(data)}{purpose} {status}{why}"


def _few_boots(data: Mapping[str, Any]) -> str:
    few = "only {valid} of {asked} boots are valid"
    return f"{few}: {{why}}" if data["why"] else few


def _all_fail(data: Mapping[str, Any]) -> str:
    where = " (run/{campaign}/ of the state directory)" if "campaign" in data else ""
    return (
        "all {boots} + {boots} {voice.run}s of the ends fail: the command may fail for a reason of"
        f" its own, as what it printed tells{where}"
    )


def _limit(data: Mapping[str, Any]) -> str:
    middle = "mean" if data["mean"] else "median"
    return f"{middle} of {{boots:many boot}} {_VALUE}, limit {{limit:in {{unit}}}}"


def _look(data: Mapping[str, Any]) -> str:
    said = {Level.REGRESSED: "{voice.changed}", Level.PASS: "no change that counts"}
    level = said.get(data["level"], "{level}")
    return f"{{boots}} + {{boots}} {{voice.run}}s of the ends: {level}"


def _prior(data: Mapping[str, Any]) -> str:
    said = "before any {voice.run} the probability of no {voice.change} is {none:probability}"
    if data["p"] is not None:
        said += "; a check of the same ends has found the figure worse (p = {p:.2g})"
    return said + ("; the searched figure is the worst of {figures}" if data["figures"] > 1 else "")


def _forecast(data: Mapping[str, Any]) -> str:
    where = " {figure}" if data["figure"] else ""
    return (
        f"{{boots}} + {{boots}} {{voice.run}}s of the ends show the change{where} (p = {{p:.2g}});"
        " the search is expected to take {builds:built}{expected:.0f} {voice.run}s,"
        " {wall_s:duration}, and to name a commit within the budget with probability"
        " {chance:probability}; the proof usually takes {least} to {most} {voice.run}s"
    )


def _range(data: Mapping[str, Any]) -> str:
    """Of boots to come."""
    one = round(data["low"]) == round(data["high"])
    return "{low:.0f}" if one else "{low:.0f} to {high:.0f}"


def _speeds(data: Mapping[str, Any]) -> str:
    return (
        "{voice.run}s have two levels, whatever the revision ({effect}): {other} of {boots} are at"
        " another level than the first ones, and are corrected for it"
    ) + ("; {unknown} whose level is unclear are left out" if data["unknown"] else "")


def _longer(data: Mapping[str, Any]) -> str:
    return (
        "the search takes longer than expected: after {boots} {voice.run}s some {expected:.0f} more"
        f" ({_range(data)}), {{wall_s:duration}}; within the budget it names a commit with"
        " probability {chance:probability}"
    )


def _expected(data: Mapping[str, Any]) -> str:
    where = " {figure}" if data["figure"] else ""
    return (
        f"{{boots}} + {{boots}} {{voice.run}}s of the ends show the change{where} (p = {{p:.2g}});"
        " the search is expected to take {builds:built}{expected:.0f} {voice.run}s,"
        f" {{wall_s:duration}} (four of five searches like it take {_range(data)}"
        " {voice.run}s, {low_s:duration} to {high_s:duration}), and to name a commit within the"
        " budget with probability {chance:probability}; the proof usually takes {least} to {most}"
        " {voice.run}s"
    )


def _outcome(data: Mapping[str, Any]) -> str:
    culprit = " {culprit:.12}" if data["culprit"] else ""
    confidence = ", confidence {confidence:probability}" if data["confidence"] else ""
    cause = ", cause {cause}" if data["cause"] else ""
    # Older programs did not keep the reason.
    why = ": {why}" if data.get("why") else ""
    return f"outcome: {{outcome}}{culprit}{confidence}{cause}{why}"


def _stands(data: Mapping[str, Any]) -> str:
    hold = "holds" if data["holding"] == 1 else "hold"
    return (
        f"{{holding}} of {{candidates}} commits {hold} 95% of the probability, if a commit did it;"
        " likeliest: {likeliest:.12}, {probability:probability}"
    )


def _dies_more(data: Mapping[str, Any]) -> str:
    how = " ({how})" if data["how"] else ""
    return (
        f"{{dead}} of {{boots}} boots of {{revision:kernel}} hang or die{how}, {{base_dead}} of"
        " {base_boots} of {base:kernel}: no figure of the other boots makes up for that"
    )


def _keeps(data: Mapping[str, Any]) -> str:
    more = ", and up to {leading} once a commit leads" if data["leading"] > data["kept"] else ""
    return f"{{kept}} of the {{most}} {{voice.run}}s are kept for the proof{more}"


def _check(data: Mapping[str, Any]) -> str:
    # Campaigns that began before it was told do not say of which commit.
    whose = "proof of {culprit:.12}" if data.get("culprit") else "proof"
    return f"{whose}, {{check}}: {{status}}" + (": {note}" if data["note"] else "")


def _functions(data: Mapping[str, Any]) -> str:
    """How many functions, and the first of them."""
    functions = data["functions"]
    if not functions:
        return "{revision:.12} changes the code of no function that a build tells of"
    number = "1 function" if len(functions) == 1 else f"{len(functions)} functions"
    more = ", ..." if len(functions) > _NAMED else ""
    return f"{{revision:.12}} changes the code of {number}: {{functions:first {_NAMED}}}{more}"


def _part(data: Mapping[str, Any]) -> str:
    outcome = OUTCOMES.get(data["outcome"], "{outcome}")
    why = ": {why}" if data["why"] else ""
    return f"found in {{older:.12}}..{{newer:.12}}: {outcome}{why}"


def _tested_for(data: Mapping[str, Any]) -> str:
    return "tested for {culprit:.12}" if data["culprit"] else "tested for "


def _unlikely(data: Mapping[str, Any]) -> str:
    told = (
        "with the fresh {voice.run}s the probability of {culprit:.12} is {probability:probability}"
    )
    if data["probability"] < data["asked"]:
        return f"{told} (at least {{asked:g}} is asked)"
    none = "that of no {voice.change} {none:probability} (at most {none_asked:g} is asked)"
    return f"{told}, and {none}"


def _searched_on(data: Mapping[str, Any]) -> str:
    told = (
        "fresh {voice.run}s of {culprit:.12}, which the search named, leave it a probability of"
        " {probability:probability}"
    )
    return f"{'{why}' if data['why'] else told}; the search goes on with these {{voice.run}}s"


def _products(data: Mapping[str, Any]) -> str:
    built = "{revisions} built revisions have"
    if data["products"] < data["revisions"]:
        return f"{built} {{products}} different products; those with equal ones share their runs"
    # Nobody knows whether they should: each commit may change the code.
    return (
        f"{built} a different product each: if your build writes its revision or time into them,"
        " --product saves nothing"
    )


_NAMED_BUT = "the search named {culprit:.12}, but fresh {voice.run}s"
_NO_RT = "without PREEMPT_RT"
#: A figure in plain words, and its key.
_METRIC = "{metric:metric} ({metric})"

SENTENCES: Mapping[str, Words] = {
    Reasons.JUDGED: f"{_METRIC}: {{level}}: {{why}}",
    Reasons.OBJECTION: "{gate}: {why}",
    Reasons.MISASKED: "{message}",
    Joined.AND: "{findings:; }",
    Joined.SENTENCE: "{findings:sentence}",
    Work.BUILDING: lambda data: f"building {_label(data)}",
    Work.BUILT: _built,
    Work.REUSED: lambda data: (
        f"took {_label(data)} from the cache of builds, kernel signature {{signature:.12}}"
    ),
    Work.NOT_BUILT: lambda data: f"{_label(data)} does not build: {{error}}",
    Work.SKIPPED: "{revision:.12} is skipped: {why}",
    Work.SAME_PRODUCT: (
        "{revision:.12} and {other:.12} build the same products: their {voice.run}s are shared"
    ),
    Work.TREES_KEPT: (
        "a built tree takes {size:size}, and {free:size} are free:"
        " up to {trees:many tree} will be kept (--keep-builds)"
    ),
    Work.BOOTING: _booting,
    Work.BOOT_ENDED: _boot_ended,
    Work.FIGURE: _figure,
    Work.FIGURES: "{revision:kernel}: {figures}",
    Work.FIGURE_OF: _figure_of,
    Work.FIGURE_IN: _figure_in,
    Ends.RANGE: (
        "{commits:many candidate}: the commits after the {voice.older} end {older:.12}, up to the"
        " {voice.newer} end {newer:.12}"
    ),
    Ends.MERGE_BASE: (
        "the {voice.older} end {given:.12} is no ancestor of the {voice.newer} end;"
        " their merge base takes its place"
    ),
    Ends.SEVERAL: (
        "measured as the {voice.older} end: {older:.12}; commits in the history of"
        " {others:many other revision} called {voice.older} are no candidates"
    ),
    Ends.PATHS: "only commits that touch {paths} were candidates (--path)",
    Ends.OUTSIDE: (
        "the change is outside of {paths}: it came after {older:.12}, up to {newer:.12}, with"
        " commits that touch none of these paths (probability {probability:.3f}): search these"
        " without --path"
    ),
    Ends.UNCOMMITTED: (
        "what is not committed is not tested: {files:many changed file}, as {first}"
        " (--overlay lays files over each revision)"
    ),
    Ends.UNFETCHED: (
        "the clone has no contents of {files:many file} of Git LFS in {revision:.12}, as {first}:"
        " commands see the pointers; get them with `git lfs fetch --all`"
    ),
    Ends.SEARCHED_ON: f"{{voice.changed}}: {_METRIC}, {{why}}; the search goes by it",
    Ends.SAME: "both revisions are the same kernel, byte for byte",
    Ends.NOT_BUILT: "{revision:.12} does not build: {error}",
    Ends.NO_EVIDENCE: "{boots} boots of {revision:kernel} in a row are invalid: {why}",
    Ends.DIES_MORE: _dies_more,
    Ends.LOOK: _look,
    Ends.CONSTANT: (
        "all {boots} + {boots} {voice.run}s of the ends have the same figure,"
        " {value:in {unit}}: does it measure what changed?"
    ),
    Ends.ALL_FAIL: lambda data: f"{_all_fail(data)}. If it does, press Ctrl-C",
    Ends.ALL_FAILED: _all_fail,
    Ends.FRESH_DIFFER: (
        "at both ends a {voice.run} right after a checkout or build differs from later ones:"
        " {fresh:in {unit}}, then {behind:in {unit}}. A command that first warms up, as -- sh -c"
        " './bench >/dev/null; ./bench', needs fewer {voice.run}s: to search with it press Ctrl-C"
        " and begin anew"
    ),
    Ends.COMPARED: "{boots} + {boots} boots compared",
    Ends.NOT_SEARCHED: "the range was not searched: `rtbisect bisect` finds the commit",
    Ends.NO_BOOTS_LEFT: (
        "no boots are left to compare {given:.12}, which the merge base stands for"
    ),
    Ends.IS_GIVEN: (
        "the merge base measures like the {voice.newer} end; next is {given:.12}, the revision that"
        " you gave"
    ),
    Ends.GIVEN_OPEN: "whether {given:.12} differs is open: {why}",
    Ends.OTHER_BRANCH: (
        "the merge base {base:.12} is like the end that was called {called};"
        " the change came on the side of {given:.12} after it: `{command}`"
    ),
    Limits.NOT_BUILT: "does not build: {error}",
    Limits.FEW_BOOTS: _few_boots,
    Limits.JUDGED: _limit,
    Limits.OF_METRIC: f"{_METRIC}: {{why}}",
    Searches.PRODUCTS: _products,
    Searches.SILENT: (
        "{silent} of {commits} commits touch no file that the ends are built from: they cannot be"
        " the {voice.commit}"
    ),
    Searches.SHORT_BOOTS: (
        "boots of the search measure only what this figure needs, in the windows {windows}; the"
        " proof measures in the other {left_out:many window}, too"
    ),
    Searches.EXPECTED: _expected,
    Searches.LONGER: _longer,
    Searches.GROWN: (
        "the budget grows from {before} to {most} {voice.run}s, which this search likely needs;"
        " {voice.more_runs} gives another one"
    ),
    Searches.PRIOR: _prior,
    Searches.FORECAST: _forecast,
    Searches.ENDED: "the search ends: {why}",
    Searches.ASKED: "{boots:many more {voice.run}} of {revision:kernel}, as asked",
    Searches.KEPT_BOOTS: (
        "{left} of {most} {voice.run}s are kept for the proof; {voice.more_runs} allows more"
    ),
    Searches.DISTURBED: (
        "{disturbed} of {boots} {voice.run}s lie far beyond all others of both ends, probably"
        " because something else used the machine: they are left out"
    ),
    Searches.SPEEDS: _speeds,
    Searches.DRIFT: (
        "the machine drifted during these {boots} {voice.run}s ({effect} where it was furthest from"
        " its first level), whatever they measured; they count as if it had not"
    ),
    Searches.TIME_OVER: (
        "the time of {time_s:duration} is over after {boots} {voice.run}s;"
        " the answer is what they tell"
    ),
    Searches.STANDS: _stands,
    Searches.SPREAD: "probability by commit, oldest first, 8 the highest: {probabilities:strip}",
    Searches.KEEPS: _keeps,
    Searches.FEW_LEFT: (
        "the search may take {left:many {voice.run}} more: {kept} of the budget are kept for the"
        " proof; {voice.more_runs} allows more"
    ),
    Searches.PAUSED: ("{campaign} is paused after {boots:many {voice.run}}"),
    Searches.OUTCOME: _outcome,
    Proofs.CHECK: _check,
    Proofs.REFUTED: f"{_NAMED_BUT} refute it: {{check}}: {{note}}",
    Proofs.NOT_CONFIRMED: (f"{_NAMED_BUT} do not confirm it: {{check}}: {{note}}"),
    Proofs.PROBABILITY: (
        "{culprit:.12} has a probability of {probability:probability} with the {voice.run}s of the"
        " proof"
    ),
    Proofs.UNLIKELY: _unlikely,
    Proofs.SEARCHED_ON: _searched_on,
    Proofs.BUDGET_ENDED: "the budget of {boots} {voice.run}s ended during the proof",
    Proofs.BUDGET_ENDED_LATE: (
        "the budget of {boots} {voice.run}s ended before the revert was decided"
    ),
    Proofs.LAST: (
        "a search makes {proofs:many proof} at most, and the last one has had all its"
        " {voice.run}s: a larger budget changes nothing"
    ),
    Proofs.SAME: (
        "with the {voice.run}s of the proof the search still names {culprit:.12}, and to prove it"
        " again would only ask luck twice: a larger budget changes nothing"
    ),
    Proofs.REPAIRS: "this commit repairs it",
    Proofs.TAKEN_BACK: (
        "{newer:.12} is better than {culprit:.12} again, {why}: a commit"
        " between them takes back a part of what this one does"
    ),
    Proofs.REVERT_FAILED: "the revert of {culprit:.12} does not apply to {tip:.12}",
    Proofs.REVERT_NOT_BUILT: (
        "the revert applies to the {voice.newer} end, but the result does not build"
    ),
    Proofs.DOUBTED: "fresh {voice.run}s do not confirm what the search found",
    Proofs.UNEXPLAINED: "tested revisions that this commit does not explain: {revisions}",
    Proofs.LIES_OFF: "{revision:.12} (p = {p:.2g})",
    Proofs.ITSELF_OFF: (
        "{voice.run}s of this commit itself lie further off than predicted (p = {p:.2g})"
    ),
    Proofs.PREDICTED: "all tested revisions are as this commit predicts",
    Proofs.NOT_OF_END: "all but the {voice.newer} end are as this commit predicts",
    Attributions.CAUSE: "cause: {cause}: {why}",
    Attributions.MORE_BOOTS: "cause: {why}; both kernels are booted more often",
    Attributions.OF_WHOLE: "the commit was found {figure}; of the whole figure: {why}",
    Attributions.SOURCE: "source of {share:percent} of the change: {kind}: {name}",
    Attributions.FUNCTIONS: _functions,
    Attributions.GATE: "gate {gate}: {status}: {why}",
    Attributions.FACTOR: "factor: {why}",
    Attributions.WITHOUT_RT_NOT_BUILT: (
        f"{_NO_RT} {{revision:.12}} does not build, so nobody knows who is concerned"
    ),
    Attributions.WITHOUT_RT_TOO: f"{_NO_RT} the kernels differ too: {{why}}",
    Attributions.WITHOUT_RT_SAME: f"{_NO_RT} the kernels do not differ: {{why}}",
    Attributions.WITHOUT_RT_OPEN: f"{_NO_RT} the boots do not decide: {{why}}",
    Parts.BESIDE: "{culprit:.12} does not explain the whole change; searching beside it",
    Parts.BETWEEN: (
        "{between:.12} lies between {older:.12} and {newer:.12}; searching on both sides of it"
    ),
    Parts.FORKED: (
        "{merge:.12} merges {parent:.12}, which forked before {older:.12}; searching there"
    ),
    Parts.OPEN_BRANCH: "{merge:.12} or a commit that it merges; its branch is open",
    Parts.BUDGET_SPENT: "the budget is spent",
    Parts.ENDED: _part,
    Parts.NO_OTHER_PROVED: "there is more than this one culprit; no other one is proved",
    Parts.TESTED_FOR: _tested_for,
}
