# SPDX-License-Identifier: GPL-2.0-or-later
"""A builder without a compiler: it is told which revisions fail and which are equal."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from rtbisect.model.code import Build, BuildRequest, BuildStatus, Checkout, Function, Linked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbisect.errors import RtbisectError
    from rtbisect.store.artefacts import ArtefactStore


@dataclass(slots=True, kw_only=True)
class FakeBuilder:
    """Implements ports.Builder."""

    #: First errors by revision.
    failing: Mapping[str, str] = field(default_factory=dict)
    #: The revision whose image it shares, by revision.
    same_as: Mapping[str, str] = field(default_factory=dict)
    #: Error that the next build of a revision raises, once.
    raising: dict[str, RtbisectError] = field(default_factory=dict)
    #: Where the artefacts are kept; None: nowhere.
    store: ArtefactStore | None = None
    seconds: float = 10.0
    #: Files that every kernel is made from, relative to the tree.
    sources: frozenset[str] = frozenset()
    #: Functions that a revision changes.
    functions: Mapping[str, tuple[Function, ...]] = field(default_factory=dict)
    #: Errors of links by revision, "" for one that is another kernel when it is compiled again.
    unlinkable: Mapping[str, str] = field(default_factory=dict)
    link_s: float = 2.0
    #: Revisions and seeds of all links, in order.
    linked: list[tuple[str, int]] = field(default_factory=list)
    #: All requests for builds, in order.
    requests: list[BuildRequest] = field(default_factory=list)
    _done: set[str] = field(default_factory=set)

    def preflight(self) -> None:
        """A fake is always able to build."""

    def files(self, build: Build) -> frozenset[str]:  # noqa: ARG002
        """Every kernel is made from the same files; empty when that is not known."""
        return self.sources

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:  # noqa: ARG002
        """What the commit of `culprit` is told to change."""
        return self.functions.get(culprit.revision)

    def build(
        self,
        source: Checkout,  # noqa: ARG002
        request: BuildRequest,
        note: Callable[[str], None],  # noqa: ARG002  (no process, nothing to record)
    ) -> Build:
        """A build that is a function of the request and of what we were told."""
        self.requests.append(request)
        built = partial(
            Build,
            revision=request.revision,
            config_name=request.config_name,
            variant=request.variant,
        )
        if request.revision in self.raising:
            raise self.raising.pop(request.revision)
        if request.revision in self.failing:
            error = self.failing[request.revision]
            return built(status=BuildStatus.FAILED, first_error=error, seconds=self.seconds)
        image = self.same_as.get(request.revision, request.revision)
        text = json.dumps([image, request.config_name, request.fragments, request.variant])
        reused = text in self._done and not request.fresh
        self._done.add(text)
        return built(
            status=BuildStatus.OK,
            signature=hashlib.sha256(text.encode()).hexdigest(),
            kernel=self._keep(f"kernel {text}"),
            modules=self._keep(f"modules {text}") if request.modules else "",
            config=self._keep("\n".join(request.fragments)),
            compiler="gcc (fake) 12.2.0",
            release="6.12.0-fake",
            seconds=0.0 if reused else self.seconds,
            reused=reused,
        )

    def link(
        self,
        source: Checkout,  # noqa: ARG002
        request: BuildRequest,
        build: Build,
        seed: int,
        note: Callable[[str], None],  # noqa: ARG002
    ) -> Linked:
        """A link that is a function of the build and of the seed."""
        self.linked.append((request.revision, seed))
        if request.revision in self.unlinkable:
            return Linked(error=self.unlinkable[request.revision], seconds=self.link_s)
        text = f"{build.kernel} linked with {seed}"
        build_id = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        return Linked(kernel=self._keep(text), build_id=build_id, seconds=self.link_s)

    def _keep(self, text: str) -> str:
        data = text.encode()
        return self.store.put_bytes(data) if self.store else hashlib.sha256(data).hexdigest()
