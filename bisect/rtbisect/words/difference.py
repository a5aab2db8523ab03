# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of what makes a figure differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.kinds.difference import Differs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words


def _change(data: Mapping[str, Any]) -> str:
    """The change of the figure; "" where it has none."""
    if data["change"] is None:
        return ""
    error = " (standard error {error:.1%})" if data["error"] is not None else ""
    return f"{{metric:metric}} {{change:+.1%}}{error}"


def _instructions(data: Mapping[str, Any]) -> str:
    """What instructions say; "" where nobody knows."""
    share = data["instructions"]
    if share is None:
        return ""
    if data["same"]:
        return "as many instructions"
    return f"{abs(share):.2%} {'more' if share > 0 else 'fewer'} instructions"


def _code(data: Mapping[str, Any]) -> str:
    over = "over {base} + {new} layouts" if data["base"] else "in one build of each side"
    told = [_instructions(data), f"{_change(data) or 'it is there'} {over}"]
    return f"the code makes the difference: {'; '.join(filter(None, told))}"


def _layout(data: Mapping[str, Any]) -> str:
    noise = "; {voice.run}s of one build: {noise:.1%}" if data["noise"] is not None else ""
    return (
        "the layout of the code makes {metric:metric} differ: builds of the same code by"
        f" {{spread:.1%}} (standard deviation of {{builds}} builds{noise}), which can set ends"
        f" apart like these: {_change(data)}"
    )


def _machine(data: Mapping[str, Any]) -> str:
    many, size = "higher" if data["shift"] > 0 else "lower", abs(data["shift"])
    told = f"{size:.0%}" if size >= 0.01 else f"{size:.1%}"
    return (
        f"the machine makes {{metric:metric}} differ: it was {told} {many} in {{voice.run}}s"
        " {first} to {last} than in others of the same builds ({runs} of these can be compared, of"
        " {revisions:many revision}; p = {p:.3f}); without them the ends differ by"
        f" {_change(data)}"
    )


def _unclear(data: Mapping[str, Any]) -> str:
    told = "; ".join(filter(None, (_instructions(data), _change(data))))
    helps = " or ".join(data["helps"])
    would = f"; {helps} would tell" if helps else ""
    as_much = "and builds of the same code may differ by as much"
    return f"code and layout are not told apart: {f'{told}, ' if told else ''}{as_much}{would}"


SENTENCES: Mapping[str, Words] = {
    Differs.CODE: _code,
    Differs.COUNTS: lambda data: (
        f"the code makes the difference: {abs(data['instructions']):.2%}"
        f" {'more' if data['instructions'] > 0 else 'fewer'} instructions"
    ),
    Differs.LAYOUT: _layout,
    Differs.MACHINE: _machine,
    Differs.UNCLEAR: _unclear,
}
