# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the parts of a campaign from the site; the only place that knows them all."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign import builders, labs
from rtbisect.config.paths import data
from rtbisect.config.site_file import Site, load_site
from rtbisect.config.thresholds import load_thresholds
from rtbisect.errors import ConfigError
from rtbisect.kernel.config_check import most_cpus
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import BuildSettings
from rtbisect.lab.profile import host_profile
from rtbisect.lab.windows import explaining, of_suites
from rtbisect.model.campaign import CampaignRequest, Limits, Scale
from rtbisect.model.code import BuildRequest
from rtbisect.model.command import (
    RUN,
    SUITE,
    WINDOW,
    CommandRequest,
    repairs,
    turned,
)
from rtbisect.model.lab import DeviceType, HostProfile, RunRequest, Window
from rtbisect.model.ports import Parts
from rtbisect.model.setup import Setup
from rtbisect.process import locks
from rtbisect.program import worktree_run
from rtbisect.report.command_log import LogKeeper
from rtbisect.report.draft import DraftMailer, ReportSettings
from rtbisect.store.artefacts import ArtefactStore, sweep
from rtbisect.store.db import make_folder
from rtbisect.suites import siteload
from rtbisect.trees.git import GitTree, GitTreeSettings, ls_remote

if TYPE_CHECKING:
    from rtbisect.config.kernelci import BuildTarget
    from rtbisect.config.site_file import PlannedJob
    from rtbisect.model.ports import Journal, Progress

MACHINE_LOCK = labs.MACHINE_LOCK

#: Seconds to wait for a measurement of somebody else.
MACHINE_WAIT_S = 900.0

#: Nothing is free: not even a command that takes no time.
SMALLEST_COST_S = 0.01


class SystemClock:
    """ports.Clock of the machine."""

    def now_iso(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")


def assemble(
    state: Path, request: CampaignRequest, journal: Journal, progress: Progress
) -> tuple[Setup, Parts]:
    """Everything that a campaign needs, made from its request alone."""
    if request.kind == RUN:
        return _command_parts(state, request, journal, progress)
    site = load_site(Path(request.site))
    target = site.target(request.tree)
    setup = setup_of(site, target, request)
    artefacts = ArtefactStore(state / "artefacts")
    tree = tree_of(state, target)
    parts = Parts(
        tree=tree,
        builder=builders.of_setup(state, site, artefacts, setup, tree.foreign),
        lab=labs.lab_of(
            state,
            site,
            artefacts,
            _kept(artefacts, site.workload(site.job(target)), setup),
            progress.say,
            journal.campaign,
        ),
        journal=journal,
        mailer=mailer_of(state, site, setup.operator),
        clock=SystemClock(),
        progress=progress,
    )
    return setup, parts


def mailer_of(state: Path, site: Site, operator: str) -> DraftMailer:
    """What writes the mails of a site."""
    kcidb = site.ours.kcidb
    return DraftMailer(
        ReportSettings(
            out_dir=state / "reports",
            templates=data("reports"),
            bot_name=site.ours.bot.name,
            bot_address=site.ours.bot.address,
            operator=operator,
            archive=site.ours.mail.archive,
            kcidb=(kcidb.origin, site.beside(kcidb.spool)) if kcidb else None,
        )
    )


def _command_parts(
    state: Path, request: CampaignRequest, journal: Journal, progress: Progress
) -> tuple[Setup, Parts]:
    """A campaign of any command: no site, no kernel, no mail."""
    asked = CommandRequest.of(request)
    tree = command_tree(state, request.repo)
    setup = Setup(
        request=request,
        tree=request.repo,
        repo=request.repo,
        build=BuildRequest("", "command", "", ()),
        device=DeviceType("this machine", "", 1, 1, 1, 0, emulated=False),
        profile=HostProfile("as-is", "", "", "", ""),
        windows=(Window(WINDOW, (SUITE,)),),
        window_ms=0,
        rcu_calls=0,
        thresholds=(asked.threshold(),),
        limits=Limits(
            # Shares of failures take many runs to tell apart.
            calibrate_max=max(40, asked.max_runs // 4) if asked.pass_fail else 40,
            max_boots=asked.max_runs,
            max_builds=asked.max_runs,
        ),
        operator="",
        command=True,
        given_build_s=_cost(asked.cost_build_s or 0.0),
        given_boot_s=None if asked.cost_run_s is None else _cost(asked.cost_run_s),
    )
    settings = worktree_run.CommandSettings(
        argv=asked.argv,
        metric=request.metric or "",
        pass_fail=asked.pass_fail,
        timeout_s=asked.timeout_s,
        work_dir=state / "run" / journal.campaign,
        checkout=tree.checkout,
        restore=tree.restore,
        positive=asked.threshold().scale is Scale.LOG,
        good_first=not asked.find_fix,
    )
    parts = Parts(
        tree=tree,
        builder=worktree_run.NoBuild(tree.tree_id),
        lab=worktree_run.CommandLab(settings),
        journal=journal,
        mailer=LogKeeper(state / "reports"),
        clock=SystemClock(),
        progress=progress,
    )
    return setup, parts


def _cost(seconds: float) -> float:
    """Seconds by which information is divided."""
    return max(seconds, SMALLEST_COST_S)


def command_tree(state: Path, repo: str) -> GitTree:
    """The tree of a repository that no site names; its worktree has a place of its own."""
    name = hashlib.sha256(repo.encode()).hexdigest()[:12]
    worktree = state / "trees" / f"run-{name}"
    return GitTree(
        GitTreeSettings(
            name=repo, repo=Path(repo), worktree=worktree, lock=worktree.with_suffix(".lock")
        )
    )


def setup_of(site: Site, target: BuildTarget, request: CampaignRequest) -> Setup:
    """What a campaign on a target works with; ConfigError when its plan does not fit."""
    planned = site.job(target)
    suites = tuple(planned.params.suites)
    limits = load_thresholds(data("thresholds"), suites)
    windows = _beside(
        site, planned, of_suites(suites, ((t.key.suite, t.key.window) for t in limits))
    )
    if not windows:
        raise ConfigError(
            f"{site.path}: test_plan {planned.plan} names no suite that measures",
            "docs/suites/ has a page on each; ipi, osnoise and rcu are a start",
        )
    build = build_pattern(site, target, suites)
    _check_topology(site, planned.device, build)
    return Setup(
        request=request,
        tree=target.name,
        repo=target.url,
        build=build,
        device=planned.device,
        profile=host_profile(planned.device, planned.params.profile),
        windows=windows,
        explaining=tuple(
            each
            for window in windows
            for each in explaining(window)
            if not each.asked or set(each.suites) & set(suites)
        ),
        window_ms=planned.params.window_ms,
        rcu_calls=planned.params.rcu_calls,
        thresholds=tuple(turned(t) for t in limits) if repairs(request) else limits,
        limits=Limits(**site.ours.campaign.model_dump()),
        operator=str(site.ours.operator),
    )


def _check_topology(site: Site, device: DeviceType, build: BuildRequest) -> None:
    """ConfigError where the configuration has fewer CPUs than the device: those that a kernel
    leaves out are missing in every figure.
    """
    most = most_cpus(build.base, build.fragments)
    if most is not None and device.cpus > most:
        place = ("device_types", device.name, "params", "cores")
        raise site.document.refuse(
            place,
            f"{device.name} has {device.cpus} CPUs, a kernel of {build.config_name} at most {most}",
            "say CONFIG_SMP=y and a larger CONFIG_NR_CPUS in a fragment",
        )


def _beside(site: Site, planned: PlannedJob, windows: tuple[Window, ...]) -> tuple[Window, ...]:
    """The windows, those beside the site's own workload named by it and by what is in it."""
    program, asked = site.workload(planned), siteload.NAME in planned.params.suites
    if asked != (program is not None):
        which = "has the suite siteload and no workload" if asked else "has a workload for no suite"
        hint = "docs/suites/siteload.md says how they go together"
        raise ConfigError(f"{site.path}: test_plan {planned.plan} {which}", hint)
    if program is None or planned.params.workload is None:
        return windows
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    name = f"{siteload.SITE}{program.name}@{digest[:12]}"
    synthetic = planned.params.workload.synthetic
    return tuple(
        replace(window, workload=name, synthetic=synthetic)
        if siteload.NAME in window.suites and window.workload != "none"
        else window
        for window in windows
    )


def _kept(artefacts: ArtefactStore, program: Path | None, setup: Setup) -> Path | None:
    """The site's workload as the store keeps it: what boots run does not change under them."""
    if program is None:
        return None
    sha256 = artefacts.put_bytes(program.read_bytes())
    if not any(window.workload.endswith(f"@{sha256[:12]}") for window in setup.windows):
        raise ConfigError(f"{program} has changed just now", "start again")
    return artefacts.path(sha256)


def check_target(site: Site, target: BuildTarget) -> PlannedJob:
    """The job of a build_config, when everything that a campaign reads can be made."""
    setup_of(site, target, CampaignRequest("check", str(site.path), target.name, "", ""))
    return site.job(target)


def build_pattern(site: Site, target: BuildTarget, suites: tuple[str, ...]) -> BuildRequest:
    """The build request of a target; suites bring their kernel modules as sources, and options that
    only they need.
    """
    folders = [data("lava-jobs") / "suites" / suite for suite in suites]
    options = [
        path.read_text(encoding="utf-8")
        for folder in folders
        if (path := folder / "kernel.config").is_file()
    ]
    modules = [
        (source.name, source.read_text(encoding="utf-8"))
        for folder in folders
        for source in sorted(folder.iterdir())
        if (folder / "Kbuild").is_file() and source.name in ("Kbuild", f"rtbisect_{folder.name}.c")
    ]
    return BuildRequest(
        revision="",
        config_name="+".join((target.base, *(part.name for part in target.fragments))),
        base=target.base,
        fragments=(*site.fragment_texts(target), *options),
        modules=tuple(modules),
    )


def tree_of(state: Path, target: BuildTarget) -> GitTree:
    worktree = state / "trees" / target.tree
    local = target.url.removeprefix("file://")
    return GitTree(
        GitTreeSettings(
            name=target.tree,
            repo=Path(local) if Path(local).is_absolute() else target.url,
            worktree=worktree,
            lock=worktree.with_suffix(".lock"),
        )
    )


def head_of(tree: GitTree, target: BuildTarget, branch: str = "") -> str:
    """Where a branch of a target's repository, "" for the target's own, is now."""
    name = branch or target.branch
    sha = ls_remote(target.url, name)
    if sha is None:
        raise ConfigError(
            f"no branch {name!r} in {target.url}", "check trees and build_configs of the site"
        )
    return tree.resolve(sha)


def preflight(state: Path, site: Path | None = None) -> None:
    """Disk, memory, compiler and the lab of `site` (None: the one on this machine) before anything
    is started.

    ConfigError says what is missing, InfrastructureError that disk or memory are short.
    """
    make_folder(state)
    settings = BuildSettings(root=state / "build", machine_lock=MACHINE_LOCK)
    # Before it is asked how much of the disk is free.
    for folder in (state / "artefacts", settings.root / "records"):
        sweep(folder)
    KernelBuilder(settings, ArtefactStore(state / "artefacts")).preflight()
    if site is None or load_site(site).access is None:
        labs.check_embedded(state)


def validate_job(state: Path, request: CampaignRequest) -> None:
    """Let LAVA validate the job that the campaign will submit; nothing is booted, nothing is
    journaled. Waits while another campaign measures on this machine.
    """
    site = load_site(Path(request.site))
    target = site.target(request.tree)
    setup = setup_of(site, target, request)
    with locks.hold(MACHINE_LOCK, wait_s=MACHINE_WAIT_S, what="this machine", shared=True):
        artefacts = ArtefactStore(state / "artefacts")
        workload = _kept(artefacts, site.workload(site.job(target)), setup)
        labs.lab_of(state, site, artefacts, workload).preflight(probe(setup, request.bad))


def probe(setup: Setup, revision: str, run_id: str = "preflight") -> RunRequest:
    """A boot as the campaign will ask for it, every window once, without a kernel."""
    return RunRequest(
        run_id=run_id,
        revision=revision,
        kernel="",
        modules="",
        device_type=setup.device,
        profile=setup.profile,
        windows=setup.windows,
        window_ms=setup.window_ms,
        rcu_calls=setup.rcu_calls,
    )
