# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the page of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.kinds.page import NotTested, Opening, Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.finding import Value
    from rtbisect.words.template import Words


def _sides(data: Mapping[str, Value]) -> str:
    effect = ": {effect}, 95% interval {low:.3g} to {high:.3g}" if data["effect"] else ""
    return f"In window {{window}} the {{middle}} of {{metric}} is {{base}} and {{new}}{effect}"


def _boots(data: Mapping[str, Value]) -> str:
    scale = " on a logarithmic axis" if data["log"] else ""
    return f"One dot a boot of {{metric}}, in {{unit}}{scale}. {{sides:; }}"


SENTENCES: Mapping[str, Words] = {
    Opening.SIDES: _sides,
    Opening.SIDE: "{value:digits}{unit:unit} ({name}, {boots:many boot})",
    Opening.SEEN: "{metric} is seen in {base} and in {new} in window {window}",
    Opening.SEEN_IN: "{seen} of {boots:many boot} ({name})",
    Opening.ONE_SIDED: "{metric} in window {window} was not measured on both sides",
    Opening.NOTHING: "No figure was compared",
    Pictured.BOOTS: _boots,
    Pictured.SIDE: (
        "{name}: {boots:many boot}, {middle} {value:digits}{unit:unit}, from {low:digits} to"
        " {high:digits}{unit:unit}"
    ),
    Pictured.HISTORY: (
        "{metric} of {boots:many boot} of {revisions:many revision} by their place in the range,"
        " from {low:digits} to {high:digits}{unit:unit}"
    ),
    Pictured.ORDER: (
        "{metric} of {boots:many boot} in the order in which they were made, from {low:digits} to"
        " {high:digits}{unit:unit}"
    ),
    NotTested.NEWER: "Revisions newer than {revision:.12}, and other series",
    NotTested.REVERT: "Whether a revert on the newest revision takes the change back",
    NotTested.LAYOUT: "Whether kernels with another code layout show the same",
    NotTested.PRODUCTION: "A workload that somebody uses: this one is ours",
    NotTested.HARDWARE: "Hardware: the figures are of an emulator",
    NotTested.OTHER_MACHINES: "Machines other than {device}",
    NotTested.WITHOUT_RT: "Kernels without PREEMPT_RT",
    NotTested.SAME_KERNEL: "How much boots of one kernel differ from each other",
    NotTested.BRINGS_BACK: (
        "What a revert brings back: the commit names nothing that it repairs, and no campaign here"
        " found anything"
    ),
}
