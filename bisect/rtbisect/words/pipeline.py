# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of a campaign's story and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

#: Functions that a line of the story names.
_NAMED = 4


def _label(data: Mapping[str, Any]) -> str:
    return "{revision:.12} {variant}" if data["variant"] else "{revision:.12}"


def _figure(data: Mapping[str, Any]) -> str:
    return f"{{purpose}} {_label(data)}: {{metric}} = {{value:.4g}}{{unit:unit}}"


def _boot_ended(data: Mapping[str, Any]) -> str:
    ended = "{voice.run} {number} of {revision:.12} ({purpose}): {status}: "
    return f"{ended}{{why}}" if data["why"] else ended


def _few_boots(data: Mapping[str, Any]) -> str:
    few = "only {valid} of {asked} boots are evidence"
    return f"{few}: {{why}}" if data["why"] else few


def _limit(data: Mapping[str, Any]) -> str:
    middle = "mean" if data["mean"] else "median"
    return f"{middle} of {{boots:many boot}} {{value:.4g}}{{unit:unit}}, limit {{limit:.4g}}"


def _forecast(data: Mapping[str, Any]) -> str:
    where = " {figure}" if data["figure"] else ""
    return (
        "reproduced with {boots}+{boots} {voice.run}s (p = {p:.2g})"
        f"{where}; expected: {{builds:built}}{{expected:.0f}} {{voice.run}}s, {{wall_s:duration}},"
        " chance to name a commit within the budget {chance:.2f},"
        " then {least} to {most} or more to prove it"
    )


def _outcome(data: Mapping[str, Any]) -> str:
    culprit = " {culprit:.12}" if data["culprit"] else ""
    confidence = ", confidence {confidence:.3f}" if data["confidence"] else ""
    cause = ", cause {cause}" if data["cause"] else ""
    return f"outcome: {{outcome}}{culprit}{confidence}{cause}"


def _check(data: Mapping[str, Any]) -> str:
    return "verify: {check}: {status} {note}" if data["note"] else "verify: {check}: {status}"


def _functions(data: Mapping[str, Any]) -> str:
    """How many functions, and the first of them."""
    functions = data["functions"]
    if not functions:
        return "{revision:.12} changes the code of no function that a build tells of"
    number = "1 function" if len(functions) == 1 else f"{len(functions)} functions"
    more = ", ..." if len(functions) > _NAMED else ""
    return f"{{revision:.12}} changes the code of {number}: {{functions:first {_NAMED}}}{more}"


def _part(data: Mapping[str, Any]) -> str:
    culprit = " {culprit:.12}" if data["culprit"] else ""
    why = ": {why}" if data["why"] else ""
    return f"{{older:.12}}..{{newer:.12}}: {{outcome}}{culprit}{why}"


def _tested_for(data: Mapping[str, Any]) -> str:
    return "tested for {culprit:.12}" if data["culprit"] else "tested for "


_NAMED_BUT = "the search named {culprit:.12}, which is"
_NO_RT = "without PREEMPT_RT"

SENTENCES: Mapping[str, Words] = {
    Reasons.JUDGED: "{metric}: {level}: {why}",
    Reasons.OBJECTION: "{gate}: {why}",
    Reasons.MISASKED: "{message}",
    Joined.AND: "{findings:; }",
    Joined.SENTENCE: "{findings:sentence}",
    Work.BUILDING: lambda data: f"build {_label(data)}",
    Work.BUILT: lambda data: (
        f"built {_label(data)} ({{wall_s:.0f}} s), kernel signature {{signature:.12}}"
    ),
    Work.REUSED: lambda data: (
        f"built {_label(data)} (taken from the cache), kernel signature {{signature:.12}}"
    ),
    Work.NOT_BUILT: lambda data: f"{_label(data)} does not build: {{error}}",
    Work.BOOTING: "{voice.run} {number}: {revision:.12} ({purpose})",
    Work.BOOT_ENDED: _boot_ended,
    Work.FIGURE: _figure,
    Work.FIGURES: "{side} {revision:.12}: {figures}",
    Work.FIGURE_OF: "{suite}.{name} {value:.4g}{unit:unit}",
    Ends.RANGE: (
        "{commits} candidates between {older:.12} ({voice.older}) and {newer:.12} ({voice.newer})"
    ),
    Ends.MERGE_BASE: (
        "{voice.older} {given:.12} is no ancestor of {voice.newer};"
        " their merge base takes its place"
    ),
    Ends.SEARCHED_ON: "{voice.changed}: {metric}: {why}; searching on it",
    Ends.SAME: "both revisions are the same kernel, byte for byte",
    Ends.NOT_BUILT: "{revision:.12} does not build: {error}",
    Ends.NO_EVIDENCE: "{revision:.12}: {boots} boots in a row are no evidence: {why}",
    Ends.LOOK: "look at {boots}+{boots} boots: {level}",
    Ends.COMPARED: "{boots}+{boots} boots compared",
    Ends.NOT_SEARCHED: "the range was not searched: `rtbisect bisect` finds the commit",
    Ends.NO_BOOTS_LEFT: (
        "no boots are left to compare {given:.12}, which the merge base stands for"
    ),
    Ends.IS_GIVEN: "the merge base is like the other end; is {given:.12}, which it stands for?",
    Ends.GIVEN_OPEN: "whether {given:.12} differs is open: {why}",
    Ends.OTHER_BRANCH: (
        "the merge base {base:.12} is like the end that was called {called};"
        " the change came on the side of {given:.12} after it: `{command}`"
    ),
    Limits.NOT_BUILT: "does not build: {error}",
    Limits.FEW_BOOTS: _few_boots,
    Limits.JUDGED: _limit,
    Limits.OF_METRIC: "{metric}: {why}",
    Searches.SILENT: "{silent} of {commits} commits touch no file that the ends were made from",
    Searches.FORECAST: _forecast,
    Searches.ENDED: "search ends: {outcome}: {why}",
    Searches.KEPT_BOOTS: (
        "{left} of {most} {voice.run}s are kept for the proof; {voice.more_runs} allows more"
    ),
    Searches.OUTCOME: _outcome,
    Proofs.CHECK: _check,
    Proofs.REFUTED: f"{_NAMED_BUT} refuted by fresh {{voice.run}}s: {{check}}: {{note}}",
    Proofs.NOT_CONFIRMED: (
        f"{_NAMED_BUT} not confirmed by fresh {{voice.run}}s: {{check}}: {{note}}"
    ),
    Proofs.PROBABILITY: (
        "{culprit:.12} has a probability of {probability:.3f} with the {voice.run}s of the proof"
    ),
    Proofs.BUDGET_ENDED: "the budget of {boots} {voice.run}s ended during the proof",
    Proofs.BUDGET_ENDED_LATE: (
        "the budget of {boots} {voice.run}s ended before the revert was decided"
    ),
    Proofs.REPAIRS: "this commit repairs it",
    Proofs.TAKEN_BACK: (
        "{newer:.12} is better than {culprit:.12} again, {why}: a commit"
        " between them takes back a part of what this one does"
    ),
    Proofs.REVERT_FAILED: "the revert of {culprit:.12} does not apply to {tip:.12}",
    Proofs.REVERT_NOT_BUILT: "the revert applies to the tip but does not build",
    Proofs.DOUBTED: "the verification does not bear the search out",
    Proofs.UNEXPLAINED: "tested revisions that this commit does not explain: {revisions}",
    Proofs.LIES_OFF: "{revision:.12} (p = {p:.2g})",
    Proofs.ITSELF_OFF: (
        "{voice.run}s of this commit itself lie further off than predicted (p = {p:.2g})"
    ),
    Proofs.PREDICTED: "all tested revisions lie where this commit puts them",
    Proofs.NOT_OF_END: "not of the {voice.newer} end",
    Attributions.CAUSE: "cause: {cause}: {why}",
    Attributions.MORE_BOOTS: "cause: {why}; more boots of both kernels",
    Attributions.OF_WHOLE: "the commit was found {figure}; of the whole figure: {why}",
    Attributions.SOURCE: "source: {share:percent} of the change: {kind}: {name}",
    Attributions.FUNCTIONS: _functions,
    Attributions.GATE: "gate {gate}: {status}: {why}",
    Attributions.FACTOR: "factor: {why}",
    Attributions.WITHOUT_RT_NOT_BUILT: (
        f"{_NO_RT} {{revision:.12}} does not build, so nobody knows who is concerned"
    ),
    Attributions.WITHOUT_RT_TOO: f"{_NO_RT} the kernels differ too: {{why}}",
    Attributions.WITHOUT_RT_SAME: f"{_NO_RT} the kernels do not differ: {{why}}",
    Attributions.WITHOUT_RT_OPEN: f"{_NO_RT} the boots do not decide: {{why}}",
    Parts.BESIDE: "{culprit:.12} does not explain the whole shift; searching beside it",
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
