# SPDX-License-Identifier: GPL-2.0-or-later
"""Files with an answer of `run`: a summary for the page of a CI job, and a picture."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from rtbisect.cli import result, run_answer
from rtbisect.cli.streams import told_of
from rtbisect.config.paths import data
from rtbisect.errors import ConfigError, RtbisectError
from rtbisect.model.code import CommitGraph
from rtbisect.model.kinds.counts import BESIDE
from rtbisect.model.kinds.pipeline import Proofs
from rtbisect.report.markdown import block, code
from rtbisect.report.run_plot import svg_of
from rtbisect.store.artefacts import write_whole
from rtbisect.store.journal import recorded
from rtbisect.words.numbers import probability
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from rtbisect.cli.output import Output
    from rtbisect.model.result import Result
    from rtbisect.store.campaigns import CampaignRecord
    from rtbisect.words.voice import Voice

#: Columns of the chart: what the page of a job has room for.
_WIDTH = 80
#: A file of a folder that is not ours to write to, or to remove from, and one that is mounted.
_NO_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
#: What is said of a commit: what counts say beside its figure, and how its proof went.
_SHOWN = (*BESIDE, Proofs.SEARCHED_ON, Proofs.PROBABILITY)


@dataclass(frozen=True, slots=True)
class AnswerFiles:
    """What was asked for, by options."""

    summary: Path | None
    plot: Path | None

    def check(self) -> None:
        """ConfigError where a file cannot be written: not only after hours of runs."""
        for option, place in (("--summary", self.summary), ("--plot", self.plot)):
            if place is not None:
                check_writable(option, place)

    def shown(self, output: Output, record: CampaignRecord) -> int:
        """Print the answer, then write the files; the exit code."""
        figured = run_answer.Figured.of(output.store, record)
        code = result.show(output, record, figured)
        self.write(output, record, figured)
        return code

    def write(
        self, output: Output, record: CampaignRecord, figured: run_answer.Figured | None
    ) -> None:
        """Append the summary, write the picture. OSError where the disk refuses."""
        if self.summary is not None:
            self._append(summary_of(output, record, figured))
        if self.plot is None:
            return
        graphs = recorded(output.store.database, record.id, CommitGraph)
        if figured is None or not graphs:
            return
        if picture := figured.picture(graphs[-1]):
            text = svg_of(picture, data("reports"), result.headline(record, figured.result))
            _put(self.plot, text.encode("utf-8", "replace"))

    @contextmanager
    def with_errors(self) -> Iterator[None]:
        """What ends without an answer has a summary, too."""
        try:
            yield
        except RtbisectError as error:
            self._tell(error)
            raise
        except KeyboardInterrupt as error:
            self._tell(told_of(error))
            raise

    def _tell(self, error: RtbisectError) -> None:
        """The error must not be hidden by a full disk."""
        if self.summary is not None:
            with suppress(OSError):
                self._append(summary_of_error(error))

    def _append(self, text: str) -> None:
        assert self.summary is not None
        with self.summary.open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(text)


def check_writable(option: str, place: Path) -> None:
    """ConfigError where the file of an option cannot be written."""
    try:
        if place.is_fifo() and os.access(place, os.W_OK):
            # Who reads it would take the end of this look for the end of what is written.
            return
        there = place.exists()
        with place.open("a"):
            pass
        if not there:
            # No answer without a figure has a picture: nothing is left in its place.
            Path(os.path.realpath(place)).unlink()
    except OSError as error:
        raise ConfigError(
            f"{option} {place}: {error.strerror}", "name a file that can be written"
        ) from error


def _put(place: Path, data: bytes) -> None:
    """Write a file where a link leads: whole, in the place of what was there; into what is there
    where that is a device, a pipe or our own output, or nothing can be put in its place.
    """
    ours = place.exists() and any(map(partial(_is_same, place), (sys.stdout, sys.stderr)))
    if not ours and (place.is_file() or not place.exists()):
        try:
            write_whole(Path(os.path.realpath(place)), data)
        except OSError as error:
            if error.errno not in _NO_PLACE:
                raise
        else:
            return
    sys.stdout.flush()
    with place.open("ab" if ours else "wb") as stream:
        stream.write(data)


def _is_same(place: Path, stream: TextIO) -> bool:
    """Whether an output of ours goes to that file."""
    try:
        return os.path.samestat(place.stat(), os.fstat(stream.fileno()))
    except (OSError, ValueError):
        return False


def files_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options --summary and --plot as its argument `files`."""

    @wraps(command)
    def guarded(*words: Any, files: AnswerFiles, **options: Any) -> int:
        files.check()
        with files.with_errors():
            return command(*words, files=files, **options)

    def put(context: click.Context, option: click.Parameter, place: Path | None) -> None:
        known = context.params.get("files") or AnswerFiles(None, None)
        names = {"summary": known.summary, "plot": known.plot} | {str(option.name): place}
        context.params["files"] = AnswerFiles(**names)

    kind: Any = click.Path(path_type=Path, dir_okay=False)
    summary = click.option(
        "--summary", type=kind, expose_value=False, callback=put, metavar="FILE.md",
        help="Append the answer as Markdown, as for $GITHUB_STEP_SUMMARY.",
    )  # fmt: skip
    plot = click.option(
        "--plot", type=kind, expose_value=False, callback=put, metavar="FILE.svg",
        help="Write a picture of all runs along the history.",
    )  # fmt: skip
    return summary(plot(guarded))


def summary_of(output: Output, record: CampaignRecord, figured: run_answer.Figured | None) -> str:
    """The answer as Markdown: first what was found, last how to go on."""
    store, found = output.store, record.result
    voice = voice_of_request(record.request)
    if found is None:
        stands = result.standing_of(store, record)
        known = [code(str(speak(stands, voice)))] if stands else []
        return _joined([f"### rtbisect: {record.state}", *known])
    sure = f", confidence {probability(found.confidence)}" if found.confidence else ""
    broken = figured.broken if figured else None
    how = ": nothing could be measured" if broken else sure
    parts = [f"### rtbisect: {result.outcome_of(found)}{how}"]
    parts += [code(str(speak(broken, voice)))] if broken else []
    heads = result.heads_of(output, record.request, found)
    for head in heads:
        rows = {"commit": head.commit, "subject": head.subject, "author": head.author}
        rows["date"] = head.date
        parts.append("\n".join(f"- {name}: {code(text)}" for name, text in rows.items()))
    if heads and (more := result.left_out(found)):
        parts.append(code(more))
    if not heads and found.candidates:
        likeliest = found.candidates[: result.MOST]
        rows = {sha: probability(share) for sha, share in likeliest}
        parts.append("\n".join(f"- candidate: {code(sha)}, {p}" for sha, p in rows.items()))
    if figured and figured.told:
        parts.append(f"- {code(figured.told)}")
        if chart := figured.chart(_WIDTH):
            parts.append(block(chart))
    if figured and figured.rest:
        parts.append(f"- {code(str(speak(figured.rest.found, voice)))}")
    if found.difference:
        parts.append(f"- {code(str(speak(found.difference.why, voice)))}")
    parts += _reasons(found, voice)
    summary = store.summary(record)
    parts.append(f"{record.id}: {code(result.costs_of(record, summary))}")
    tells = run_answer.tells_of(record.request, found)
    next_step = run_answer.next_of(record.id, record.request, found, summary.boots, heads)
    parts += [code(str(speak(step, voice))) for step in (tells, next_step) if step]
    return _joined(parts)


def _reasons(found: Result, voice: Voice) -> Iterator[str]:
    """What the answer rests on, with the checks of its proof; of a commit only that."""
    shown = (each for each in found.reasons if each.kind in _SHOWN or not found.culprit)
    lines = [str(speak(each, voice)) for each in (*shown, *result.checks_of(found))]
    if not found.culprit:
        yield block(lines)
    elif lines:
        yield "\n".join(f"- {code(line)}" for line in lines)


def summary_of_error(error: RtbisectError) -> str:
    """What has to be done first, as Markdown."""
    head = f"### rtbisect: no answer (exit code {int(error.exit_code)})"
    return _joined([head, *(code(text) for text in (error.message, error.hint) if text)])


def _joined(parts: list[str]) -> str:
    return "\n\n".join(parts) + "\n\n"
