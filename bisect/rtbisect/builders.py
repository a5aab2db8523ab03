# SPDX-License-Identifier: GPL-2.0-or-later
"""What builds the kernels of a campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect import labs
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import BuildSettings
from rtbisect.model.command import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rtbisect.artefacts import ArtefactStore
    from rtbisect.config import Site
    from rtbisect.model.code import Build, BuildRequest, Checkout, Function
    from rtbisect.setup import Setup


@dataclass(frozen=True, slots=True)
class Apart:
    """ports.Builder that builds one revision, which somebody has sent, apart from all others: what
    it leaves behind, in a compiler cache or among objects, reaches no other kernel.
    """

    ours: KernelBuilder
    theirs: KernelBuilder
    revision: str

    def build(self, source: Checkout, request: BuildRequest, note: Callable[[str], None]) -> Build:
        builder = self.theirs if request.revision == self.revision else self.ours
        return builder.build(source, request, note)

    def files(self, build: Build) -> frozenset[str]:
        return self.ours.files(build)

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        return self.ours.changed(parent, culprit)


def of_setup(
    state: Path, site: Site, artefacts: ArtefactStore, setup: Setup
) -> KernelBuilder | Apart:
    """The builder of a campaign; a patch that somebody has sent is built apart."""
    ours = builder_of(state, site, artefacts, setup.profile.boot_line)
    foreign = dict(setup.request.extra).get(FOREIGN)
    if foreign is None:
        return ours
    theirs = builder_of(state, site, artefacts, setup.profile.boot_line, "build-foreign")
    return Apart(ours, theirs, foreign)


def builder_of(
    state: Path, site: Site, artefacts: ArtefactStore, boot_line: str, folder: str = "build"
) -> KernelBuilder:
    """What builds the kernels of a site, in a folder of the state directory."""
    settings = BuildSettings(
        root=state / folder,
        machine_lock=labs.MACHINE_LOCK,
        boot_line=boot_line,
        timeout_s=float(site.ours.build.timeout_s),
        jobs=site.ours.build.jobs,
    )
    return KernelBuilder(settings, artefacts)
