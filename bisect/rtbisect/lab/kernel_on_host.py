# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels as what a campaign measures: each revision is built, and boots on a host of a lab."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.model.code import WITHOUT_RT, Build, Function, layout_variant
from rtbisect.model.lab import Run, RunRequest
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
        layouts=True,
        guessed=True,
        host=kernel,
    )


@dataclass(frozen=True, slots=True)
class KernelOnHost:
    """Implements ports.Subject."""

    kernel: KernelSetup
    #: Of the campaign: it draws the order of windows.
    seed: int
    tree: Tree
    builder: Builder
    lab: Lab

    @property
    def traits(self) -> Traits:
        return traits_of(self.kernel)

    def build(self, sha: str, layout: int, note: Note) -> Build:
        request = replace(self.kernel.build, revision=sha, variant=layout_variant(layout))
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
        return self.lab.run(request, note)

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
