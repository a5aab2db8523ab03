# SPDX-License-Identifier: GPL-2.0-or-later
"""A whole campaign on the shipped fakes: what tests of the stories share."""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from rtbisect.config.thresholds import load_thresholds
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.lab.fake import FakeLab
from rtbisect.lab.kernel_on_host import KernelOnHost
from rtbisect.lab.profile import host_profile
from rtbisect.lab.windows import WINDOWS
from rtbisect.model.campaign import (
    Better,
    CampaignRequest,
    Limits,
    MetricKey,
    Role,
    Scale,
    Statistic,
    Threshold,
)
from rtbisect.model.code import BuildRequest, Commit, CommitGraph
from rtbisect.model.lab import DeviceType, Measurement
from rtbisect.model.ports import Ports
from rtbisect.model.report import Report, ReportState
from rtbisect.model.setup import KernelSetup, Setup
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal
from rtbisect.trees.fake import FakeTree

ROOT = Path(__file__).resolve().parents[2]
SUITES = ("ipi", "osnoise", "rcu")

#: A rate that is worse when there is more of it, judged by ratio.
RES = Threshold(
    key=MetricKey("interrupts", "res", "on"),
    unit="1/s",
    better=Better.LOWER,
    scale=Scale.LOG,
    statistic=Statistic.MEDIAN,
    min_effect=1.5,
    limit=None,
    floor=0.5,
    role=Role.PRIMARY,
    control=None,
    reason="",
)


@cache
def thresholds():
    """Those of the checkout, read once."""
    return load_thresholds(ROOT / "thresholds", SUITES)


def sha(number):
    return f"{number:040x}"


#: What takes a culprit back on the tip.
REVERT = sha(10**6)


def line_of(count):
    """good = 0, then 1..count in a line."""
    commits = tuple(Commit(sha(n), (sha(n - 1),), f"commit {n}") for n in range(1, count + 1))
    return CommitGraph(sha(0), sha(count), commits)


def boots(bad_from, *, kind="ipi", until=10**6):
    """A draw for FakeLab: revisions from number `bad_from` on are bad in the kind's way, and from
    `until` on good again.
    """

    def draw(request, random):
        number = int(request.revision, 16)
        bad = bad_from is not None and bad_from <= number < until
        noise = lambda spread: 1 + random.uniform(-spread, spread)  # noqa: E731
        ipi = 10.0 if bad and kind == "ipi" else 1.0
        ticks = 9000.0 if bad and kind == "rcu" else 6000.0
        values = {
            ("ipi", "res_per_iwi", "pf-on", "1"): 0.05 * ipi * noise(0.3),
            ("ipi", "res_per_s", "clock-on", "1/s"): 8.0 * ipi * noise(0.4),
            ("ipi", "res_per_s", "pf-on", "1/s"): 20.0 * ipi * noise(0.4),
            ("ipi", "res_per_s", "pf-off", "1/s"): 2.0 * noise(0.4),
            ("ipi", "res_per_s", "osnoise-off", "1/s"): 1.2 * noise(0.3),
            ("osnoise", "irq_per_sample", "osnoise-off", "1"): 1.0 * noise(0.5),
            ("rcu", "p50_us", "rcu-off", "us"): ticks * noise(0.002),
            ("rcu", "p50_us", "rcu-on", "us"): ticks * noise(0.01),
        }
        return [
            Measurement(suite=suite, name=name, window=window, value=value, unit=unit)
            for (suite, name, window, unit), value in values.items()
            if window in {each.name for each in request.windows}
        ]

    return draw


def scaled(measurements, metric, factor):
    """The measurements, with those of one (name, window) times `factor`."""
    return [
        replace(m, value=m.value * factor) if (m.name, m.window) == metric else m
        for m in measurements
    ]


class Quiet:
    def begin(self, request):
        pass

    def shows(self, finding):
        return True

    def say(self, line):
        pass

    def tell(self, finding):
        pass

    def step(self, what, done, total, left):
        pass


class StillClock:
    def now_iso(self):
        return "2026-01-02T03:04:05+00:00"


@dataclass
class KeptMailer:
    """Keeps what it was asked to draft."""

    drafts: list = field(default_factory=list)

    def draft(self, report, story):
        self.drafts.append((report, story))
        return Report(
            campaign=report.campaign,
            state=ReportState.DRAFT,
            message_id=report.message_id,
            eml="eml",
            path="p",
            bisect_log="",
            story="",
        )


def as_kept(request):
    """A request as its campaign keeps it."""
    return codec.to_json(CampaignRequest, request)


@dataclass
class World:
    """Fakes that stay, so that a campaign can be resumed in them."""

    state: Path
    graph: CommitGraph
    lab: FakeLab
    builder: FakeBuilder = field(default_factory=FakeBuilder)
    reverts: dict = field(default_factory=dict)
    request: CampaignRequest = None
    mailer: KeptMailer = field(default_factory=KeptMailer)
    campaign: str = ""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self):
        if self.request is None:
            self.request = CampaignRequest(
                kind="bisect", site="s", tree="t", older=self.graph.older, newer=self.graph.newer
            )
        self.store = CampaignStore(self.state)
        self.campaign = self.store.create("bisect", as_kept(self.request), "now")

    def open(self, heard=lambda _what: None):
        """Setup, parts and journal as a fresh process would make them."""
        device = DeviceType(
            name="qemu-smt",
            template="qemu-smt",
            sockets=1,
            cores=4,
            threads=2,
            memory_mib=1024,
            emulated=True,
        )
        kernel = KernelSetup(
            build=BuildRequest(
                revision="", config_name="c", base="tinyconfig", fragments=("CONFIG_X=y",)
            ),
            device=device,
            profile=host_profile(device),
            windows=WINDOWS,
            window_ms=1000,
            rcu_calls=100,
        )
        setup = Setup(
            request=self.request,
            tree="t",
            repo="/r",
            thresholds=thresholds(),
            limits=self.limits,
            operator="Operator <operator@lab.example.org>",
            kernel=kernel,
        )
        journal = StoreJournal(self.store.database, self.campaign, heard=heard)
        tree = FakeTree(commits=self.graph, folder=self.state / "tree", reverts=self.reverts)
        parts = Ports(
            tree=tree,
            subject=KernelOnHost(kernel, self.request.seed, tree, self.builder, self.lab),
            journal=journal,
            mailer=self.mailer,
            clock=StillClock(),
            progress=Quiet(),
        )
        return setup, parts


def with_kernel(setup, parts, **changes):
    """The set-up and the ports of a campaign with another part for kernels."""
    kernel = replace(setup.kernel, **changes)
    subject = replace(parts.subject, kernel=kernel)
    return replace(setup, kernel=kernel), replace(parts, subject=subject)


def world(state, bad_from, *, count=8, kind="ipi", script=None, **kw):
    """A campaign over a line whose commits are bad from number `bad_from` on."""
    graph = line_of(count)
    reverts = {(graph.newer, sha(bad_from)): REVERT} if bad_from else {}
    return World(state, graph, FakeLab(boots(bad_from, kind=kind), script), reverts=reverts, **kw)
