# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the page of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.kinds.page import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.finding import Value
    from rtbisect.words.template import Words


def _boots(data: Mapping[str, Value]) -> str:
    scale = " on a logarithmic axis" if data["log"] else ""
    unit = ", in {unit}" if data["unit"] else ""
    return f"One dot a boot of {{metric}}{unit}{scale}. {{sides:; }}"


SENTENCES: Mapping[str, Words] = {
    Pictured.BOOTS: _boots,
    Pictured.SIDE: (
        "{name}: {boots:many boot}, {middle} {value:number}{unit:unit}, from {low:number} to"
        " {high:number}{unit:unit}"
    ),
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
}
