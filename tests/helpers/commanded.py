# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns of `rtbisect run` on a command that is no process."""

from __future__ import annotations

from dataclasses import dataclass, field

from helpers.campaigns import KeptMailer, Quiet, StillClock, as_kept, line_of
from rtbisect.model.campaign import CampaignRequest, Limits, Sought
from rtbisect.model.code import Build, BuildStatus
from rtbisect.model.command import INSTRUCTIONS, SUITE, WINDOW, CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.ports import Ports
from rtbisect.model.setup import Setup
from rtbisect.pipeline import bisect
from rtbisect.program.worktree_run import traits_of
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal
from rtbisect.trees.fake import FakeTree


@dataclass
class Commanded:
    """A command that executes so many instructions, and takes some time."""

    #: By the number of the revision and that of its run.
    counts: object
    times: object = lambda _number, _run: 1.0
    broken: frozenset = frozenset()
    signature: object = str
    failing: frozenset = frozenset()
    counted: bool = True
    runs: list = field(default_factory=list)
    traits: object = field(default_factory=lambda: traits_of(built=False))

    def width(self):
        return 1

    def files(self, _build):
        return frozenset()

    def changed(self, _parent, _culprit):
        return None

    def build(self, revision, _layout, _note):
        number = int(revision, 16)
        if number in self.broken:
            return Build(
                revision=revision, config_name="command", status=BuildStatus.FAILED, first_error="x"
            )
        return Build(
            revision=revision, config_name="command", status=BuildStatus.OK,
            signature=self.signature(number),
        )  # fmt: skip

    def run(self, build, order, _note):
        number = int(build.revision, 16)
        at = self.runs.count(number)
        self.runs.append(number)
        counting = order.count or self.counted
        if number in self.failing or (counting and self.counts is None):
            return Run(
                run_id=order.run_id, revision=build.revision, status=RunStatus.INVALID,
                reason=Finding.of(Commands.ENDED, code=1),
            )  # fmt: skip
        figure = Measurement(
            suite=SUITE, name=INSTRUCTIONS if counting else "ms", window=WINDOW,
            value=float((self.counts if counting else self.times)(number, at)),
            unit=INSTRUCTIONS if counting else "ms",
        )  # fmt: skip
        return Run(
            run_id=order.run_id, revision=build.revision, status=RunStatus.COMPLETE,
            measurements=(figure,), window_order=(WINDOW,), seconds=0.1,
        )  # fmt: skip


def searched(tmp_path, subject, graph=None, *, further=None, **asked):
    """The result of a campaign, the first one in the store of `tmp_path`, or of the one that is to
    be `replayed`; the other words are those of `opened`.
    """
    setup, parts = opened(tmp_path, subject, graph, **asked)
    result, _report = bisect.bisect(setup, parts, further)
    CampaignStore(tmp_path).finish(parts.journal.campaign, result, None)
    return result


def opened(
    tmp_path,
    subject,
    graph=None,
    *,
    sought=Sought.REGRESSION,
    most=300,
    progress=None,
    replayed="",
    **asked,
):
    """Set-up and ports of such a campaign."""
    graph = graph or line_of(1000)
    asked = {"count": "valgrind"} | asked
    command = CommandRequest(argv=("./bench",), max_runs=most, **asked)
    subject.counted = command.counted
    request = CampaignRequest(
        kind="run", site="", tree="t", older=graph.older, newer=graph.newer, suite=SUITE,
        metric=command.metric or None, extra=command.extra(), repo="/r", sought=sought,
    )  # fmt: skip
    store = CampaignStore(tmp_path)
    campaign = replayed or store.create("run", as_kept(request), "now")
    setup = Setup(
        request=request, tree="t", repo="/r", thresholds=(command.threshold(),),
        limits=Limits(max_boots=most, max_builds=most), operator="", kernel=None,
        given_boot_s=1.0,
    )  # fmt: skip
    parts = Ports(
        tree=FakeTree(commits=graph, folder=tmp_path / "tree"), subject=subject,
        journal=StoreJournal(store.database, campaign), mailer=KeptMailer(), clock=StillClock(),
        progress=progress or Quiet(),
    )  # fmt: skip
    return setup, parts
