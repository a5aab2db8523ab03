# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of reports that depend on the change that was sought."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Sought
from rtbisect.report.text import foreign
from rtbisect.words.speak import speak
from rtbisect.words.voice import Voice, voice_of, with_ends

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.finding import Finding
    from rtbisect.model.report import ReportInput


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWords:
    """What a report says one way or the other."""

    #: The older end and the newer. Of that one nobody knows yet whether it repairs anything.
    ends: tuple[str, str]
    #: Kernels before the change and since.
    kernels: tuple[str, str]
    #: Headers say of what kind a report is: one that asks stable to pick it, and any other; "" is
    #: not said.
    asking_kind: str
    kind: str
    #: Before the subject: where the kernel itself hurts somebody, and else.
    hurting_mark: str
    mark: str


WORDS: Mapping[Sought, ReportWords] = {
    Sought.REGRESSION: ReportWords(
        ends=("good", "bad"),
        kernels=("good side", "bad side"),
        asking_kind="",
        kind="",
        hurting_mark="[REGRESSION] ",
        mark="",
    ),
    Sought.REPAIR: ReportWords(
        ends=("older", "newer"),
        kernels=("broken", "repaired"),
        asking_kind="backport",
        kind="repair",
        hurting_mark="backport request: ",
        mark="backport request: ",
    ),
}


def words_of(report: ReportInput) -> ReportWords:
    return WORDS[report.sought]


def voice_of_report(report: ReportInput) -> Voice:
    """How a campaign is told in its report, which knows what was proved."""
    voice = voice_of(report.sought, report.measured)
    # A search on a command has builds only where they were asked for.
    voice = replace(voice, builds=voice.builds or report.summary.builds > 0)
    voice = with_ends(voice, report.graph.ends)
    parents = {check.parent: "parent" for check in report.result.verifications if check.parent}
    culprit = {report.result.culprit[:12]: voice.commit} if report.result.culprit else {}
    return replace(voice, proven=parents | culprit)


def said(report: ReportInput, finding: Finding, limit: int = 200) -> str:
    """A finding for the text of a mail: one line of ASCII that steers nothing."""
    return foreign(str(speak(finding, voice_of_report(report))), limit)
