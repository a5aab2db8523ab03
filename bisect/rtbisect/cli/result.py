# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of a campaign, for a program and for a person."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rtbisect.campaign import trees
from rtbisect.campaign.session import level_of
from rtbisect.cli import run_answer
from rtbisect.cli.output import fitted
from rtbisect.errors import Exit, RtbisectError
from rtbisect.model.campaign import CampaignKind, CampaignRequest, CampaignState, Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Proofs, Reasons
from rtbisect.model.kinds.search import Endings
from rtbisect.pipeline.further import FurtherRuns
from rtbisect.report.input_file import read_input
from rtbisect.report.letter import costs, opening_of
from rtbisect.report.text import many, wrap
from rtbisect.report.wording import said
from rtbisect.store.journal import recorded
from rtbisect.store.session_files import SessionFiles
from rtbisect.words.documents import found, spoken
from rtbisect.words.metrics import name_of
from rtbisect.words.numbers import duration, further, probability, stated
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rtbisect.cli.output import Output
    from rtbisect.model.code import CommitHead
    from rtbisect.model.result import Result, Summary
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore

#: Of many commits so many are shown.
MOST = 8
#: What the first sentences of a mail say of a culprit.
_OPENED = {Endings.CULPRIT.value, Proofs.PROBABILITY.value, Proofs.REPAIRS.value}


def answer_of(store: CampaignStore, record: CampaignRecord) -> dict[str, Any]:
    """The stable keys of a campaign's answer."""
    request = record.request
    summary = store.summary(record)
    # As they were called.
    good, bad = request.sought.ends(request.older, request.newer)
    known = empty_answer(record.id) | {
        "builds": summary.builds,
        "boots": summary.boots,
        "runs": summary.boots,
        "skipped": summary.skipped,
        "wall_s": summary.wall_s,
        "report": record.report.path if record.report else None,
        "repo": request.repo,
        "good": good,
        "bad": bad,
    }
    result, voice = record.result, voice_of_request(request)
    if result is None:
        stands = standing_of(store, record)
        return known | {"standing": _standing(stands) if stands else None}
    command = record.kind == CampaignKind.RUN
    return known | {
        "outcome": result.outcome,
        "culprit": result.culprit,
        "culprits": list(result.culprits),
        # 0 is no confidence in anything: there is nothing to be sure of.
        "confidence": stated(result.confidence) if result.confidence else None,
        # Of any command nobody looks for one.
        "cause": None if command else result.cause,
        "metric": str(result.metric) if result.metric else None,
        "candidates": [
            {"commit": sha, "probability": stated(share)} for sha, share in result.candidates
        ],
        "reasons": [str(speak(reason, voice)) for reason in result.reasons],
        "reasons_found": list(map(found, result.reasons)),
        "stretches": stretches_of(result),
        "gates": [spoken(gate, voice) for gate in result.gates],
        "difference": spoken(result.difference, voice) if result.difference else None,
        "origins": [
            asdict(origin)
            | {
                "parent": round(origin.parent, 3),
                "culprit": round(origin.culprit, 3),
                "share": round(origin.share, 4),
            }
            for origin in result.origins
        ],
    }


def standing_of(store: CampaignStore, record: CampaignRecord) -> Finding | None:
    """Where a search stands that has no answer yet; None where it was not kept."""
    return None if record.result else SessionFiles.of(store.state, record.id).standing()


def _standing(stands: Finding) -> dict[str, Any]:
    held: Any = stands.data["probability"]
    return dict(stands.data) | {"probability": stated(held)}


def _standing_lines(store: CampaignStore, record: CampaignRecord) -> list[str]:
    stands = standing_of(store, record)
    return [f"  {speak(stands, voice_of_request(record.request))}"] if stands else []


def stretches_of(result: Result) -> list[dict[str, Any]]:
    """Of a change in many steps, what each part of the history has of it."""
    told: list[dict[str, Any]] = []
    for reason in result.reasons:
        if reason.kind == Endings.GRADUAL:
            stretches: Any = reason.data["stretches"]
            told += [
                {name: _rounded(value) for name, value in each.data.items()} for each in stretches
            ]
    return told


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def empty_answer(identity: str) -> dict[str, Any]:
    """The keys of `answer_of` where nothing is known of a campaign."""
    words = dict.fromkeys(
        ("outcome", "culprit", "confidence", "cause", "metric", "difference", "report", "standing")
    )
    counts = {"builds": 0, "boots": 0, "runs": 0, "skipped": 0, "wall_s": 0.0}
    ends = dict.fromkeys(("repo", "good", "bad"), "")
    lists = ("culprits", "candidates", "reasons", "reasons_found", "stretches", "gates", "origins")
    return {"campaign": identity} | words | counts | ends | {name: [] for name in lists}


def text_of(
    record: CampaignRecord,
    summary: Summary,
    heads: Sequence[CommitHead] = (),
    opening: str = "",
    shown: Iterable[str] = (),
) -> str:
    """The answer for a person. `heads` are the commits of it, where they are to be described,
    `opening` are the first sentences of its mail, and `shown` are lines on its figure.
    """
    result = record.result
    if result is None:
        return "\n".join([listed(record, summary), *shown, *_next(record, summary)])
    lines = [fitted(headline(record, result), first=""), *_head_lines(heads)]
    if heads and (more := left_out(result)):
        lines.append(fitted(more))
    lines += shown
    reasons = result.reasons
    if opening:
        lines.append(wrap(opening, first="  ", rest="  "))
        reasons = tuple(reason for reason in reasons if reason.kind not in _OPENED)
    if any(reason.kind in (Proofs.PROBABILITY, Proofs.UNLIKELY) for reason in reasons):
        # How sure the search was is no longer how sure the answer is.
        reasons = tuple(reason for reason in reasons if reason.kind != Endings.CULPRIT)
    voice = voice_of_request(record.request)
    told = [result.difference.why] if result.difference else []
    told += reasons
    if record.kind == CampaignKind.RUN and result.outcome is Outcome.INCONCLUSIVE:
        told += run_answer.likeliest_of(result, MOST)
    lines += (fitted(str(speak(each, voice))) for each in (*told, *checks_of(result)))
    return "\n".join([*lines, *_rest(record, summary, heads)])


def checks_of(result: Result) -> Iterator[Finding]:
    """What each check of the proof has found, and of which commit."""
    for check in result.verifications:
        yield Finding.of(
            Proofs.CHECK,
            culprit=result.proved,
            check=check.name,
            status=check.status,
            note=check.note,
        )


def listed(record: CampaignRecord, summary: Summary) -> str:
    """A campaign among many, of which nobody reads more than what was found, or why nothing was:
    neither its tree nor its mail is asked.
    """
    result = record.result
    if result is None:
        note = f"; {record.note}" if record.note else ""
        return f"{record.id}: {record.state}; {costs_of(record, summary)}{note}"
    lines = [headline(record, result)]
    if not result.candidates:
        voice = voice_of_request(record.request)
        lines += [f"  {speak(reason, voice)}" for reason in result.reasons[:1]]
    return "\n".join([*lines, *_rest(record, summary)])


def _rest(
    record: CampaignRecord, summary: Summary, heads: Sequence[CommitHead] = ()
) -> Iterator[str]:
    """What it took, and where its files lie."""
    yield f"  {costs_of(record, summary)}"
    command = record.kind == CampaignKind.RUN
    if record.report:
        left = "bisect log" if command else "draft"
        yield f"  {left}: {record.report.path}"
    yield from _next(record, summary, heads)


def _next(
    record: CampaignRecord, summary: Summary, heads: Sequence[CommitHead] = ()
) -> Iterator[str]:
    """How to go on, of a command."""
    for step in (_tells_of(record), _next_of(record, summary, heads)):
        if step:
            yield f"  {speak(step, voice_of_request(record.request))}"


def _next_of(
    record: CampaignRecord, summary: Summary, heads: Sequence[CommitHead]
) -> Finding | None:
    # What runs goes on by itself.
    if record.kind != CampaignKind.RUN or record.state is CampaignState.RUNNING:
        return None
    result, runs = record.result, summary.boots
    return run_answer.next_of(record.id, record.request, result, runs, heads)


def _tells_of(record: CampaignRecord) -> Finding | None:
    if record.kind != CampaignKind.RUN:
        return None
    return run_answer.tells_of(record.request, record.result)


def costs_of(record: CampaignRecord, summary: Summary) -> str:
    """What it took, in words."""
    if record.kind == CampaignKind.RUN:
        builds = f"{many(summary.builds, 'build')}, " if summary.builds else ""
        skipped = f"{many(summary.skipped, 'revision')} skipped"
        return f"{builds}{many(summary.boots, 'run')}, {skipped}, {duration(summary.wall_s)}"
    return str(speak(costs(summary)))


def opening(record: CampaignRecord) -> str:
    """The first sentences of its mail; "" where there is none, or it cannot be read."""
    if record.report is None or record.kind == CampaignKind.RUN:
        return ""
    try:
        report = read_input(record.report.folder)
    except RtbisectError:
        return ""
    return " ".join(said(report, each, 600) for each in opening_of(report))


def headline(record: CampaignRecord, result: Result) -> str:
    """One line: what was found."""
    if record.kind in (CampaignKind.CHECK, CampaignKind.TRY):
        # They compare and do not search: there is a level, and no commit to name.
        figure = f" ({name_of(str(result.metric))})" if result.metric else ""
        return f"{record.id}: {level_of(result)}{figure}"
    words = f"{record.id}: {outcome_of(result)}"
    if len(result.named) > 1:
        shas = (sha[:12] for sha in result.named[:MOST])
        words = " ".join(filter(None, (words, *shas, left_out(result))))
    elif result.culprit:
        words += f" {result.culprit}"
    share = voice_of_request(record.request).share
    details = [share or name_of(str(result.metric))] if result.metric else []
    details += [f"confidence {probability(result.confidence)}"] if result.confidence else []
    # Of any command there is no cause to tell.
    details += [] if record.kind == CampaignKind.RUN else [f"cause {result.cause}"]
    return f"{words} ({', '.join(details)})" if details else words


def outcome_of(result: Result) -> str:
    """The outcome for a person: a request that the first runs have shown to be wrong is none."""
    wrong = any(reason.kind == Reasons.MISASKED for reason in result.reasons)
    return "wrong request" if wrong else result.outcome


def left_out(result: Result) -> str:
    """Of how many more commits that are named only a program is told."""
    return further(len(result.named) - MOST)


def exit_of(result: Result | None) -> int:
    """0 for an answer, 4 when there is none."""
    if result is None or result.outcome is Outcome.INCONCLUSIVE:
        return Exit.UNDECIDED
    return Exit.ANSWERED


def whole_answer(
    output: Output,
    record: CampaignRecord,
    figured: run_answer.Figured | None = None,
    *,
    opened: bool = True,
) -> tuple[dict[str, Any], str]:
    """The answer of a search for a program and for a person, with what git says of its commits, and
    what there is to see of the figure of a command; `opened` by the first sentences of its mail.
    """
    store = output.store
    heads: tuple[CommitHead, ...] = ()
    if record.result is not None:
        heads = heads_of(output, record.request, record.result)
    shown = figured.lines() if figured else _standing_lines(store, record)
    text = text_of(record, store.summary(record), heads, opening(record) if opened else "", shown)
    data = answer_of(store, record) | {"commits": list(map(asdict, heads))}
    if record.kind == CampaignKind.RUN:
        broken = figured.broken if figured else None
        asked = recorded(store.database, record.id, FurtherRuns)
        data["again"] = [{"commit": each.revision, "runs": each.runs} for each in asked]
        data["broken"] = found(broken) if broken else None
        if broken:
            text += f"\n  {speak(broken, voice_of_request(record.request))}"
        data["figure"] = figured.data if figured else None
        next_step = _next_of(record, store.summary(record), heads)
        data["next"] = next_step.data["command"] if next_step else None
        tells = _tells_of(record)
        data["tells"] = (tells.data["command"] or None) if tells else None
    return data, text


def heads_of(output: Output, request: CampaignRequest, result: Result) -> tuple[CommitHead, ...]:
    """What git says of the commits that an answer names, of many the first; nothing where tree or
    site file are not what they were.
    """
    shas = result.named[:MOST]
    if not shas:
        return ()
    try:
        site = output.sites.of_campaign(request)
        if site is None:
            tree = trees.command_tree(output.state, request.repo)
        else:
            tree = trees.tree_of(output.state, site.target(request.tree))
        return tuple(tree.head(sha) for sha in shas)
    except RtbisectError:
        return ()


def _head_lines(heads: Sequence[CommitHead]) -> list[str]:
    """Commits for a person: one as git has it, of several a line each."""
    if len(heads) != 1:
        return [
            f"  {head.commit[:12]} {head.subject} ({head.author}, {head.date})" for head in heads
        ]
    (only,) = heads
    return [f"  Author: {only.author}", f"  Date:   {only.date}", f"      {only.subject}"]


def show(output: Output, record: CampaignRecord, figured: run_answer.Figured | None = None) -> int:
    """Print the answer of a search; its exit code. `figured` see `whole_answer`."""
    data, text = whole_answer(output, record, figured)
    output.answer(data, text)
    return Exit.LAB if data.get("broken") else exit_of(record.result)
