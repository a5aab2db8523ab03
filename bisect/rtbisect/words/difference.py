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
    """What instructions say; "" where nobody has counted."""
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
    noise = "; of runs of one build {noise:.1%}" if data["noise"] is not None else ""
    return (
        "the layout of the code makes the difference: builds of the same code differ by"
        f" {{spread:.1%}} (standard deviation of {{builds}} builds{noise}), as much as the ends do:"
        f" {_change(data)}"
    )


def _machine(data: Mapping[str, Any]) -> str:
    many = "higher" if data["shift"] > 0 else "lower"
    return (
        f"the machine makes the difference: {{voice.run}}s {{first}} to {{last}} were"
        f" {abs(data['shift']):.0%} {many} than others of the same builds"
        " ({runs} {voice.run}s of {revisions:many revision}, p = {p:.3f}); without them the ends differ by"
        f" less: {_change(data)}"
    )


def _unclear(data: Mapping[str, Any]) -> str:
    told = "; ".join(filter(None, (_instructions(data), _change(data))))
    helps = " or ".join(data["helps"])
    would = f"; {helps} would tell" if helps else ""
    return (
        f"code and layout are not told apart: {told}, and builds of the same code may differ by as"
        f" much{would}"
    )


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
