# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab of a site: LAVA on this machine, or a LAVA server."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.config.paths import data
from rtbisect.errors import ConfigError
from rtbisect.lab import inventory
from rtbisect.lab.lava.artefacts_http import Desk, DeskSettings, new_word, word_of
from rtbisect.lab.lava.fair_use import FairUse
from rtbisect.lab.lava.known_good import KnownGood
from rtbisect.lab.lava.local import PROGRAMS, LavaRunLab, LavaRunSettings
from rtbisect.lab.lava.quarantine import Quarantine
from rtbisect.lab.lava.remote import LavaServerLab, LavaServerSettings
from rtbisect.lab.lava.rest import LavaRest, RestSettings
from rtbisect.process import plugins

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.config.schema import LabAccess
    from rtbisect.config.site_file import Site
    from rtbisect.model.finding import Finding
    from rtbisect.store.artefacts import ArtefactStore

#: One measurement or build at a time on a machine, whatever store asks for it.
MACHINE_LOCK = Path("/run/lock/rtbisect-machine.lock")

#: Environment variable in which `make setup` and we look for the state directory.
STATE = "RTBISECT_STATE"


def lab_of(  # noqa: PLR0913  (what a site cannot know)
    state: Path,
    site: Site,
    artefacts: ArtefactStore,
    workload: Path | None,
    tell: Callable[[str], None] = lambda _line: None,
    campaign: str = "",
) -> LavaRunLab | LavaServerLab:
    """The lab that a site names; `tell` hears what a person may want to know while it waits.
    Addresses of artefacts are those of the `campaign`; without one they end with this process.
    """
    access = site.access
    if access is None:
        return embedded(state, artefacts, workload)
    settings = LavaServerSettings(
        lab=site.lab.name,
        work_dir=state / "lab",
        lava_jobs=data("lava-jobs"),
        priority=site.lab.priority,
        visibility=access.seen_by,
        workload=workload,
        manners=FairUse(access.hours, yields=access.yields),
        machine_lock=MACHINE_LOCK if access.here else None,
        quarantine=quarantine(state),
        known_good=known_good(state, artefacts),
        examine=lambda device: _bmc_fault_of(site, state if access.here else None, device),
    )
    word = word_of(state / "lab/desk.key", campaign) if campaign else new_word()
    serve = DeskSettings(access.serve.url, _address(access.serve.listen), word)
    desk = Desk(serve, artefacts)
    return LavaServerLab(settings, server_of(site, access, tell), desk, artefacts, tell)


def embedded(state: Path, artefacts: ArtefactStore, workload: Path | None) -> LavaRunLab:
    """LAVA on this machine."""
    kernels = known_good(state, artefacts)
    return LavaRunLab(replace(_embedded_settings(state, workload), known_good=kernels), artefacts)


def server_of(
    site: Site, access: LabAccess, tell: Callable[[str], None] = lambda _line: None
) -> LavaRest:
    """The server of a lab, as the user whose token the site has."""
    return LavaRest(
        RestSettings(
            url=site.lab.url,
            token=site.beside(access.token) if access.token else None,
            ca=site.beside(access.ca) if access.ca else None,
        ),
        tell=tell,
    )


def server_at(site: Site) -> LavaRest | None:
    """The LAVA server of a site's lab; None for LAVA on this machine."""
    return None if site.access is None else server_of(site, site.access)


def check_embedded(state: Path) -> None:
    """ConfigError when LAVA on this machine lacks something."""
    lab = _embedded_settings(state, None)
    for path in (lab.lava_run, lab.python, lab.dispatcher, lab.device_types, lab.busybox):
        if not path.exists():
            raise ConfigError(f"{path} is not there", f"run `make setup` with {STATE}={state}")
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise ConfigError(f"{program} of package {package} is not there", "run `make setup`")


def quarantine(state: Path) -> Quarantine:
    """The list of devices of a state directory whose boots are no evidence."""
    return Quarantine(state / "lab/quarantine.json")


def known_good(state: Path, artefacts: ArtefactStore) -> KnownGood:
    """Kernels that booted to the end, of a state directory."""
    return KnownGood(state / "lab/known-good.json", artefacts)


def _bmc_fault_of(site: Site, own_state: Path | None, device: str) -> Finding | None:
    """What is wrong with a device of the lab, as its BMC tells where we know it; `here` is our
    state directory where the lab's machines run on this one.
    """
    bmcs = {host.listed_as: host.bmc for host in inventory.all_of(site)}
    if own_state is not None and device not in bmcs:
        for entry in plugins.plugins(plugins.LABS):
            bmcs[device] = bmcs.get(device) or plugins.load(entry)(own_state, device)
    bmc = bmcs.get(device)
    return None if bmc is None else inventory.bmc_fault(bmc)


def _embedded_settings(state: Path, workload: Path | None) -> LavaRunSettings:
    return LavaRunSettings(
        lava_root=state / "lava",
        work_dir=state / "lab",
        machine_lock=MACHINE_LOCK,
        lava_jobs=data("lava-jobs"),
        workload=workload,
    )


def _address(listen: str | None) -> tuple[str, int] | None:
    if listen is None:
        return None
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)
