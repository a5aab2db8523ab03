# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect status`, `stop` and `resume`: the campaigns of this store, and those that go on."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rtbisect.campaign import session
from rtbisect.campaign.again import FEW_AGAIN, MOST_AGAIN
from rtbisect.cli import check, live, result
from rtbisect.cli.answer_files import AnswerFiles, files_options
from rtbisect.cli.options import WholeNumber, answers, time_option
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.cli.run_answer import Figured
from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.campaign import MOST_BOOTS, CampaignKind, CampaignState
from rtbisect.pipeline.further import FurtherBudgets
from rtbisect.process import plugins
from rtbisect.process.locks import POLL_S
from rtbisect.store.session_files import SessionFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rtbisect.store.campaigns import CampaignRecord, CampaignStore


#: Campaigns that are listed unless all are asked for, and those that are not done.
#: Seconds in which a campaign that was started runs.
BEGINS_S = 10.0
NEWEST = 50


@click.command(epilog="Example: rtbisect status --json")
@click.argument("campaign", required=False)
@click.option(
    "--all", "everything", is_flag=True, help="List all campaigns (default: the newest 50)."
)
@files_options
@answers
def status(output: Output, campaign: str | None, everything: bool, files: AnswerFiles) -> int:
    """List campaigns with state and cost: the newest, and all that are not done.

    With CAMPAIGN, show its whole answer.
    """
    store = output.store
    active, names = store.active(), store.names()
    if campaign is not None:
        record = _as_it_is(store.get(campaign), running=campaign == active)
        row, _line = _row(store, campaign, running=campaign == active)
        figured = Figured.of(store, record)
        output.answer({"campaigns": [row], "older": 0}, _whole(output, record, figured))
        files.write(output, record, figured)
        return 0
    listed = names if everything else _newest_and_unfinished(names, store.unfinished())
    campaigns = [_row(store, name, running=name == active) for name in listed]
    lines = [line for _row, line in campaigns] or [
        "no campaigns yet; start one with `rtbisect run` or `rtbisect demo`"
    ]
    if older := len(names) - len(listed):
        lines.insert(0, f"{older} older ones that are done: `rtbisect status --all`")
    data = {"campaigns": [row for row, _line in campaigns], "older": older}
    output.answer(data, "\n".join(lines))
    return 0


@click.command(epilog="Example: rtbisect stop run-1")
@click.argument("campaign", required=False)
@answers
def stop(output: Output, campaign: str | None) -> int:
    """Pause CAMPAIGN, or the one that runs, after its current build or run.

    Waits for that, then says where the campaign stands. What was measured is kept, and
    `rtbisect resume` goes on. To interrupt the current step as well: Ctrl-C where it runs.
    """
    store = output.store
    deadline = time.monotonic() + BEGINS_S
    while store.begins():
        if time.monotonic() > deadline:
            raise ConfigError("a campaign is about to begin", "stop it when it runs")
        time.sleep(POLL_S)
    active = store.active()
    record = store.get(campaign or active or store.open_one().id)
    if record.id == active:
        SessionFiles.of(output.state, active).ask_to_stop()
        PlainProgress().say(f"{active} ends after the run under way; Ctrl-C here waits no longer")
        while store.active() == active:
            time.sleep(POLL_S)
    row, _line = _row(store, record.id, running=False)
    record = _as_it_is(store.get(record.id), running=False)
    output.answer(row, _whole(output, record, Figured.of(store, record)))
    return 0


def _whole(output: Output, record: CampaignRecord, figured: Figured | None) -> str:
    """The answer of a campaign as it was shown when it ended."""
    if record.kind == CampaignKind.CHECK:
        return check.text_of_check(output, record)
    return result.whole_answer(output, record, figured)[1]


def _newest_and_unfinished(names: Sequence[str], unfinished: Collection[str]) -> list[str]:
    older, newest = names[:-NEWEST], names[-NEWEST:]
    unfinished = set(unfinished)
    return [*(name for name in older if name in unfinished), *newest]


def _as_it_is(record: CampaignRecord, *, running: bool) -> CampaignRecord:
    """What is not done and no process works on is paused."""
    if record.state is CampaignState.RUNNING and not running:
        return replace(record, state=CampaignState.PAUSED)
    return record


def _row(store: CampaignStore, name: str, *, running: bool) -> tuple[dict[str, Any], str]:
    """A campaign for a program and for a person. One that another version made must not hide
    the others.
    """
    try:
        record = _as_it_is(store.get(name), running=running)
        row = result.answer_of(store, record)
        line = result.listed(record, store.summary(record))
    except InternalError as error:
        nothing = result.empty_answer(name)
        extra = {"state": "unreadable", "created": "", "note": str(error)}
        return nothing | extra, f"{name}: unreadable: {error}"
    extra = {"state": record.state, "created": record.created, "note": record.note}
    return row | extra, line


@click.command(epilog="Example: rtbisect resume bisect-3")
@click.argument("campaign", required=False)
@click.option(
    "--max-runs",
    "most",
    type=WholeNumber(1, MOST_BOOTS),
    help="New maximum number of runs of a `run`, also after it ended inconclusive.",
)
@click.option(
    "--again",
    metavar="REV",
    help="Make more runs of this commit of a `run`, then compute its answer again.",
)
@click.option(
    "--runs",
    type=WholeNumber(1, MOST_AGAIN),
    help=f"Number of runs of --again; they do not use up the budget (default: {FEW_AGAIN}).",
)
@time_option
@files_options
@answers
def resume(
    output: Output,
    campaign: str | None,
    most: int | None,
    again: str | None,
    runs: int | None,
    time_s: float | None,
    files: AnswerFiles,
) -> int:
    """Go on with CAMPAIGN, or with the newest unfinished one.

    All finished measurements are kept; only the interrupted step is repeated. The exit code is
    that of the command that started the campaign.
    """
    if runs and again is None:
        raise ConfigError("--runs is a number of runs of --again", "add --again REV")
    asked = None if again is None else (again, runs or FEW_AGAIN)
    further = FurtherBudgets(most=most, time_s=time_s, again=asked)
    with live.screen() as screen:
        record = session.go_on(output.state, campaign, screen, output.sites, further)
    if record.kind == CampaignKind.CHECK:
        return check.conclude(output, record)
    if record.kind == CampaignKind.TRY:
        return check.conclude_try(output, record)
    for entry in plugins.plugins(plugins.CAMPAIGNS):
        if record.kind == entry.name:
            return int(plugins.load(entry)(output, record))
    return files.shown(output, record)
