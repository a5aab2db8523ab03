# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions: each carries a campaign on from where the last one left it, to its end or its pause."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.campaign import assemble, plan, resolve, trees
from rtbisect.campaign.again import asked_again
from rtbisect.campaign.fingerprint import (
    MachineFingerprint,
    SetupChangedError,
    keep_setup,
    machine_parts,
)
from rtbisect.config.site_file import Site, SiteFiles
from rtbisect.errors import (
    CampaignInterrupted,
    ConfigError,
    Exit,
    InternalError,
    Interrupted,
    MisaskedError,
    RtbisectError,
)
from rtbisect.model.campaign import CampaignKind, CampaignRequest, CampaignState, Level, Outcome
from rtbisect.model.command import Extra
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Reasons, Searches
from rtbisect.pipeline import bisect, check
from rtbisect.pipeline.answer import unanswered
from rtbisect.pipeline.further import FurtherBudget, FurtherBudgets, FurtherRuns, GrownBudget
from rtbisect.pipeline.steps import RUN
from rtbisect.process.command import one_line
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignRecord, CampaignStore
from rtbisect.store.journal import StoreJournal, end_leftovers, recorded
from rtbisect.store.session_files import SessionFiles
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.model.ports import Ports, Screen
    from rtbisect.model.report import Report
    from rtbisect.model.result import Result
    from rtbisect.model.setup import Setup


def start(
    state: Path,
    request: CampaignRequest,
    progress: Screen,
    sites: SiteFiles | None = None,
    further: FurtherBudgets | None = None,
) -> CampaignRecord:
    """Begin a new campaign and run it to its end. `sites` are the site files that the caller has
    read; `further` says how much time it has.
    """
    store = CampaignStore(state)
    with store.writer():
        end_leftovers(store.database)
        # Before the campaign is made: what cannot run leaves nothing to resume.
        site = _site_ready(state, request, progress, sites)
        if request.kind == CampaignKind.RUN:
            # Once: a tag that somebody adds later may change what builds make.
            trees.command_tree(state, request.repo).take_tags()
        full = replace(request, repo=site.target(request.tree).url) if site else request
        text = codec.to_json(CampaignRequest, full)
        identity = store.create(request.kind, text, assemble.SystemClock().now_iso())
        return _run(store, identity, site, progress, further or FurtherBudgets())


def go_on(
    state: Path,
    identity: str | None,
    progress: Screen,
    sites: SiteFiles | None,
    further: FurtherBudgets | None = None,
) -> CampaignRecord:
    """Resume a campaign: the named one, else the newest unfinished one. `sites` see `start`;
    `further` is a new budget, of runs also for one that has ended without an answer. ConfigError
    where it is not of `run`, or has made more runs already.
    """
    store = CampaignStore(state)
    with store.writer():
        record = store.open_one() if identity is None else store.get(identity)
        further = further or FurtherBudgets()
        if further.given and record.kind != CampaignKind.RUN:
            raise ConfigError(f"{record.id} is no campaign of `run`", "leave out its new budget")
        if record.state is CampaignState.DONE and not further.changes:
            _check_time(store, record, further)
            return record
        request = record.request
        further.known = recorded(store.database, record.id, FurtherBudget)
        further.asked = recorded(store.database, record.id, FurtherRuns)
        further.grown = recorded(store.database, record.id, GrownBudget)
        if further.again is not None:
            further.again = asked_again(store, record, further.again)
        if further.most is not None:
            _check_most(store, record, further)
        end_leftovers(store.database)
        site = _site_ready(state, request, progress, sites)
        return _run(store, record.id, site, progress, further)


def _check_most(store: CampaignStore, record: CampaignRecord, further: FurtherBudgets) -> None:
    most = further.most or 0
    answered = record.result is not None and record.result.outcome is not Outcome.INCONCLUSIVE
    if record.result is not None and answered and further.again is None:
        raise ConfigError(
            f"{record.id} has its answer: {record.result.outcome}", "see `rtbisect status`"
        )
    made = store.summary(record).boots
    if most <= made:
        raise ConfigError(f"{record.id} has made {made} runs", "give more than these")


def _check_time(store: CampaignStore, record: CampaignRecord, further: FurtherBudgets) -> None:
    """ConfigError for time that a search which has ended cannot use."""
    open_ended = record.result is not None and record.result.outcome is Outcome.INCONCLUSIVE
    if further.time_s and open_ended:
        made = store.summary(record).boots
        raise ConfigError(
            f"{record.id} has ended: time alone takes it no further",
            f"`rtbisect resume {record.id} --max-runs N` goes on, with N above {made}; beside that"
            " --time-budget may be given",
        )


def once(
    state: Path,
    request: CampaignRequest,
    progress: Screen,
    *,
    again: bool = True,
    sites: SiteFiles | None = None,
) -> CampaignRecord:
    """The campaign of a request: one that a kill interrupted goes on, else a new one; without
    `again` one that is done is taken as it is.
    """
    store = CampaignStore(state)
    for identity in reversed(store.of_request(request)):
        with suppress(InternalError):
            record = store.get(identity)
            if record.state is not CampaignState.DONE:
                try:
                    return go_on(state, identity, progress, sites)
                except SetupChangedError:
                    break
            if not again:
                return record
    return start(state, request, progress, sites)


def stopped(state: Path, request: CampaignRequest) -> str:
    """The campaign of a request that waits until a person resumes it, because one has stopped it;
    "" for none.
    """
    newest = _newest(CampaignStore(state), request)
    if newest is None or newest.state is CampaignState.DONE:
        return ""
    return newest.id if SessionFiles.of(state, newest.id).stop_asked() else ""


def answered_alike(state: Path, request: CampaignRequest, sites: SiteFiles) -> bool:
    """Whether the newest campaign of a request is done, and boots of today are like its own."""
    store = CampaignStore(state)
    newest = _newest(store, request)
    if newest is None or newest.state is not CampaignState.DONE:
        return False
    machines = recorded(store.database, newest.id, MachineFingerprint)
    site = sites.of_campaign(request) if machines else None
    if site is None:
        return True
    return machines[0].fits(machine_parts(plan.setup_of(site, site.target(request.tree), request)))


def _newest(store: CampaignStore, request: CampaignRequest) -> CampaignRecord | None:
    """The newest campaign of a request that this version can read."""
    return next(store.readable(store.of_request(request)[::-1]), None)


def _site_ready(
    state: Path, request: CampaignRequest, progress: Screen, sites: SiteFiles | None
) -> Site | None:
    """The site of a campaign, after a look whether it can run here: once for each process that runs
    it, never recorded. None for one of any command.
    """
    site = (sites or SiteFiles()).of_campaign(request)
    if site is not None:
        assemble.preflight(state, site)
        progress.say("LAVA validates the job; that waits while another campaign measures")
        assemble.validate_job(state, site, request)
    return site


def _run(
    store: CampaignStore,
    identity: str,
    site: Site | None,
    progress: Screen,
    further: FurtherBudgets,
) -> CampaignRecord:
    record = store.get(identity)
    request, answered = record.request, record.state is CampaignState.DONE
    files = SessionFiles.of(store.state, identity)
    # Before the journal: with that the campaign runs for others, who may ask it to stop at once.
    files.forget_stop()
    files.forget_end()
    journal = StoreJournal(store.database, identity)
    parts: Ports | None = None
    further.stop_asked = files.stop_asked
    try:
        setup, parts = assemble.assemble(store.state, site, request, journal, progress)
        setup = keep_setup(setup, journal)
        progress.say(f"campaign {identity}: {request.kind} of the tree {setup.tree}")
        # Others, as those that count instructions, are none of the search.
        runs = len(journal.keys(RUN, finished=True))
        if answered:
            # Where the repository is gone this fails, and the answer stays.
            parts.tree.describe(request.newer)
            store.reopen(identity)
            answered = False
        further.keep(journal, runs, setup.limits)
        result, report = run_pipeline(setup, parts, further)
    except MisaskedError as error:
        # Resumed it would say the same: the campaign is over. An answer that it had stands: where
        # what its runs printed is gone, a later run may be taken for the first one.
        why = Finding.of(Reasons.MISASKED, message=error.message)
        if not answered:
            stood = record.result if _says(record.result) else None
            report = record.report if stood else None
            store.finish(identity, stood or unanswered(None, why).result(), report)
        raise
    except BaseException as error:
        told = error
        # The note must not hide the reason, not even on a full disk.
        with suppress(RtbisectError):
            if not answered:
                if (code := _exit_code(error)) is not None:
                    files.keep_end(code)
                store.note(identity, _pause_note(error))
            if parts is not None:
                told = _told(error, store, record, files, parts)
        if told is not error:
            raise told from error
        raise
    finally:
        if parts is not None:
            parts.subject.leave()
    store.finish(identity, result, report)
    files.forget_stop()
    return store.get(identity)


def run_pipeline(
    setup: Setup, parts: Ports, further: FurtherBudgets | None = None
) -> tuple[Result, Report | None]:
    """Carry a campaign out. `further` see `pipeline/bisect.py`."""
    request = setup.request
    if request.kind == CampaignKind.CHECK:
        return check.check(setup, parts, further), None
    if request.kind == CampaignKind.TRY:
        limit = resolve.limit_of(setup.thresholds, request)
        return check.try_revision(setup, parts, limit, Extra.of(request).boots, further), None
    return bisect.bisect(setup, parts, further)


def _says(result: Result | None) -> bool:
    """Whether an answer says more than that there is none."""
    return result is not None and bool(
        result.outcome is not Outcome.INCONCLUSIVE or result.candidates
    )


def _told(
    error: BaseException,
    store: CampaignStore,
    record: CampaignRecord,
    files: SessionFiles,
    parts: Ports,
) -> BaseException:
    """The same error, but of an interruption which campaign is paused, and how it goes on; shows
    where that stands.
    """
    if not isinstance(error, KeyboardInterrupt | Interrupted):
        return error
    if stands := files.standing():
        parts.progress.tell(stands)
    found = Finding.of(Searches.PAUSED, campaign=record.id, boots=store.summary(record).boots)
    said = str(speak(found, voice_of_request(record.request)))
    told = Interrupted(said, f"`rtbisect resume {record.id}` goes on")
    return told if isinstance(error, Interrupted) else CampaignInterrupted(told)


def _pause_note(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return one_line(str(error)) or type(error).__name__


def _exit_code(error: BaseException) -> Exit | None:
    """None for an error that nobody has foreseen."""
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED
    return error.exit_code if isinstance(error, RtbisectError) else None


def level_of(result: Result) -> Level:
    """What a comparison says."""
    if result.outcome is Outcome.INCONCLUSIVE:
        return Level.UNDECIDED
    return Level.REGRESSED if result.outcome is Outcome.CULPRIT_SET else Level.PASS
