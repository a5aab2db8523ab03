# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the screen of a campaign: a short line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.kinds.screen import Line, Shown
from rtbisect.search.spec import BootPurpose
from rtbisect.words.metrics import seen_in
from rtbisect.words.numbers import duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

#: What a boot is for. What is searched may be any figure, of a kernel or of a command.
_WHY = {
    BootPurpose.CALIBRATE: "do the ends differ, and how much does the figure vary?",
    BootPurpose.SEARCH: "it is expected to narrow the range most for its time",
    BootPurpose.CONTROL: "a known revision again: has the machine drifted?",
    BootPurpose.RECHECK_END: "an end again: does the measurement still work?",
    BootPurpose.LAYOUT: "the same code at other addresses: does that make the difference?",
    BootPurpose.VERIFY: "proof: the commit and its parent in turn, on fresh {voice.run}s",
    BootPurpose.BUILDS: "proof: other {voice.build}s with the commit and without it",
    BootPurpose.REVERT: "proof: does a revert bring the figure back?",
    BootPurpose.CAUSE: "with and without the workload: which of them makes the difference?",
    BootPurpose.WITHOUT_RT: "does it need PREEMPT_RT?",
    BootPurpose.GIVEN: "the end that you asked for",
    BootPurpose.BASE: "which figures differ between the ends?",
    BootPurpose.TIP: "which figures differ between the ends?",
}
_LIKE = {
    "older": ", like the {voice.older} end",
    "newer": ", like the {voice.newer} end",
    "open": ", still open",
}


def _change(data: Mapping[str, Any]) -> str:
    before, after = data["before"], data["after"]
    told = "{metric:metric}, {before:in {unit}} -> {after:in {unit}}"
    if data["share"]:
        told = "{metric:metric}, {before:percent} of {voice.run}s -> {after:percent}"
    elif before > 0 and after > 0:
        told += f" ({after / before:.2f} times)"
    return f"{{voice.changed}}: {told}" if data["sure"] else f"{told} so far"


def _kernel(data: Mapping[str, Any]) -> str:
    """Of the kernels of a proof the revert alone is new to who reads."""
    revert = data["purpose"] == BootPurpose.REVERT
    kernel = "{revision:proven revert}" if revert else "{revision:kernel}"
    return f"{kernel} {{variant}}" if data.get("variant") else kernel


def _last(data: Mapping[str, Any]) -> str:
    seen = seen_in(data["metric"], data["value"]) or "{value:seen {unit}}"
    return f"{_kernel(data)}: {seen}{_LIKE.get(data['like'], '')}"


def _left(data: Mapping[str, Any]) -> str:
    low, middle, high = (duration(data[name]) for name in ("low_s", "wall_s", "high_s"))
    nothing = duration(0)
    if high == nothing:
        return "less than a second left"
    if low == high:
        return "about {wall_s:duration} left"
    number, unit = low.split()
    between = f"{number if high.endswith(unit) else low} to {high}"
    if low == nothing:
        between = f"up to {high}"
    # A middle that is an end of the interval says nothing of its own.
    if middle in (low, high):
        return f"{between} left"
    return f"about {{wall_s:duration}} left ({between})"


SENTENCES: Mapping[str, Words] = {
    Shown.CHANGE: _change,
    Shown.RANGE: lambda data: (
        "{holding} of {candidates} commits "
        f"{'holds' if data['holding'] == 1 else 'hold'} 95% of the probability, if a commit did it"
    ),
    Shown.LIKELIEST: "{revision:.12}, {probability:probability}: {subject}",
    Shown.LAST: _last,
    Shown.NEXT: lambda data: f"{{voice.run}} {{number}} of about {{total}}: {_kernel(data)}",
    Shown.WHY: lambda data: _WHY.get(data["purpose"], "{purpose}"),
    Shown.BUILD: lambda data: (
        "building {revision:kernel}" + (" {variant}" if data["variant"] else "")
    ),
    Shown.PLANS: "weighing the {voice.run}s so far, and choosing the next one",
    Shown.SPENT: "{wall_s:duration} so far",
    Shown.LEFT: _left,
    Shown.LEFT_OF_ENDS: lambda data: f"{_left(data)}; if the ends differ, a search follows",
    Shown.OVERDUE: "longer than expected",
    Shown.PROOF: "{check}: {status}",
    Shown.GATES: lambda data: (
        "{passed} pass" + (", {absent} do not apply" if data["absent"] else "")
    ),
}
#: In front of each line.
LABELS: Mapping[Line, str] = {
    Line.FIGURE: "figure",
    Line.RANGE: "range",
    Line.PROBABILITY: "probability",
    Line.TESTED: "tested",
    Line.LIKELIEST: "likeliest",
    Line.LAST: "last",
    Line.NOW: "now",
    Line.WHY: "why",
    Line.PROOF: "proof",
    Line.GATES: "gates",
    Line.TIME: "time",
}
