# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the parts of a campaign from the site; the only place that knows them all."""

from __future__ import annotations

import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.artefacts import ArtefactStore
from rtbisect.config import (
    Site,
    choose_threshold,
    data_root,
    load_site,
    load_thresholds,
)
from rtbisect.effects import Parts, Setup
from rtbisect.errors import ConfigError
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import BuildSettings
from rtbisect.lab.lava_run import LavaRunLab, LavaRunSettings
from rtbisect.lab.profile import host_profile
from rtbisect.lab.windows import WINDOWS
from rtbisect.model.campaign import CampaignRequest, Limits
from rtbisect.model.code import BuildRequest
from rtbisect.report.mailer import DraftMailer, ReportSettings
from rtbisect.trees.git import GitTree, GitTreeSettings
from rtbisect.trees.plumbing import ls_remote

if TYPE_CHECKING:
    from rtbisect.kernelci_core import BuildTarget
    from rtbisect.model.campaign import Threshold
    from rtbisect.ports import Journal, Progress

#: One measurement or build at a time on a machine, whatever store asks for it.
MACHINE_LOCK = Path("/run/lock/rtbisect-machine.lock")

EMBEDDED = "lava-run://localhost/"


class SystemClock:
    """ports.Clock of the machine."""

    def now_iso(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")

    def monotonic_s(self) -> float:
        return time.monotonic()


def assemble(
    state: Path, request: CampaignRequest, journal: Journal, progress: Progress
) -> tuple[Setup, Parts]:
    """Everything that a campaign needs, made from its request alone."""
    site = load_site(Path(request.site))
    target = site.target(request.tree)
    planned = site.job(target)
    profile = host_profile(planned.device, planned.params.profile)
    suites = tuple(planned.params.suites)
    artefacts = ArtefactStore(state / "artefacts")
    setup = Setup(
        request=request,
        tree=target.name,
        repo=target.url,
        build=_build_pattern(site, target, suites),
        device=planned.device,
        profile=profile,
        windows=tuple(w for w in WINDOWS if set(w.suites) & set(suites)),
        window_ms=planned.params.window_ms,
        rcu_calls=planned.params.rcu_calls,
        thresholds=load_thresholds(data_root() / "thresholds", suites),
        limits=Limits(**site.ours.campaign.model_dump()),
        operator=f"{site.ours.operator.name} <{site.ours.operator.address}>",
    )
    parts = Parts(
        tree=_tree(state, target),
        builder=_builder(state, site, artefacts, profile.boot_line),
        lab=_lab(state, site, artefacts),
        journal=journal,
        mailer=DraftMailer(
            ReportSettings(
                out_dir=state / "reports",
                templates=data_root() / "reports",
                bot_name=site.ours.bot.name,
                bot_address=site.ours.bot.address,
                operator=setup.operator,
            )
        ),
        clock=SystemClock(),
        progress=progress,
    )
    return setup, parts


def _build_pattern(site: Site, target: BuildTarget, suites: tuple[str, ...]) -> BuildRequest:
    """The build request of a target; suites bring their kernel modules as sources."""
    modules = [
        (source.name, source.read_text(encoding="utf-8"))
        for suite in suites
        for source in sorted((data_root() / "lava-jobs/suites" / suite).iterdir())
        if (source.parent / "Kbuild").is_file() and source.name in ("Kbuild", f"rtbisect_{suite}.c")
    ]
    return BuildRequest(
        revision="",
        config_name="+".join((target.base, *(part.name for part in target.fragments))),
        base=target.base,
        fragments=site.fragment_texts(target),
        modules=tuple(modules),
    )


def _tree(state: Path, target: BuildTarget) -> GitTree:
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


def _builder(state: Path, site: Site, artefacts: ArtefactStore, boot_line: str) -> KernelBuilder:
    settings = BuildSettings(
        root=state / "build",
        machine_lock=MACHINE_LOCK,
        boot_line=boot_line,
        timeout_s=float(site.ours.build.timeout_s),
        jobs=site.ours.build.jobs,
    )
    return KernelBuilder(settings, artefacts)


def _lab(state: Path, site: Site, artefacts: ArtefactStore) -> LavaRunLab:
    if site.lab.url != EMBEDDED:
        raise ConfigError(
            f"{site.path}: lab {site.lab.name}: {site.lab.url} is not supported",
            f"this version runs jobs with {EMBEDDED} only",
        )
    lava = state / "lava"
    return LavaRunLab(
        LavaRunSettings(
            lava_root=lava,
            work_dir=state / "lab",
            machine_lock=MACHINE_LOCK,
            lava_jobs=data_root() / "lava-jobs",
        ),
        artefacts,
    )


def repository_of(request: CampaignRequest) -> str:
    """The repository that a campaign searched."""
    return load_site(Path(request.site)).target(request.tree).url


def _opened(state: Path, place: Path, tree: str) -> tuple[Site, BuildTarget, GitTree]:
    site = load_site(place)
    target = site.target(tree)
    return site, target, _tree(state, target)


def base_and_tip(
    state: Path, place: Path, tree: str, base: str | None, tip: str | None
) -> tuple[str, str]:
    """Shas to compare: the branch head against a base, else against the merge base with the
    reference branch. Refs are read with `git ls-remote`.
    """
    _site, target, git = _opened(state, place, tree)
    new = git.resolve(tip) if tip else _head(git, target, target.branch)
    if base:
        return git.resolve(base), new
    if not target.reference_branch:
        raise ConfigError(
            f"{place}: {target.name} has no reference branch", "give --base, or add `reference`"
        )
    return git.merge_base(_head(git, target, target.reference_branch), new), new


def _head(git: GitTree, target: BuildTarget, branch: str) -> str:
    sha = ls_remote(target.url, branch)
    if sha is None:
        raise ConfigError(
            f"no branch {branch!r} in {target.url}", "check trees and build_configs of the site"
        )
    return git.resolve(sha)


def good_and_bad(  # noqa: PLR0913  (what the command line gives)
    state: Path,
    place: Path,
    tree: str,
    good: str,
    bad: str,
    suite: str | None,
    metric: str | None,
) -> tuple[str, str]:
    """Full shas of both ends, and a check of suite and metric before anything is spent."""
    site, target, git = _opened(state, place, tree)
    _check_metric(site, target, suite, metric)
    first, last = git.resolve(good), git.resolve(bad)
    git.graph(first, last)
    return first, last


def one_revision(  # noqa: PLR0913  (what the command line gives)
    state: Path, place: Path, tree: str, revision: str, suite: str | None, metric: str | None
) -> str:
    """Full sha of a revision, and a check of suite and metric."""
    site, target, git = _opened(state, place, tree)
    _check_metric(site, target, suite, metric)
    return git.resolve(revision)


def _check_metric(site: Site, target: BuildTarget, suite: str | None, metric: str | None) -> None:
    if suite is None:
        if metric is not None:
            raise ConfigError("--metric needs --suite", "give both, or neither")
        return
    suites = tuple(site.job(target).params.suites)
    choose_threshold(load_thresholds(data_root() / "thresholds", suites), suite, metric)


def limit_of(thresholds: tuple[Threshold, ...], request: CampaignRequest) -> float:
    """The limit of `try`: given with the request, else that of the thresholds."""
    asked = dict(request.extra).get("limit")
    if asked is not None:
        return float(asked)
    threshold = choose_threshold(thresholds, request.suite or "ipi", request.metric)
    if threshold.limit is None:
        raise ConfigError(f"{threshold.key} has no limit", "give one with --limit")
    return threshold.limit


def preflight(state: Path) -> None:
    """Disk and memory before anything is started; ConfigError says what is missing."""
    state.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(state).free
    if free < 8 * 1024**3:
        raise ConfigError(
            f"{state}: {free / 1e9:.1f} GB free, 8 GB are needed",
            "free disk space, or choose another place with --state",
        )
