# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign works with, by the plan that the site has for its target."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.config.paths import data
from rtbisect.config.thresholds import load_thresholds
from rtbisect.errors import ConfigError
from rtbisect.kernel.config_check import most_cpus
from rtbisect.lab.profile import host_profile
from rtbisect.lab.windows import explaining, of_suites
from rtbisect.model.campaign import GROWN_BOOTS, CampaignKind, CampaignRequest, Limits
from rtbisect.model.code import RELINKED, BuildRequest
from rtbisect.model.command import Extra
from rtbisect.model.lab import OF_SITE, DeviceType, RunRequest, Window
from rtbisect.model.setup import KernelSetup, Setup
from rtbisect.suites.base import every

if TYPE_CHECKING:
    from rtbisect.config.kernelci import BuildTarget
    from rtbisect.config.schema import Campaign
    from rtbisect.config.site_file import PlannedJob, Site

#: A difference of the ends that takes more than this part of the boots to see leaves too few of
#: them to find where it comes from.
LOOKS_SHARE = 5


def setup_of(site: Site, target: BuildTarget, request: CampaignRequest) -> Setup:
    """What a campaign on a target works with; ConfigError when its plan does not fit."""
    planned = site.job(target)
    suites = tuple(planned.params.suites)
    thresholds = load_thresholds(data("thresholds"), suites)
    windows = _windows_beside(
        site, planned, of_suites(suites, ((t.key.suite, t.key.window) for t in thresholds))
    )
    if not windows:
        raise ConfigError(
            f"{site.path}: test_plan {planned.plan} names no suite that measures",
            "docs/suites/ has a page on each; ipi, osnoise and rcu are a start",
        )
    build = build_pattern(site, target, suites)
    _check_topology(site, planned.device, build)
    setup = Setup(
        request=request,
        tree=target.name,
        repo=target.url,
        kernel=KernelSetup(
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
        ),
        thresholds=thresholds,
        limits=limits_of(site.ours.campaign, Extra.of(request).max_boots),
        operator=str(site.ours.operator),
    )
    return relinked(setup) if site.ours.build.layout == "relink" else setup


def relinked(setup: Setup) -> Setup:
    """The same with a code layout for each boot: no other builds tell more."""
    build = replace(setup.booted.build, variant=RELINKED)
    return replace(
        setup,
        kernel=replace(setup.booted, build=build),
        limits=replace(setup.limits, layout_below=0.0),
    )


def limits_of(campaign: Campaign, max_boots: int) -> Limits:
    """The limits of a site; with so many boots where a request asks for them, other than 0. They
    grow where nobody has said a budget.
    """
    kept = campaign.model_dump()
    most = max_boots or campaign.max_boots
    looks_max = campaign.looks_max or max(campaign.calibrate_max, most // LOOKS_SHARE)
    said = max_boots or campaign.model_fields_set & {"max_boots", "max_builds"}
    grows_to = 0 if said else GROWN_BOOTS
    return Limits(**kept | {"max_boots": most, "looks_max": looks_max, "grows_to": grows_to})


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


def _windows_beside(
    site: Site, planned: PlannedJob, windows: tuple[Window, ...]
) -> tuple[Window, ...]:
    """The windows, those beside the site's own workload named by it and by what is in it."""
    program, wanted = site.workload(planned), any(each.workload == OF_SITE for each in windows)
    if wanted != (program is not None):
        name = next(s.name for s in every() if any(w.workload == OF_SITE for w in s.windows))
        problem = (
            f"has the suite {name} and no workload" if wanted else "has a workload for no suite"
        )
        hint = f"docs/suites/{name}.md says how they go together"
        raise ConfigError(f"{site.path}: test_plan {planned.plan} {problem}", hint)
    if program is None or planned.params.workload is None:
        return windows
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    name = f"{OF_SITE}:{program.name}@{digest[:12]}"
    synthetic = planned.params.workload.synthetic
    return tuple(
        replace(window, workload=name, synthetic=synthetic)
        if window.workload == OF_SITE
        else window
        for window in windows
    )


def check_target(site: Site, target: BuildTarget) -> Setup:
    """What a check of a build_config works with, when everything that it reads can be made."""
    return setup_of(
        site,
        target,
        CampaignRequest(
            kind=CampaignKind.CHECK, site=str(site.path), tree=target.name, older="", newer=""
        ),
    )


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


def probe(setup: Setup, revision: str, run_id: str = "preflight") -> RunRequest:
    """A boot as the campaign will ask for it, every window once, without a kernel."""
    kernel = setup.booted
    return RunRequest(
        run_id=run_id,
        revision=revision,
        kernel="",
        modules="",
        device_type=kernel.device,
        profile=kernel.profile,
        windows=kernel.windows,
        window_ms=kernel.window_ms,
        suite_params=kernel.suite_params,
    )
