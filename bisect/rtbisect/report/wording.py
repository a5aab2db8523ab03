# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of reports that depend on the change that was sought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Cause, Sought

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.report import ReportInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a report says one way or the other. Pairs of a culprit are for boots that stand still,
    and for any other figure.
    """

    #: The ends. Of the newer one nobody knows yet whether it repairs anything.
    ends: tuple[str, str]
    #: Kernels before the change and since.
    kernels: tuple[str, str]
    #: The template of a culprit by its cause.
    templates: Mapping[Cause, tuple[str, str]]
    #: Headers say of what kind a report is; "" is not said.
    kinds: tuple[str, str]
    #: Before the subject of a kernel's own that hurts somebody, and of any other.
    marks: tuple[str, str]
    #: A page calls an answer with a culprit so, not by its outcome; "" does not.
    answer: str
    #: What was not found.
    nothing: str
    #: The newest revision that was booted surely has it, or not surely; () where that is no news.
    still: tuple[str, ...]


WORDS: Mapping[Sought, Words] = {
    Sought.REGRESSION: Words(
        ends=("good end", "bad end"),
        kernels=("good side", "bad side"),
        templates={
            Cause.KERNEL: ("hang.txt.j2", "regression.txt.j2"),
            Cause.WORKLOAD_DEPENDENT: ("workload_dependent.txt.j2",) * 2,
        },
        kinds=("", ""),
        marks=("[REGRESSION] ", ""),
        answer="",
        nothing="No regression of",
        still=("still has it", "does not have it for sure"),
    ),
    Sought.REPAIR: Words(
        ends=("older end", "newer end"),
        kernels=("broken", "repaired"),
        templates=dict.fromkeys(Cause, ("backport.txt.j2", "repair.txt.j2")),
        kinds=("backport", "repair"),
        marks=("backport request: ",) * 2,
        answer="repair",
        nothing="Nothing repairs",
        still=(),
    ),
}


def words_of(report: ReportInput) -> Words:
    return WORDS[report.sought]
