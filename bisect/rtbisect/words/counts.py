# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of counts of instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.kinds.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

#: What counts by the CPU; "perf" alone was it in older campaigns.
_OF_CPU = ("perf", "perf stat")
#: A shift of counts that two runs of one revision show is worth telling from here on.
_TOLD = 1e-5


def _by(data: Mapping[str, Any]) -> str:
    if data["counter"] in _OF_CPU:
        return "instructions are counted by the CPU (perf stat)"
    return "instructions are counted by valgrind: a run takes 20 to 50 times as long"


def _change(data: Mapping[str, Any]) -> str:
    """The figure beside the counts."""
    if data["change"] is None:
        return ""
    return "; {metric:metric} {change:+.1%} ({low:+.1%} to {high:+.1%})"


def _beside(data: Mapping[str, Any]) -> str:
    many = "more" if data["share"] > 0 else "fewer"
    spread = " (two runs of one revision differ by {spread:.2%})" if data["spread"] > _TOLD else ""
    amount = f"{abs(data['share']):.2%}"
    told = f"{{newer:.12}} executes {amount} {many} instructions than {{older:.12}}"
    return f"{told}{spread}{_change(data)}"


def _same(data: Mapping[str, Any]) -> str:
    within = "{share:+.3%}" if data["spread"] <= _TOLD else "{share:+.2%}, within {spread:.2%}"
    return (
        f"{{newer:.12}} executes as many instructions as {{older:.12}} ({within}): what differs is"
        f" the layout of the code, caches or waiting, not what is executed{_change(data)}"
    )


def _unsure(data: Mapping[str, Any]) -> str:
    return (
        "counts vary too much to say whether {newer:.12} executes more instructions than"
        " {older:.12}: two {voice.run}s of one revision differ by {spread:.2%}, these two revisions"
        f" by {{share:+.2%}}{_change(data)}"
    )


SENTENCES: Mapping[str, Words] = {
    Counts.BY: _by,
    Counts.VARY: (
        "two {voice.run}s of {revision:.12} execute {low:,.0f} and {high:,.0f} instructions"
        " ({share:.2%} apart): the program goes by the time, or by random numbers (PYTHONHASHSEED=0"
        " fixes those of Python), or the command builds (use --build); the counts are searched as a"
        " figure with noise"
    ),
    Counts.ONCE: (
        "one {voice.run} of {revision:.12} was counted, and further ones have no count ({why}): the"
        " counts are searched as a figure with noise"
    ),
    Counts.ALIKE: (
        "both ends execute as many instructions: {older:,.0f} and {newer:,.0f} ({share:+.3%})"
    ),
    Counts.FEWER: (
        "the newer end executes fewer instructions than the merge base: {newer:,.0f} and"
        " {older:,.0f} ({share:+.2%})"
    ),
    Counts.HIDDEN: (
        "a further {part:percent} of the change lies among {commits:many commit} that cannot be"
        " told apart"
    ),
    Counts.LEFT: "{left} of {commits:many commit} left",
    Counts.STEP: (
        "{sha:.12} executes {after:,.0f} instructions and its parent {parent:.12} {before:,.0f}"
        " ({share:+.2%}), the same in two {voice.run}s each; that is {part:part} the change between"
        " the ends"
    ),
    Counts.SMALL_STEPS: (
        "the largest step, at {sha:.12}, makes only {part:percent} of the change between the ends"
    ),
    Counts.BESIDE: _beside,
    Counts.SAME: _same,
    Counts.UNSURE: _unsure,
    Counts.UNCOUNTED: "the instructions of {revision:.12} are not counted: {why}",
}
