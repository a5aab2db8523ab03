# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the parts of a campaign from the site; the only place that knows them all."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rtbisect.campaign import builders, labs
from rtbisect.campaign.plan import LOOKS_SHARE, probe, setup_of
from rtbisect.campaign.trees import command_tree, tree_of
from rtbisect.config.origin import installed_from
from rtbisect.config.paths import data
from rtbisect.errors import ConfigError
from rtbisect.kernel import relink
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.program_hash import program_hash
from rtbisect.kernel.settings import BuildSettings as KernelBuildSettings
from rtbisect.kernel.toolchain import BIN
from rtbisect.lab import kernel_on_host
from rtbisect.model.campaign import CampaignRequest, Limits, Scale, Sought
from rtbisect.model.command import CommandRequest, narrowing_of
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.model.ports import Journal, Ports, Screen
from rtbisect.model.setup import Setup
from rtbisect.process import locks
from rtbisect.program import worktree_run
from rtbisect.program.build_trees import BuildSettings, BuildTrees
from rtbisect.program.counter import Counter
from rtbisect.program.products import Products
from rtbisect.program.wanted import wanted_of
from rtbisect.report.draft import DraftMailer, LogKeeper, ReportSettings
from rtbisect.report.letter import Bot
from rtbisect.store.artefacts import ArtefactStore, sweep
from rtbisect.store.db import make_folder
from rtbisect.store.session_files import SessionFiles
from rtbisect.words.speak import speak
from rtbisect.words.voice import Voice, voice_of_request

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.config.site_file import Site
    from rtbisect.model.finding import Finding
    from rtbisect.model.ports import Left
    from rtbisect.model.subject import Traits
    from rtbisect.trees.git import GitTree

MACHINE_LOCK = labs.MACHINE_LOCK

#: Seconds to wait for a measurement of somebody else.
MACHINE_WAIT_S = 900.0

#: The cost of the cheapest build or run: not even a command that takes no time is free.
SMALLEST_COST_S = 0.01

#: What compilers and packers write in the place of the time, where it is set (reproducible builds):
#: a day that all of them take.
_EPOCH, _SOME_DAY_S = "SOURCE_DATE_EPOCH", "315619200"


@dataclass(frozen=True, slots=True)
class SpokenProgress:
    """ports.Progress on a screen."""

    screen: Screen
    voice: Voice
    #: Files in which others read how far the search is; None: nobody does.
    files: SessionFiles | None = None

    def tell(self, finding: Finding) -> None:
        if self.files is not None and finding.kind == Searches.STANDS:
            self.files.keep_standing(finding)
        if not self.screen.shows(finding):
            self.screen.say(str(speak(finding, self.voice)))

    def step(self, what: Finding, done: int, total: int, left: Left | None) -> None:
        self.screen.shows(what)
        self.screen.step(str(speak(what, self.voice)), done, total, left)


class SystemClock:
    """ports.Clock of the machine."""

    def now_iso(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")


def assemble(
    state: Path,
    site: Site | None,
    request: CampaignRequest,
    journal: Journal,
    screen: Screen,
) -> tuple[Setup, Ports]:
    """Everything that a campaign needs, made from its request and from the site that it names."""
    if site is None:
        return _command_ports(state, request, journal, screen)
    target = site.target(request.tree)
    setup = setup_of(site, target, request)
    tree = tree_of(state, target)
    parts = Ports(
        tree=tree,
        subject=kernels_on_host(state, site, setup, tree, screen, journal.campaign),
        journal=journal,
        mailer=mailer_of(state, site, setup.operator),
        clock=SystemClock(),
        progress=_progress(state, request, journal, screen),
    )
    return setup, parts


def kernels_on_host(  # noqa: PLR0913  (what only its callers know)
    state: Path, site: Site, setup: Setup, tree: GitTree, screen: Screen, campaign: str = ""
) -> kernel_on_host.KernelOnHost:
    """What a set-up builds and boots, in a campaign or without one."""
    artefacts = ArtefactStore(state / "artefacts")
    workload = _store_workload(artefacts, site.workload(site.job(site.target(setup.tree))), setup)
    return kernel_on_host.KernelOnHost(
        kernel=setup.booted,
        seed=setup.request.seed,
        tree=tree,
        builder=builders.of_setup(state, site, artefacts, setup, tree.foreign),
        lab=labs.lab_of(state, site, artefacts, workload, screen.say, campaign),
    )


def _progress(
    state: Path, request: CampaignRequest, journal: Journal, screen: Screen
) -> SpokenProgress:
    screen.begin(request)
    files = SessionFiles.of(state, journal.campaign)
    return SpokenProgress(screen, voice_of_request(request), files)


def bot_of(site: Site) -> Bot:
    """Who writes the mails of a site."""
    return Bot(site.ours.bot.name, site.ours.bot.address, site.ours.mail.archive)


def mailer_of(state: Path, site: Site, operator: str) -> DraftMailer:
    """What writes the mails of a site."""
    kcidb = site.ours.kcidb
    return DraftMailer(
        ReportSettings(
            out_dir=state / "reports",
            templates=data("reports"),
            bot=bot_of(site),
            operator=operator,
            kcidb=(kcidb.origin, site.beside(kcidb.spool)) if kcidb else None,
        )
    )


def command_limits(command: CommandRequest) -> Limits:
    """Budget and limits of a search of `run`."""
    usual = Limits()
    return replace(
        usual,
        # Shares of failures take many runs to tell apart.
        calibrate_max=max(40, command.max_runs // 4) if command.pass_fail else 40,
        # What fails in one run of ten promises nothing before it has failed.
        looks_max=0 if command.pass_fail else command.max_runs // LOOKS_SHARE,
        max_boots=command.max_runs,
        grows_to=command.grows_to,
        max_builds=command.max_runs,
        # Each run is of another build: no other ones tell more.
        layout_below=0.0 if command.relayout else usual.layout_below,
    )


def _command_ports(
    state: Path, request: CampaignRequest, journal: Journal, screen: Screen
) -> tuple[Setup, Ports]:
    """A campaign of any command: no site, no kernel, no mail."""
    command = CommandRequest.of(request)
    progress = _progress(state, request, journal, screen)
    tree = command_tree(
        state,
        request.repo,
        overlay=_kept(state, command.overlay_sha256),
        carry=(command.carry_onto, _kept(state, command.carry_sha256)),
        submodules=bool(command.submodules),
        lfs=command.lfs,
    )
    setup = Setup(
        request=request,
        tree=request.repo,
        repo=request.repo,
        thresholds=(command.threshold(),),
        limits=command_limits(command),
        operator="",
        kernel=None,
        given_build_s=_given_build_s(command),
        given_boot_s=None if command.cost_run_s is None else _positive_cost(command.cost_run_s),
    )
    work_dir = state / "run" / journal.campaign
    settings = _command_settings(request, tree, work_dir, progress)
    parts = Ports(
        tree=tree,
        subject=worktree_run.CommandInWorktree(settings),
        journal=journal,
        mailer=LogKeeper(state / "reports", installed_from(), narrowing_of(request)),
        clock=SystemClock(),
        progress=progress,
    )
    return setup, parts


def _command_settings(
    request: CampaignRequest, tree: GitTree, work_dir: Path, progress: SpokenProgress
) -> worktree_run.CommandSettings:
    """How a command is run in the revisions of a tree."""
    command = CommandRequest.of(request)
    return worktree_run.CommandSettings(
        argv=command.argv,
        wanted=wanted_of(command),
        tell=progress.tell,
        pass_fail=command.pass_fail,
        timeout_s=command.timeout_s,
        work_dir=work_dir,
        checkout=tree.checkout,
        restore=tree.restore,
        tree_of=tree.tree_id,
        lacking=tree.lacking,
        skip=tree.within(command.skip),
        positive=command.threshold().scale is Scale.LOG,
        good_first=request.sought is Sought.REGRESSION,
        builds=_build_trees(command, tree, work_dir, progress),
        counter=Counter(command.count) if command.count else None,
        counted=command.counted,
        products=Products(command.products, program_hash) if command.products else None,
    )


def _kept(state: Path, sha256: str) -> bytes:
    """Files or changes of the work tree as they were when the campaign began; b"" for none."""
    if not sha256:
        return b""
    kept = ArtefactStore(state / "artefacts").path(sha256).read_bytes()
    if hashlib.sha256(kept).hexdigest() != sha256:
        raise ConfigError(
            "the kept files of --overlay or --carry are damaged", "start a new campaign"
        )
    return kept


def traits_of(setup: Setup) -> Traits:
    """What there is to know of what a campaign measures, without anything that could do it."""
    if setup.kernel:
        return kernel_on_host.traits_of(setup.kernel)
    command = CommandRequest.of(setup.request)
    return worktree_run.traits_of(
        built=bool(command.build), relaid=command.relayout, products=bool(command.products)
    )


def _given_build_s(command: CommandRequest) -> float | None:
    """What a revision costs once; None where its builds tell."""
    if command.build and command.cost_build_s is None:
        return None
    return _positive_cost(command.cost_build_s or 0.0)


def _build_trees(
    command: CommandRequest, tree: GitTree, work_dir: Path, progress: SpokenProgress
) -> BuildTrees | None:
    if not command.build:
        return None
    settings = BuildSettings(
        argv=command.build,
        timeout_s=command.build_timeout_s,
        keep=command.keep_builds,
        work_dir=work_dir,
        campaign=work_dir.name,
        tree=tree.numbered,
        tell=progress.tell,
        relayout=command.relayout,
        env={_EPOCH: os.environ.get(_EPOCH, _SOME_DAY_S)} if command.products else {},
    )
    return BuildTrees(settings)


def _positive_cost(seconds: float) -> float:
    """Seconds by which information is divided."""
    return max(seconds, SMALLEST_COST_S)


def _store_workload(artefacts: ArtefactStore, program: Path | None, setup: Setup) -> Path | None:
    """The site's workload as the store keeps it: what boots run does not change under them."""
    if program is None:
        return None
    sha256 = artefacts.put_bytes(program.read_bytes())
    if not any(window.workload.endswith(f"@{sha256[:12]}") for window in setup.booted.windows):
        raise ConfigError(f"{program} has changed just now", "start again")
    return artefacts.path(sha256)


def preflight(state: Path, site: Site | None = None) -> None:
    """Disk, memory, compiler and the lab of `site` (None: the one on this machine) before anything
    is started.

    ConfigError says what is missing, InfrastructureError that disk or memory are short.
    """
    make_folder(state)
    settings = KernelBuildSettings(root=state / "build", machine_lock=MACHINE_LOCK)
    # Before it is asked how much of the disk is free.
    for folder in (state / "artefacts", settings.root / "records"):
        sweep(folder)
    KernelBuilder(settings, ArtefactStore(state / "artefacts")).preflight()
    if site is not None and site.ours.build.layout == "relink":
        relink.check_linker(BIN)
    if site is None or site.access is None:
        labs.check_embedded(state)


def validate_job(state: Path, site: Site, request: CampaignRequest) -> None:
    """Let LAVA validate the job that the campaign will submit; nothing is booted, nothing is
    journaled. Waits while another campaign measures on this machine.
    """
    target = site.target(request.tree)
    setup = setup_of(site, target, request)
    with locks.hold(MACHINE_LOCK, wait_s=MACHINE_WAIT_S, what="this machine", shared=True):
        artefacts = ArtefactStore(state / "artefacts")
        workload = _store_workload(artefacts, site.workload(site.job(target)), setup)
        labs.lab_of(state, site, artefacts, workload).preflight(probe(setup, request.newer))
