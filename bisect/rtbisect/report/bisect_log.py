# SPDX-License-Identifier: GPL-2.0-or-later
"""The search as a log for `git bisect replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome
from rtbisect.model.code import WHOLE, Narrowing
from rtbisect.report.text import ascii_line
from rtbisect.report.wording import voice_of_report
from rtbisect.search.ancestry import Ancestry, Bools
from rtbisect.words.speak import speak
from rtbisect.words.voice import PLAIN, Voice

if TYPE_CHECKING:
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import TestedRevision

#: A revision is called bad above this probability, and good below one minus it.
SURE = 0.95
_SUBJECT_LIMIT = 100


def bisect_log_of(report: ReportInput, narrowed: Narrowing = WHOLE) -> str:
    """The log for `git bisect replay` of what a report was found by."""
    result = report.result
    # Where nothing regressed every tested revision is good, the one that was asked as bad, too: git
    # takes no such log.
    tested = () if result.outcome is Outcome.NO_REGRESSION else result.tested
    return bisect_log(report.graph, tested, result.culprit, voice_of_report(report), narrowed)


def bisect_log(
    graph: CommitGraph,
    tested: tuple[TestedRevision, ...],
    culprit: str | None,
    voice: Voice = PLAIN,
    narrowed: Narrowing = WHOLE,
) -> str:
    """The log, with every tested revision in it. `voice` names both sides; `narrowed` says what
    of the range is no candidate. Subjects go in clean, so
    that none adds a command.

    git keeps one bad commit and asks for merge bases when a good one is no ancestor of
    it. So bad revisions come children first, which leaves the oldest as git's bad,
    and good ones on other branches, unsure and skipped ones are comments.
    """
    ancestry = Ancestry(graph)
    subjects = {commit.sha: commit.subject for commit in graph.commits}
    # A revision that never booted was not tested, however sure its side is.
    booted = [revision for revision in tested if revision.boots and not revision.skipped]
    index = ancestry.index
    bads = {graph.newer}
    bads |= {t.sha for t in booted if t.probability_bad > SURE and t.sha in index}
    ordered = sorted(bads, key=lambda sha: -index[sha])
    if culprit is not None and culprit in bads:
        ordered = [sha for sha in ordered if sha != culprit] + [culprit]
    under_last = ancestry.ancestors_or_self(index[ordered[-1]])
    goods = [graph.older, *_beside(graph, ancestry, under_last, narrowed)]
    for revision in booted:
        if revision.sha == graph.older or revision.probability_bad >= 1 - SURE:
            continue
        if revision.sha in index and under_last[index[revision.sha]]:
            goods.append(revision.sha)
    good, bad = voice.older, voice.newer
    gits_own = (good, bad) == (PLAIN.older, PLAIN.newer)
    options = " '--first-parent'" if narrowed.first_parent else ""
    terms = "" if gits_own else f" '--term-old={good}' '--term-new={bad}'"
    lines = [f"git bisect start{options}{terms}"]
    for word, shas in ((bad, ordered), (good, goods)):
        for sha in shas:
            lines += [f"# {word}: {_sha_and_subject(sha, subjects)}", f"git bisect {word} {sha}"]
    for revision in tested:
        if revision.sha not in bads and revision.sha not in goods:
            lines.append(
                f"# {_comment(revision, voice)}: {_sha_and_subject(revision.sha, subjects)}"
            )
    if culprit is not None:
        lines.append(f"# first {bad} commit: {_sha_and_subject(culprit, subjects)}")
    return "\n".join(lines) + "\n"


def _beside(
    graph: CommitGraph, ancestry: Ancestry, under_last: Bools, narrowed: Narrowing
) -> list[str]:
    """The good commits beside the older end that candidates up to git's bad one are made of. They
    leave what the further good revisions leave, and git asks for no merge base of them.
    """
    if narrowed == WHOLE:
        return []
    parents = {
        parent: True
        for commit in graph.commits
        if under_last[ancestry.index[commit.sha]]
        for parent in commit.parents
        if parent not in ancestry.index and parent != graph.older
    }
    return list(parents)


def _comment(revision: TestedRevision, voice: Voice) -> str:
    good, bad = voice.older, voice.newer
    if revision.skipped:
        return f"skip ({ascii_line(str(speak(revision.skipped, voice)), _SUBJECT_LIMIT)})"
    if not revision.boots:
        return f"not booted ({bad} with probability {revision.probability_bad:.2f})"
    if revision.probability_bad < 1 - SURE:
        return f"{good}, on another branch"
    return f"unsure ({bad} with probability {revision.probability_bad:.2f})"


def _sha_and_subject(sha: str, subjects: dict[str, str]) -> str:
    return f"[{sha}] {ascii_line(subjects.get(sha, ''))[:_SUBJECT_LIMIT]}".rstrip()
