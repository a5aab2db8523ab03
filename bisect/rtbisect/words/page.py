# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the page of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.campaign import Cause, Outcome
from rtbisect.model.kinds.page import Headed, Pictured
from rtbisect.words.pipeline import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.finding import Value
    from rtbisect.words.template import Words


def _boots(data: Mapping[str, Value]) -> str:
    scale = " on a logarithmic axis" if data["log"] else ""
    unit = ", in {unit}" if data["unit"] else ""
    return f"One dot a boot of {{metric}}{unit}{scale}. {{sides:; }}"


#: What a campaign found, before the commit where it names one.
_ANSWERS: Mapping[Any, str] = OUTCOMES | {
    Outcome.CULPRIT: "{voice.commit}",
    Outcome.CULPRIT_SET: "one of several commits",
    Outcome.NO_REGRESSION: "no {voice.change}",
}
#: What makes the difference.
_CAUSES: Mapping[Any, str] = {
    Cause.KERNEL: "the kernel itself",
    Cause.WORKLOAD_DEPENDENT: "the kernel, beside its workload only",
    Cause.TOOL_INDUCED: "the measuring tool",
    Cause.NONE: "not known",
}

SENTENCES: Mapping[str, Words] = {
    Pictured.BOOTS: _boots,
    Pictured.SIDE: (
        "{name}: {boots:many boot}, {middle} {value:number}{unit:unit}, from {low:number} to"
        " {high:number}{unit:unit}"
    ),
    Pictured.SIDE_OF_BOOTS: "{name}: {seen} of {boots:many boot}",
    Pictured.HISTORY: (
        "{metric} of {boots:many boot} of {revisions:many revision} by their place in the range,"
        " from {low:number} to {high:number}{unit:unit}"
    ),
    Pictured.ORDER: (
        "{metric} of {boots:many boot} in the order in which they were made, from {low:number} to"
        " {high:number}{unit:unit}"
    ),
    Pictured.EARLIER: (
        "{metric} on both ends of {campaigns:many campaign} in their order, the last of them this"
        " one, from {low:number} to {high:number}{unit:unit}"
    ),
    Headed.ANSWER: lambda data: _ANSWERS.get(data["outcome"], "{outcome}"),
    Headed.CAUSE: lambda data: _CAUSES.get(data["cause"], "{cause}"),
}
