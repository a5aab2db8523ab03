# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the answer of `rtbisect run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.kinds.answer import Answered, Broken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

_SIDES = "{metric:metric}: {before} before, {after} after"
_LEVEL = "95% intervals"
_WHETHER = "to tell whether it is code or layout"
_NOTHING = "nothing could be measured at {ends:kernels}: "
_NO_RUN = "nothing could be measured in {runs:many run} of {ends:kernels}: "


def _chart(data: Mapping[str, Any]) -> str:
    part = "" if data["shown"] == data["tested"] else "{shown} of "
    scale = ", height from {low:in {unit}} to {high:in {unit}}" if data["low"] is not None else ""
    marks = [
        "{voice.older:.1} {voice.older}",
        "{voice.newer:.1} {voice.newer}",
        *(["C {voice.commit}"] if data["named"] else []),
        *(["x skipped"] if data["skipped"] else []),
        *(["? open"] if data["open"] else []),
    ]
    return f"{part}{{tested:many tested revision}}, oldest first{scale}; {', '.join(marks)}"


def _tells(data: Mapping[str, Any]) -> str:
    where = 'docs/run.md, "A layout for each run"'
    if not data["command"]:
        return f"{_WHETHER}: search with --relayout and a --build for it ({where})"
    second = f" (--relayout tells it, too: {where})" if data["relayout"] else ""
    return f"{_WHETHER}{second}: {{command}}"


SENTENCES: Mapping[str, Words] = {
    Answered.SIDE: "{value:in {unit}} ({low:in {unit}} to {high:in {unit}}, {runs:many run})",
    Answered.SHARE: "{value:percent} ({low:percent} to {high:percent}, {runs:many run})",
    Answered.DIFFERENCE: (
        f"{_SIDES}: {{effect:+in {{unit}}}} ({{low:+in {{unit}}}} to {{high:+in {{unit}}}});"
        f" {_LEVEL}"
    ),
    Answered.RATIO: (
        f"{_SIDES}: {{effect:number}} times ({{low:number}} to {{high:number}}); {_LEVEL}"
    ),
    Answered.SHARES: f"failing runs: {{before}} before, {{after}} after; {_LEVEL}",
    Answered.SIDES: f"{_SIDES}; {_LEVEL}",
    Answered.OF_COMMIT: "{sha:.12}: {change}",
    Answered.CHART: _chart,
    Answered.LAYOUTS: "each run was linked with a code layout of its own",
    Answered.CANDIDATE: "{sha:.12} {probability:probability}",
    Answered.CANDIDATES: lambda data: (
        "likeliest: {candidates}" + (", and {more} others" if data["more"] else "")
    ),
    Answered.REST: (
        "this is {share:percent} of the change between the ends; to find the rest: {command}"
    ),
    Answered.TELLS: _tells,
    Answered.BY_COUNTS: "instructions hardly vary, so that a search by them is short: {command}",
    Answered.NEXT: "next: {command}",
    Broken.NOT_BUILT: (
        f"{_NOTHING}neither builds ({{error}}); see run/{{campaign}}/build-*.log of the state"
        " directory, and try --build by hand"
    ),
    Broken.LATE: (
        f"{_NO_RUN}each took longer than {{limit_s:g}} s; give a larger --timeout, or look at why"
        " the command does not end"
    ),
    Broken.NOT_THERE: (f"{_NOTHING}{{why}}; bring it along with --overlay, or let --build make it"),
    Broken.NOT_RUN: (
        f"{_NO_RUN}the exit code {{code}} says that there is no such program; install what the"
        " command starts, or mend its path"
    ),
    Broken.NO_FIGURE: lambda data: (
        f"{_NO_RUN}{{why}}; see run/{{campaign}}/ of the state directory, and try the command by"
        f" hand{', and the search without --relayout' if data['moved'] else ''}"
    ),
}
