# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of what `rtbisect host layouts` finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.kinds.layouts import Layouts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words


def _size(name: str, data: Mapping[str, Any]) -> str:
    """A size of the figure: a share, or a number with its unit."""
    return f"{{{name}:.1%}}" if data["share"] else f"{{{name}:in {{unit}}}}"


def _p(data: Mapping[str, Any]) -> str:
    return "p < 0.001" if data["p"] < 0.0005 else "p = {p:.3f}"


def _spread(data: Mapping[str, Any]) -> str:
    size = {name: _size(name, data) for name in data}
    return (
        f"two builds of one code differ by up to {size['differ']} in 95 of 100 cases (upper"
        f" bound {size['differ_most']}), the least effect that counts is {size['effect']}; standard"
        f" deviation of boots {size['boots_sd']}, of layouts {size['layouts_sd']} ({size['low']} to"
        f" {size['high']});"
        " {boots} boots of {layouts} layouts"
    )


def _undecided(data: Mapping[str, Any]) -> str:
    more = "no number of boots that was tried"
    if data["boots"]:
        more = "{layouts} layouts with {boots} boots each"
    return f"{{metric}}: not told ({_p(data)}): {{spread}}; {more} would tell"


SENTENCES: Mapping[str, Words] = {
    Layouts.SPREAD: _spread,
    Layouts.MATTERS: lambda data: f"{{metric}}: layout matters ({_p(data)}): {{spread}}",
    Layouts.NEGLIGIBLE: lambda data: f"{{metric}}: layout does not matter ({_p(data)}): {{spread}}",
    Layouts.UNDECIDED: _undecided,
    Layouts.SHOWN: lambda data: f"{{metric}} ({_p(data)}): {{spread}}",
    Layouts.TOO_FEW: "{metric}: too few boots have it",
    Layouts.BOOT: "link layout {layout} of {layouts}, boot {number} of {boots}",
    Layouts.LEFT_OUT: "boot {number} of layout {layout} is left out: {why}",
    Layouts.GOES_ON: "{kept} of {of} boots are kept from the call that was interrupted",
    Layouts.INTERRUPTED: "the same command within a day goes on: it has {kept} of {of} boots",
    Layouts.RELINK: (
        "use build.layout: relink in the site file, so that each boot has a layout of its own"
    ),
    Layouts.FIXED: "build.layout: fixed is enough",
    Layouts.MORE_BOOTS: lambda data: (
        "boot more: --layouts {layouts} --boots {boots}"
        if data["boots"]
        else "boot more, or use build.layout: relink to be safe"
    ),
    Layouts.EMULATED: (
        "{device} is emulated and has neither caches nor branch predictors: this says nothing of"
        " a real host"
    ),
    Layouts.PICTURE: (
        "{metric} of {boots:many {voice.run}} in {layouts} layouts, a column each, from"
        " {low:number} to {high:number}{unit:unit}; bars beside them show the standard deviation of"
        " {voice.run}s and of layouts"
    ),
}
