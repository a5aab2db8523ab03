# SPDX-License-Identifier: GPL-2.0-or-later
"""How the boots of both sides spread over the figure that a mail opens with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.report.averages import judged_name, judged_unit, of_boots, overlap
from rtbisect.report.headline_figure import headline
from rtbisect.report.text import histogram

if TYPE_CHECKING:
    from rtbisect.model.report import ReportInput


def boots_by(report: ReportInput) -> tuple[str, tuple[str, ...]]:
    """Title and lines of a histogram of the boots on both sides of the headline; no lines where
    there is no headline.
    """
    opening = headline(report)
    if opening is None:
        return "", ()
    judgement, base_name, new_name = opening
    drawn = histogram(
        judgement.base.values,
        judgement.new.values,
        judged_unit(report, judgement),
        (base_name, new_name),
    )
    return f"Boots by {judged_name(judgement)}", drawn


def is_finding(report: ReportInput) -> bool:
    """Whether the shape says more than middle and range do: boots of one side lie among those of
    the other. Of a figure that a boot has or has not the counts say all.
    """
    opening = headline(report)
    if opening is None or of_boots(opening[0].key):
        return False
    base, new = opening[0].base, opening[0].new
    return bool(base.values and new.values) and overlap(base, new)
