# SPDX-License-Identifier: GPL-2.0-or-later
"""What builds the kernels of a campaign."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.campaign import labs
from rtbisect.kernel.bounds import Bounds
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import BuildSettings
from rtbisect.kernel.workspace import remove
from rtbisect.model.command import Extra

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rtbisect.config.site_file import Site
    from rtbisect.model.code import Build, BuildRequest, Checkout, Function, Linked
    from rtbisect.model.setup import Setup
    from rtbisect.store.artefacts import ArtefactStore


@dataclass(frozen=True, slots=True)
class IsolatedBuilder:
    """ports.Builder that builds each revision which somebody has sent apart from all others: what
    it leaves behind, in a compiler cache or among objects, reaches no other kernel.
    """

    ours: KernelBuilder
    #: The builder of one revision, by its sha, that somebody has sent.
    theirs: Callable[[str], KernelBuilder]
    #: Whether the revision of this sha is one of those.
    foreign: Callable[[str], bool]

    def build(self, source: Checkout, request: BuildRequest, note: Callable[[str], None]) -> Build:
        if not self.foreign(request.revision):
            return self.ours.build(source, request, note)
        build = self.theirs(request.revision).build(source, request, note)
        return replace(build, foreign=True)

    def link(
        self,
        source: Checkout,
        request: BuildRequest,
        build: Build,
        seed: int,
        note: Callable[[str], None],
    ) -> Linked:
        whose = self.theirs(request.revision) if self.foreign(request.revision) else self.ours
        return whose.link(source, request, build, seed, note)

    def files(self, build: Build) -> frozenset[str]:
        return self.ours.files(build)

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        return self.ours.changed(parent, culprit)


def of_setup(
    state: Path, site: Site, artefacts: ArtefactStore, setup: Setup, foreign: Callable[[str], bool]
) -> IsolatedBuilder:
    """The builder of a campaign; `foreign` tells which revisions of its tree somebody has sent."""
    boot_line = setup.booted.profile.boot_line
    sent = Extra.of(setup.request).foreign

    def theirs(revision: str) -> KernelBuilder:
        root = own_folder(state / "build-foreign", revision)
        return builder_of(state, site, artefacts, boot_line, str(root))

    ours = builder_of(state, site, artefacts, boot_line)
    return IsolatedBuilder(ours, theirs, lambda sha: sha == sent or foreign(sha))


def own_folder(place: Path, revision: str) -> Path:
    """The folder below `place` of one revision that somebody has sent. Those of others are removed:
    each has objects of a whole kernel, and nobody asks for them again soon.
    """
    if place.is_dir():
        for old in place.iterdir():
            if old.name != revision:
                remove(old)
    return place / revision


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
        bounds=Bounds.of_machine(site.ours.build.memory_mib << 20, site.ours.build.disk_mib << 20),
    )
    return KernelBuilder(settings, artefacts)
