# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of `rtbisect run` beside what every search answers."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rtbisect.campaign.again import MOST_AGAIN
from rtbisect.cli.broken import broken_of
from rtbisect.cli.output import takes_blocks
from rtbisect.model.campaign import Better, CampaignKind, Outcome, Sought
from rtbisect.model.code import Build
from rtbisect.model.command import (
    INSTRUCTIONS,
    LONGEST_S,
    CommandRequest,
    Extra,
    command_line,
    narrowing_of,
)
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered
from rtbisect.model.kinds.counts import BESIDE, Counts
from rtbisect.model.kinds.pipeline import Ends, Proofs, Reasons, Searches
from rtbisect.model.kinds.search import Endings
from rtbisect.model.lab import Run
from rtbisect.model.result import DiffersBy
from rtbisect.program.counter import counts_here
from rtbisect.program.units import goes_by_time
from rtbisect.report.rest_of_change import Rest, rest_of
from rtbisect.report.revision_chart import chart, fitting
from rtbisect.report.run_answer import caption_of, change_of, columns_of
from rtbisect.report.run_plot import run_plot
from rtbisect.store.journal import recorded
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.campaign import CampaignRequest
    from rtbisect.model.code import CommitGraph, CommitHead
    from rtbisect.model.result import Result
    from rtbisect.report.page_pictures import Picture
    from rtbisect.report.run_answer import Change
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore

#: What a result says where its budget was too small.
_SHORT = {
    Endings.CALIBRATION_BUDGET.value, Endings.ALIKE_BUDGET.value, Endings.SEARCH_BUDGET.value,
    Proofs.BUDGET_ENDED.value, Searches.KEPT_BOOTS.value,
}  # fmt: skip
#: Outcomes that name no commit, which counts of instructions may.
_UNNAMED = (Outcome.NOT_REPRODUCED, Outcome.INCONCLUSIVE, Outcome.LAYOUT_SENSITIVE)
#: What a result says where the ends were not measured, or are not the right ones.
_UNMEASURED = {
    Reasons.MISASKED.value, Ends.OTHER_BRANCH.value, Endings.SWAPPED.value,
    Endings.MEASUREMENT.value, Endings.OLDER_UNTESTABLE.value, Endings.NEWER_UNTESTABLE.value,
    Endings.CALIBRATION_BUDGET.value,
}  # fmt: skip
#: Further runs of a commit that its proofs have left open: as many as it has, and these at least.
_MORE = 12
#: Shows commits; of those that are named so many, and so many of the likeliest ones.
_LOG = ("log", "--no-walk", "--stat")
_LISTED, _LEADING = 100, 4
#: In front of each line.
INDENT = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Figured:
    """The figure of an answer: all runs that have ended, and what changed. Read once a command."""

    campaign: str
    request: CampaignRequest
    result: Result
    runs: tuple[Run, ...]
    #: Of what was built; () where the command needs no build.
    builds: tuple[Build, ...]
    #: None where an end has no figure.
    change: Change | None
    #: Where else the change is made; None where the commit makes it.
    rest: Rest | None

    @classmethod
    def of(cls, store: CampaignStore, record: CampaignRecord) -> Figured | None:
        """None of what is no answer of a command."""
        if record.kind != CampaignKind.RUN or record.result is None:
            return None
        every = recorded(store.database, record.id, Run)
        # Those of one layout, which tell how far runs of it differ, say nothing of the revision.
        runs = tuple(run for run in every if not run.layout)
        builds = tuple(recorded(store.database, record.id, Build))
        change = change_of(record.request, record.result, runs)
        return cls(
            campaign=record.id,
            request=record.request,
            result=record.result,
            runs=runs,
            builds=builds,
            change=change,
            rest=rest_of(record.request, record.result, runs),
        )

    @property
    def broken(self) -> Finding | None:
        """Why the search has measured nothing; None where it has."""
        return broken_of(self.campaign, self.request, self.result.outcome, self.runs, self.builds)

    @property
    def data(self) -> dict[str, Any] | None:
        """`figure` of the JSON of an answer."""
        change = self.change
        if change is None:
            return None
        effect, low, high = change.effect or (None, None, None)
        return {
            "name": change.metric.partition(".")[2].rpartition("@")[0],
            "unit": "share" if change.share else change.unit,
            "before": asdict(change.before),
            "after": asdict(change.after),
            "change": {"kind": "ratio" if change.ratio else "difference"}
            | {"value": effect, "low": low, "high": high},
            "rest": asdict(self.rest) if self.rest else None,
        }

    def lines(self) -> Iterator[str]:
        """Before and after, and the tested revisions, as wide as the terminal."""
        if paths := narrowing_of(self.request).paths:
            voice = voice_of_request(self.request)
            yield f"{INDENT}{speak(Finding.of(Ends.PATHS, paths=paths), voice)}"
        if told := self.told:
            yield f"{INDENT}{told}"
            if CommandRequest.of(self.request).relayout:
                yield f"{INDENT}{speak(Finding.of(Answered.LAYOUTS))}"
            width = max(20, shutil.get_terminal_size().columns - 2 * len(INDENT))
            for line in self.chart(width, ascii_only=not takes_blocks(sys.stdout)):
                yield f"{INDENT}{line}"
        if self.rest:
            yield f"{INDENT}{speak(self.rest.found, voice_of_request(self.request))}"

    @property
    def told(self) -> str:
        """Before and after in words; "" where an end has no figure."""
        if self.change is None:
            return ""
        found, first = self.change.found, self.result.culprit
        if first and len(self.result.named) > 1:
            # Each has its own figures, and these are of one.
            found = Finding.of(Answered.OF_COMMIT, sha=first, change=found)
        return str(speak(found, voice_of_request(self.request)))

    def chart(self, width: int, *, ascii_only: bool = False) -> tuple[str, ...]:
        """At most so many of the tested revisions, and a caption; () where there are too few."""
        change, voice = self.change, voice_of_request(self.request)
        columns = columns_of(self.request, self.result, self.runs)
        if change is None or len(columns) < 2:
            return ()
        shown = fitting(columns, width)
        caption = caption_of(shown, len(columns), "" if change.share else change.unit)
        return (*chart(shown, voice, ascii_only=ascii_only), str(speak(caption, voice)))

    def picture(self, graph: CommitGraph) -> Picture | None:
        """All runs along the history, and what they say of each commit."""
        unit = self.change.unit if self.change else ""
        return run_plot(self.request, self.result, graph, self.runs, unit)


def likeliest_of(result: Result, most: int) -> Iterator[Finding]:
    """At most so many candidates, likeliest first; nothing where there are none."""
    if result.candidates:
        shown = result.candidates[:most]
        each = tuple(Finding.of(Answered.CANDIDATE, sha=sha, probability=p) for sha, p in shown)
        more = len(result.candidates) - len(shown)
        yield Finding.of(Answered.CANDIDATES, candidates=each, more=more)


def _short(result: Result) -> bool:
    """A larger budget would tell more."""
    return any(reason.kind in _SHORT for reason in result.reasons)


def _open_proof(request: CampaignRequest, result: Result) -> bool:
    """Proofs have left a commit open, and more runs of it may decide."""
    if result.outcome is not Outcome.INCONCLUSIVE or Extra.of(request).given:
        return False
    return any(reason.kind == Proofs.NOT_CONFIRMED for reason in result.reasons)


def next_of(
    identity: str,
    request: CampaignRequest,
    result: Result | None,
    runs: int,
    heads: Sequence[CommitHead] = (),
) -> Finding | None:
    """The command to go on with after so many runs; None where nothing is left to do. `heads` are
    the named commits, as far as they were asked for.
    """
    line = _next_line(identity, request, result, runs, heads)
    return Finding.of(Answered.NEXT, command=line) if line else None


def _next_line(
    identity: str,
    request: CampaignRequest,
    result: Result | None,
    runs: int,
    heads: Sequence[CommitHead],
) -> str:
    words: list[str] = []
    if result is None:
        words = ["rtbisect", "resume", identity]
    elif len(result.named) > 1:
        words = ["git", "-C", request.repo, *_LOG, *(sha[:12] for sha in result.named[:_LISTED])]
    elif result.culprit:
        # What it brings in is the log of the submodule; without the option git shows two shas.
        inside = ["--submodule=log"] if any(head.submodule for head in heads) else []
        words = ["git", "-C", request.repo, "show", *inside, result.culprit]
    elif _goes_on(request, result):
        words = ["rtbisect", "resume", identity, *_further(request, result, runs)]
    elif other := _other_search(request, result):
        return other
    elif result.candidates:
        shas = (sha for sha, _ in result.candidates[:_LEADING])
        words = ["git", "-C", request.repo, *_LOG, *shas]
    return shlex.join(words)


def _goes_on(request: CampaignRequest, result: Result) -> bool:
    """Further runs of this search are next. Where the ends surely execute more or less, a search by
    that is: it is over where this one would go on.
    """
    if result.outcome is not Outcome.INCONCLUSIVE:
        return False
    if _executes_more(request, result) and _other_search(request, result):
        return False
    return _short(result) or bool(result.candidates and _open_proof(request, result))


def _further(request: CampaignRequest, result: Result, runs: int) -> list[str]:
    """Options of `resume` for these runs."""
    if _short(result):
        # A further budget may have been larger than the first one.
        return ["--max-runs", str(2 * max(CommandRequest.of(request).max_runs, runs))]
    # Another budget changes nothing: the proofs had what they asked for.
    sha = result.candidates[0][0]
    return ["--again", sha, "--runs", str(_more_of(result, sha))]


def _more_of(result: Result, sha: str) -> int:
    """Runs of a commit that can change what all runs so far say of it."""
    known = sum(revision.boots for revision in result.tested if revision.sha == sha)
    return min(max(known, _MORE), MOST_AGAIN)


def _other_search(request: CampaignRequest, result: Result) -> str:
    """The search that finds what this one could not; "" for none."""
    if outside := next((each for each in result.reasons if each.kind == Ends.OUTSIDE), None):
        return str(outside.data["command"])
    if result.outcome not in _UNNAMED or any(each.kind in _UNMEASURED for each in result.reasons):
        return ""
    return _counting(request, result)


def tells_of(request: CampaignRequest, result: Result | None) -> Finding | None:
    """What tells code from layout, or else the commit where the next command only goes on; None
    where that is known, or nothing can. The command is left out where the next one is that.
    """
    if result is None or any(each.kind == Ends.OUTSIDE for each in result.reasons):
        return None
    unnamed = result.outcome in _UNNAMED
    if unnamed:
        line = _other_search(request, result) if _goes_on(request, result) else ""
    else:
        line = _counting(request, result)
    unclear = result.difference is not None and result.difference.by is DiffersBy.UNCLEAR
    if not (unclear or result.outcome is Outcome.LAYOUT_SENSITIVE):
        return Finding.of(Answered.BY_COUNTS, command=line) if line and unnamed else None
    command = CommandRequest.of(request)
    relayout = bool(command.build) and not command.relayout
    return Finding.of(Answered.TELLS, command=line, relayout=relayout) if line or relayout else None


def _executes_more(request: CampaignRequest, result: Result) -> bool | None:
    """Whether counts of the ends, or of the named commit and its parent, surely differ the way that
    is sought; None where there are none.
    """
    counts = next((each for each in result.reasons if each.kind in BESIDE), None)
    if counts is None:
        return None
    if counts.kind != Counts.BESIDE:
        return False
    share = counts.data["share"]
    assert isinstance(share, float)
    return (share > 0) is (request.sought is Sought.REGRESSION)


def _counting(request: CampaignRequest, result: Result) -> str:
    """The search of the same commits by counts of instructions, of the named one and its parent
    where there is one; "" where it is known what it would tell, or these cannot be counted, or say
    nothing of the figure.
    """
    command, known = CommandRequest.of(request), _executes_more(request, result)
    # A build with --relayout may need the seed, which is given to no other one.
    if command.counted or command.pass_fail or command.relayout:
        return ""
    if known is False or (known and result.culprit):
        return ""
    if not (goes_by_time(command.unit) and counts_here()):
        return ""
    first_parent = command.first_parent
    if result.culprit:
        request = replace(request, older=f"{result.culprit}^", newer=result.culprit)
        # The first of several commits may be a merge, too, whose branch is no part of the pair.
        first_parent = first_parent or result.outcome is not Outcome.CULPRIT
    # Nothing that is about the figure, or would be refused, goes along: a counted run may take 50
    # times as long, and more is never better.
    counted = replace(
        command, count=INSTRUCTIONS, metric="", format="", extract="", json_path="", unit="",
        better=Better.LOWER.value, ratio=None, cost_run_s=None, paths=(),
        timeout_s=max(command.timeout_s, LONGEST_S), first_parent=first_parent,
    )  # fmt: skip
    extra = replace(Extra.of(request), others=counted.extra())
    return command_line(replace(request, extra=extra.pairs), None)
