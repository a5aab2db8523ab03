# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab, or one host of it, tried before campaigns use it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.acceptance import criteria
from rtbisect.campaign import labs
from rtbisect.campaign.builders import builder_of
from rtbisect.campaign.plan import check_target, probe
from rtbisect.campaign.trees import tree_of
from rtbisect.config.site_file import Site, load_site
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import inventory
from rtbisect.lab.lava.claims import LabClaim, claims, first_claims
from rtbisect.lab.lava.remote import LavaServerLab
from rtbisect.lab.lava.rest import LavaRest, RestSettings
from rtbisect.model.ports import NoNote, Screen
from rtbisect.process.command import printable
from rtbisect.store.artefacts import ArtefactStore
from rtbisect.store.db import make_folder
from rtbisect.suites.base import find
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rtbisect.config.kernelci import BuildTarget
    from rtbisect.lab.inventory import Host
    from rtbisect.model.code import Build
    from rtbisect.model.lab import Run
    from rtbisect.model.setup import Setup

#: Seconds until a server that does not answer is told: a person waits.
_OUTAGE_S = 3.0


def lab_claims(
    state: Path, place: Path, tree: str | None, kernel: Path | None, progress: Screen
) -> Iterator[LabClaim]:
    """What holds of the lab of a site, for the plan of `tree` (None: the first build_config);
    ConfigError when it has no server. With `kernel`, a bzImage, it is booted there.
    """
    site, setup = _site_and_setup(place, tree)
    lab = _server_lab(state, site, progress)
    request = probe(setup, kernel.name if kernel else "")
    if kernel is not None:
        # A kernel of somebody else has none of our modules: windows that need none.
        planned = setup.booted.windows
        plain = tuple(w for w in planned if all(find(suite).any_kernel for suite in w.suites))
        windows = plain[:1] or planned[:1]
        request = replace(request, kernel=lab.artefacts.put_file(kernel), windows=windows)
    return claims(lab, request, boot=kernel is not None)


def server_claims(url: str, token: Path | None) -> Iterator[LabClaim]:
    """What the LAVA server at `url` tells who has the token in a file; ConfigError when the URL is
    none, or the file.
    """
    if not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]_-]+/?[A-Za-z0-9._/-]*", url):
        raise ConfigError(f"{printable(url)} is no address of a server", "https://HOST/ is one")
    return first_claims(LavaRest(RestSettings(url=url, token=token, outage_s=_OUTAGE_S)))


@dataclass(frozen=True, slots=True)
class FirstDay:
    """What a host is accepted by: boots of one kernel."""

    #: Name of the host in the site file.
    host: str
    #: Tree or build_config whose tip is booted; None: the first one of the site.
    tree: str | None
    #: How often the kernel is booted; 2 or more.
    boots: int


def host_claims(
    state: Path, place: Path, first_day: FirstDay, progress: Screen
) -> Iterator[LabClaim]:
    """What the first day of a host shows; its kernel is built here. ConfigError when no LAVA server
    drives the host, or when it cannot be told apart from others of its type; InfrastructureError
    when the lab fails.
    """
    site, setup = _site_and_setup(place, first_day.tree)
    lab = _server_lab(state, site, progress)
    host = only_on(lab, site, first_day.host, setup.booted.device.name)
    yield _bmc_claim(host)
    build = _build_tip(state, site, setup, lab.artefacts, progress)
    request = replace(
        probe(setup, build.revision),
        kernel=build.kernel,
        modules=build.modules,
        build_id=build.build_id,
    )
    runs: list[Run] = []
    for number in range(1, first_day.boots + 1):
        run = lab.run(replace(request, run_id=f"accept-{number}"), NoNote())
        end = f"{run.seconds:.0f} s on {run.device}"
        if not run.complete:
            end = f"{run.status.value}: {speak(run.reason) if run.reason else ''}"
        progress.say(f"boot {number} of {first_day.boots}: {end}")
        check_landed(run, host)
        runs.append(run)
    yield from criteria.claims(runs, setup.booted.device, setup.thresholds)


def only_on(lab: LavaServerLab, site: Site, name: str, kind: str) -> Host:
    """The host of this name, on which alone jobs of the lab for devices of a type land from now on;
    ConfigError where they may land elsewhere.
    """
    host = inventory.named(site, name)
    if host.tag:
        lab.settings = replace(lab.settings, tags=(host.tag,))
    inventory.check_only_there(host, kind, lab.rest.devices(kind))
    return host


def check_landed(run: Run, host: Host | None) -> None:
    """InfrastructureError for a boot of another host; None: any will do."""
    if host is not None and run.device and run.device != host.device:
        raise InfrastructureError(
            f"a job landed on {run.device}", f"give {host.device} a tag of its own"
        )


def _site_and_setup(place: Path, tree: str | None) -> tuple[Site, Setup]:
    """A site and what a campaign on one of its targets would work with."""
    site = load_site(place)
    if site.access is None:
        raise ConfigError(f"lab {site.lab.name} has no server", "`make test-road` tries this one")
    return site, check_target(site, target_of(site, tree))


def target_of(site: Site, tree: str | None) -> BuildTarget:
    """The tree or build_config of this name; None: the first one of the site."""
    return site.target(tree or site.kernelci.targets()[0].name)


def check_built(build: Build, tree: str, hint: str) -> None:
    """ConfigError for a tip that does not build; `hint` is what to do then."""
    if not build.ok:
        raise ConfigError(
            f"{tree} at {build.revision[:12]} does not build: {printable(build.first_error)}",
            hint,
        )


def _server_lab(state: Path, site: Site, progress: Screen) -> LavaServerLab:
    make_folder(state)
    lab = labs.lab_of(state, site, ArtefactStore(state / "artefacts"), None, progress.say)
    assert isinstance(lab, LavaServerLab)
    lab.rest = LavaRest(replace(lab.rest.settings, outage_s=_OUTAGE_S), tell=progress.say)
    return lab


def _bmc_claim(host: Host) -> LabClaim:
    """What the BMC says of itself and of the sensors."""
    power, sensors = host.bmc.power(), host.bmc.sensors()
    bad = [each.name for each in sensors if each.out_of_limits]
    text = f"power is {'on' if power else 'off'}, {len(sensors)} sensors"
    text += f"; out of limits: {', '.join(bad)}" if bad else ""
    return LabClaim("BMC", holds=not bad, said=text)


def _build_tip(
    state: Path, site: Site, setup: Setup, artefacts: ArtefactStore, progress: Screen
) -> Build:
    target = site.target(setup.tree)
    tree = tree_of(state, target)
    revision = tree.resolve(target.branch)
    progress.say(f"build {revision[:12]}")
    builder = builder_of(state, site, artefacts, setup.booted.profile.boot_line)
    request = replace(setup.booted.build, revision=revision)
    with tree.held(revision) as source:
        build = builder.build(source, request, NoNote())
    check_built(build, target.name, "accept a host by a kernel that builds")
    return build
