# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels as what a campaign measures: each revision is built, and boots on a host of a lab."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.model.code import (
    WITHOUT_RT,
    Build,
    BuildRequest,
    Function,
    seed_of,
    variant_beside,
)
from rtbisect.model.facts import LAYOUT_SEED, LINK_S, LINKER
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.lab import Run, RunRequest, RunStatus
from rtbisect.model.ports import NoNote
from rtbisect.model.subject import Measured, RunOrder, Traits
from rtbisect.suites.base import counts_functions

if TYPE_CHECKING:
    from rtbisect.model.lab import Window
    from rtbisect.model.ports import Builder, Lab, Note, Tree
    from rtbisect.model.setup import KernelSetup


def traits_of(kernel: KernelSetup) -> Traits:
    """What a campaign has to know of kernels."""
    return Traits(
        measured=Measured.KERNEL,
        layouts=not kernel.relinked,
        relaid=kernel.relinked,
        guessed=True,
        host=kernel,
    )


@dataclass(frozen=True, slots=True)
class KernelOnHost:
    """Implements ports.Subject."""

    kernel: KernelSetup
    #: Seed of the campaign, which draws the order of windows.
    seed: int
    tree: Tree
    builder: Builder
    lab: Lab

    @property
    def traits(self) -> Traits:
        return traits_of(self.kernel)

    def build(self, sha: str, layout: int, note: Note) -> Build:
        request = self._asked(sha, layout)
        # Nobody moves the files until everything of the build is collected.
        with self.tree.held(sha) as source:
            return self.builder.build(source, request, note)

    def run(self, build: Build, order: RunOrder, note: Note) -> Run:
        """One fresh boot; the order of its windows is drawn. Those that explain `order.explain`
        come after all that measure; one that counts functions only where there are probes.
        """
        windows = self._drawn(order)
        windows += [
            window
            for window in self.traits.explaining_of(order.explain)
            if order.probes or not counts_functions(window)
        ]
        request = RunRequest(
            run_id=order.run_id,
            revision=build.revision,
            kernel=build.kernel,
            modules=build.modules,
            device_type=self.kernel.device,
            profile=self.kernel.profile,
            windows=tuple(windows),
            aboard=tuple(sorted({suite for each in self.kernel.windows for suite in each.suites})),
            window_ms=self.kernel.window_ms,
            suite_params=self.kernel.suite_params,
            probes=order.probes,
            realtime=order.layout != WITHOUT_RT,
            foreign=build.foreign,
            build_id=build.build_id,
        )
        if not self.kernel.relinked:
            return self.lab.run(request, note)
        return self._run_linked(build, order, request, note)

    def _asked(self, sha: str, layout: int) -> BuildRequest:
        pattern = self.kernel.build
        return replace(pattern, revision=sha, variant=variant_beside(pattern.variant, layout))

    def _run_linked(self, build: Build, order: RunOrder, request: RunRequest, note: Note) -> Run:
        """A boot of a kernel that is linked anew for it."""
        seed = seed_of(order.linked_as or order.run_id)
        asked = self._asked(build.revision, order.layout)
        with self.tree.held(build.revision) as source:
            linked = self.builder.link(source, asked, build, seed, note)
        if not linked.kernel:
            reason = Finding.of(Boots.OTHER_AGAIN)
            if linked.error:
                reason = Finding.of(Boots.NOT_LINKED, seed=seed, error=linked.error)
            return Run(
                run_id=order.run_id,
                revision=build.revision,
                status=RunStatus.INVALID,
                reason=reason,
                seconds=linked.seconds,
            )
        moved = replace(request, kernel=linked.kernel, build_id=linked.build_id)
        run = self.lab.run(moved, note)
        seconds = linked.seconds + run.seconds
        if run.status is RunStatus.BOOT_FAILED:
            run, controls_s = self._believed(run, request, moved, seed)
            seconds += controls_s
        facts = (
            (LAYOUT_SEED, str(seed)),
            (LINKER, _linker_of(build)),
            (LINK_S, f"{linked.seconds:.3f}"),
        )
        return replace(run, facts=(*run.facts, *facts), seconds=round(seconds, 3))

    def _believed(
        self, run: Run, as_built: RunRequest, moved: RunRequest, seed: int
    ) -> tuple[Run, float]:
        """What a boot that failed in the order of a seed says, and the seconds of its controls. It
        is a verdict where the kernel as it was built does not boot either. That moving functions
        broke it takes a second boot: a kernel may fail some of its boots in any order.
        """
        control = self.lab.run(replace(as_built, run_id=f"{run.run_id}-as-built"), NoNote())
        if control.status is RunStatus.BOOT_FAILED:
            return run, control.seconds
        kind, seconds = Boots.MAYBE_MOVED, control.seconds
        if control.complete:
            again = self.lab.run(replace(moved, run_id=f"{run.run_id}-again"), NoNote())
            seconds += again.seconds
            if again.status is RunStatus.BOOT_FAILED:
                kind = Boots.ONLY_MOVED
        reason = Finding.of(kind, seed=seed, why=run.reason)
        return replace(run, status=RunStatus.INVALID, reason=reason), seconds

    def _drawn(self, order: RunOrder) -> list[Window]:
        """The windows of a boot but those that explain. In a short one all that do not come first
        are left out, or where figures are to be explained they only show what else a report tells.
        """
        draw = random.Random(f"{self.seed}/{order.number}")  # noqa: S311
        first = [window for window in self.kernel.windows if window.name in order.first]
        others = [window for window in self.kernel.windows if window not in first]
        draw.shuffle(first)
        draw.shuffle(others)
        if order.short:
            shown = others if order.explain else []
            others = [replace(window, explains=order.explain) for window in shown]
        return first + others

    def width(self) -> int:
        return self.lab.width(self.kernel.device)

    def files(self, build: Build) -> frozenset[str]:
        return self.builder.files(build)

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        return self.builder.changed(parent, culprit)

    def leave(self) -> None:
        self.lab.leave()


def _linker_of(build: Build) -> str:
    """Name and version of what links kernels, of the programs that made one."""
    lines = dict(line.partition(": ")[::2] for line in build.tools.splitlines())
    return lines.get("ld.lld", "").partition(" (")[0] or "LLD"
