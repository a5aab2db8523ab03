# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the search and its verification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.kinds.search import Checks, Costs, Endings, Untestable
from rtbisect.model.result import CheckName
from rtbisect.words.numbers import further

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

#: Untestable revisions of a set that are named.
_NAMED = 3

_ENDS = "{boots} + {boots} {voice.run}s of the ends"
_P = "(p = {p:.2g}, at most {asked:.2g} is asked)"
_COMPARED = "{base} + {new} {voice.run}s, {why}"
#: A change larger than that of the ends, by luck or because later commits took some back, is all.
_SHARE = "{share:part} the change between the ends"
_WITH = "with probability {probability:probability}"
_AFTER = "after {boots} {voice.run}s"


def _set(data: Mapping[str, Any]) -> str:
    more = further(len(data["untestable"]) - _NAMED)
    named = f"{{untestable:first {_NAMED}}} {more}".rstrip()
    one = f"the {{voice.commit}} is one of {{commits}} commits, {_WITH}"
    return f"{one}; which one cannot be told, as {named}"


def _check(data: Mapping[str, Any]) -> str:
    names = {
        CheckName.BUILDS: "other {voice.build}s with the {voice.commit} and without it",
        CheckName.LAYOUT: "{voice.commit} against its parent in another code layout",
        CheckName.REVERT: "revert on the {voice.newer} end",
        CheckName.KEPT: "no later commit takes it back",
        CheckName.PREDICTION: "tested revisions",
    }
    return names.get(data["check"], "{check}")


SENTENCES: Mapping[str, Words] = {
    Untestable.NO_BUILD: "does not build",
    Untestable.INVALID: "had {runs} invalid {voice.run}s in a row",
    Untestable.SKIPPED: "is skipped by the command",
    Untestable.HUNG: "{voice.hangs}",
    Untestable.NO_BOOT: "does not boot",
    Untestable.REVISION: "{sha:.12} {why}",
    Costs.WORK: "{builds:worked}{boots:.0f} {voice.run}s",
    Endings.NOT_OVER: "the search is not over",
    Endings.EQUAL: "the {voice.older} and the {voice.newer} end {voice.same}",
    Endings.OLDER_UNTESTABLE: "the {voice.older} end {sha:.12} {why}",
    Endings.NEWER_UNTESTABLE: "the {voice.newer} end {sha:.12} {why}",
    Endings.MEASUREMENT: "{why}: the measurement itself does not work",
    Endings.ALIKE: f"{_ENDS} do not differ enough {_P}",
    Endings.MAY_DIFFER: (
        f"{_ENDS} may differ {_P}; a larger {{voice.more_runs}} would probably tell"
    ),
    Endings.STILL: f"{_ENDS} all gave the same figure",
    Endings.SWAPPED: (
        "the {voice.newer} end is better than the {voice.older} end; are the ends swapped?"
    ),
    Endings.CALIBRATION_BUDGET: "the budget ended during the calibration: {spent}",
    Endings.ALIKE_BUDGET: (
        f"{_ENDS} look alike {_P}, and the budget ended during the calibration: {{spent}}"
    ),
    Endings.SEARCH_BUDGET: "the budget ended during the search: {spent}",
    Endings.NOT_BUILT: "{why}; {sha:.12} was not built",
    Endings.NO_LAYOUT: "{why}; {sha:.12} was not seen in another layout",
    Endings.CONTRADICTION: (
        "no single commit is consistent with the revisions whose kernels are equal"
    ),
    Endings.NO_CHANGE: f"there is no {{voice.change}}, {_WITH}, {_AFTER}",
    Endings.LITTLE: (
        "there is no {voice.change}, or one of less than {share:percent} of what the ends differ"
        f" in, {_WITH} ({{none:probability}} that there is none), {_AFTER}"
    ),
    Endings.BUILDS_DIFFER: "{why}: revisions differ as much as the ends do, whatever their code",
    Endings.TWO_CULPRITS: (
        f"there are two {{voice.commit}}s, {_WITH}: {{sha:.12}} lies between {{voice.older}} and"
        " {voice.newer}"
    ),
    Endings.GRADUAL: (
        f"the {{voice.change}} came in many small steps, {_WITH}, {_AFTER}: {{kernels}} revisions"
        " lie between the ends, and no one commit makes it; of the change between the ends,"
        " {stretches:; }"
    ),
    Endings.STRETCH: (
        "{older:.12}..{newer:.12} has {share:percent} ({low:percent} to {high:percent})"
    ),
    Endings.INSEPARABLE: "no test that is possible tells the remaining candidates apart",
    Endings.CULPRIT: f"the {{voice.commit}} is {{sha:.12}}, {_WITH}, {_AFTER}",
    Endings.MERGE: "{why}; it is a merge, and none of its {parents} parents is {voice.newer}",
    Endings.LIKELY_CULPRIT: (
        f"the {{voice.commit}} is {{sha:.12}}, {_WITH}, or there is no {{voice.change}}, with"
        f" {{none:.2g}}, {_AFTER}; the proof has to make sure"
    ),
    Endings.CULPRIT_SET: _set,
    Endings.ORPHAN: (
        f"the {{voice.commit}} is {{sha:.12}}, {_WITH}, and has no parent to compare it with"
    ),
    Checks.PARENT: "{voice.commit} against its parent {parent}",
    Checks.NAMED: _check,
    Checks.OPEN: "more {voice.run}s are due",
    Checks.NO_LAYOUT: "{sha:.12} does not build or run with another layout",
    Checks.BUILDS: (
        "{base} + {new} {voice.build}s that the search had not measured; between the sides: {why};"
        " between {voice.build}s of the same side: {spread} (standard deviation)"
    ),
    Checks.SURELY_LESS: "{effect}, surely less than half of the change between the ends",
    Checks.TOO_FEW_BUILDS: (
        "there are too few other {voice.build}s of both sides to say how far {voice.build}s of the"
        " same side differ"
    ),
    Checks.NO_REVERT: "the revert does not apply to the {voice.newer} end",
    Checks.REVERT_IS_PARENT: (
        "the {voice.newer} end without this commit is its parent {parent:.12}, which is compared"
        " already"
    ),
    Checks.COMPARED: _COMPARED,
    Checks.EXPLAINS: f"{_COMPARED}; that is {_SHARE}",
    Checks.EXPLAINS_PART: (
        f"{_COMPARED}; that is {_SHARE}, so there may be a second {{voice.commit}}"
    ),
    Checks.TAKES_BACK: f"{_COMPARED}; the revert takes back {_SHARE}",
    Checks.LUCK: "{effect}; as few {voice.run}s of the two ends would often differ as little",
    Checks.NOT_RULED_OUT: (
        "{effect}; so few {voice.run}s do not rule out the smallest effect that counts"
    ),
}
