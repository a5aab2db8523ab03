# SPDX-License-Identifier: GPL-2.0-or-later
"""What only some commands ask, kept in `extra` of a request: any command of `rtbisect run`, a merge
base in the place of an end, a patch that somebody has sent, the boots and the limit of `try`.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rtbisect.errors import ConfigError
from rtbisect.model.campaign import (
    Better,
    CampaignKind,
    CampaignRequest,
    MetricKey,
    Role,
    Scale,
    Sought,
    Statistic,
    Threshold,
)
from rtbisect.model.code import Narrowing

#: Suite, window and default name of a command's figure.
SUITE, WINDOW, VALUE = "command", "run", "value"
#: Name and unit of the figure that counts the instructions a command executes.
INSTRUCTIONS = "instructions"

#: A share of failing runs that is worth a search: flaky tests that fail a little more often
#: are noise of another kind.
SMALLEST_SHARE = 0.2

#: How sure anybody may be before the first boot. A culprit is named where "no regression" has 0.01
#: at most: who is surer than that has no question for the boots of the ends.
SURE = (0.05, 0.99)


#: Runs of a search where nobody says how many, and to how many these grow where its forecast asks
#: for more: most flaky tests, and changes of half a standard deviation, end between the two.
USUAL_RUNS, GROWN_RUNS = 300, 600

#: Seconds of a run and of a build, where nobody says another time.
LONGEST_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """`CampaignRequest.extra` read and written. A field at its default is not kept; the others are
    kept by their names.
    """

    #: Of `try`: the boots, and the limit in the metric's unit where that of the thresholds is not
    #: taken.
    boots: int = 0
    limit: float | None = None
    #: Budget of boots instead of that of the site; 0: not said.
    max_boots: int = 0
    #: How sure a person is that the sought change is in the range, as in SURE; None: not said.
    sure: float | None = None
    #: The end that was asked for, where a merge base took its place.
    given: str = ""
    #: Further revisions that lack the sought change, which are not measured.
    goods: tuple[str, ...] = ()
    #: The revision that is a patch which somebody has sent.
    foreign: str = ""
    #: Of `check`: the figure of a report that the newer end is to take back, as text of its key.
    asked: str = ""
    #: What is of no concern here: a `CommandRequest`, what a plug-in keeps.
    others: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, request: CampaignRequest) -> Extra:
        """ConfigError where it is damaged."""
        kept = dict(request.extra)
        # Of a plug-in these names are its own.
        of_try = request.kind == CampaignKind.TRY
        of_bisect = request.kind == CampaignKind.BISECT
        of_search = of_bisect or request.kind == CampaignKind.RUN
        try:
            boots = int(kept.pop("boots")) if of_try else 0
            limit = float(kept.pop("limit")) if of_try and "limit" in kept else None
            max_boots = int(kept.pop("max_boots", "0")) if of_bisect else 0
            sure = float(kept.pop("sure")) if of_search and "sure" in kept else None
        except (KeyError, ValueError) as error:
            raise ConfigError("what this campaign kept cannot be read", "start it again") from error
        return cls(
            boots=boots,
            limit=limit,
            max_boots=max_boots,
            sure=sure,
            given=kept.pop("given", ""),
            goods=tuple(kept.pop("goods", "").split()) if of_search else (),
            foreign=kept.pop("foreign", ""),
            asked=kept.pop("asked", "") if request.kind == CampaignKind.CHECK else "",
            others=tuple(kept.items()),
        )

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The fields as they are kept with a request."""
        limit, sure = ("" if x is None else repr(x) for x in (self.limit, self.sure))
        named = (
            ("boots", str(self.boots or "")),
            ("limit", limit),
            ("max_boots", str(self.max_boots or "")),
            ("sure", sure),
            ("given", self.given),
            ("goods", " ".join(self.goods)),
            ("foreign", self.foreign),
            ("asked", self.asked),
        )
        return *self.others, *(pair for pair in named if pair[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """A command and how its figure is judged."""

    argv: tuple[str, ...]
    #: The name of the figure; "" for a bare number.
    metric: str = ""
    #: Where else than in the last lines it stands: the name of a tool, an expression, a JSON path.
    format: str = ""
    extract: str = ""
    json_path: str = ""
    #: Unit of the figure; "" where only the output says it.
    unit: str = ""
    #: The first runs of both ends may end it (pipeline/first_look.py): not in older campaigns.
    first_look: bool = False
    #: "lower" or "higher".
    better: str = Better.LOWER.value
    #: The exit code is the figure.
    pass_fail: bool = False
    #: The smallest ratio that counts; None compares differences.
    ratio: float | None = None
    #: Seconds that a build and a run cost; None where these are to be measured.
    cost_build_s: float | None = None
    cost_run_s: float | None = None
    #: Seconds that one run may take.
    timeout_s: float = LONGEST_S
    max_runs: int = USUAL_RUNS
    #: As in `Limits`: 0 where a person has said how many, and in older campaigns.
    grows_to: int = 0
    #: What builds a revision, once; () where nothing does but the command itself.
    build: tuple[str, ...] = ()
    #: Seconds that one build may take.
    build_timeout_s: float = LONGEST_S
    #: Built trees that are kept at most; 0: as many as the disk has room for.
    keep_builds: int = 0
    #: The build runs again before each run, with a seed for another code layout.
    relayout: bool = False
    #: What counts instructions (program/counter.py), as the figure or beside it; "" for nothing.
    count: str = ""
    #: Paths from the top of the worktree that the build leaves: revisions where these are equal are
    #: one; () where nothing is named.
    products: tuple[str, ...] = ()
    #: Paths from the top of the work tree whose files are laid over each revision, and the artefact
    #: that has them as they were when the campaign began; "" for none.
    overlay: tuple[str, ...] = ()
    overlay_sha256: str = ""
    #: The artefact with what was not committed, and the sha that it was changed from; "" for none.
    carry_sha256: str = ""
    carry_onto: str = ""
    #: Each revision gets its submodules; None in older campaigns, where none had any.
    submodules: bool | None = None
    #: Contents that Git LFS has in the clone stand for their pointers: not in older campaigns.
    lfs: bool = False
    #: Candidates are the first parents of the newer end alone.
    first_parent: bool = False
    #: From the top of the repository; only commits that touch these are candidates.
    paths: tuple[str, ...] = ()
    #: With `paths`: the commit that would be named is compared with its own parents, and a change
    #: that comes from outside the paths is told as such: not in older campaigns.
    own_parents: bool = False
    #: Revisions that are not tested: full shas, and ranges SHA..SHA.
    skip: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: CampaignRequest) -> CommandRequest:
        """Read what `extra` kept; ConfigError when it is damaged."""
        try:
            fields = json.loads(dict(request.extra)["command"])
            lists = {
                name: tuple(fields.get(name, ()))
                for name in ("argv", "build", "products", "overlay", "skip", "paths")
            }
            return cls(**fields | lists)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(
                "the command of this campaign cannot be read", "start it again"
            ) from error

    @property
    def counted(self) -> bool:
        """Instructions are the figure: they are counted, and no other one is named."""
        printed = self.metric or self.format or self.extract or self.json_path
        return bool(self.count) and not (printed or self.pass_fail)

    @property
    def figure(self) -> str:
        """The name of the figure."""
        return INSTRUCTIONS if self.counted else self.metric or VALUE

    def words(self, sought: Sought) -> list[str]:
        """The options and the command, as they stand on a command line that asks for a change."""
        named = (
            ("--metric", self.metric),
            ("--format", self.format),
            ("--extract", self.extract),
            ("--json-path", self.json_path),
        )
        words = [word for pair in named if pair[1] for word in pair]
        if self.count:
            words += ["--count", INSTRUCTIONS]
        if self.pass_fail:
            words.append("--pass-fail")
        words += sought.options
        if self.better != Better.LOWER.value:
            words += ["--better", self.better]
        for name, value in (
            ("--ratio", self.ratio),
            ("--cost-build", self.cost_build_s),
            ("--cost-run", self.cost_run_s),
        ):
            if value is not None:
                words += [name, f"{value:g}"]
        # What takes longer is no evidence; how many trees are kept changes no figure.
        if self.timeout_s != LONGEST_S:
            words += ["--timeout", f"{self.timeout_s:g}"]
        if self.build:
            words += ["--build", shlex.join(self.build)]
            if self.build_timeout_s != LONGEST_S:
                words += ["--build-timeout", f"{self.build_timeout_s:g}"]
        words += [word for path in self.products for word in ("--product", path)]
        flags = (
            ("--relayout", self.relayout),
            ("--first-parent", self.first_parent),
            ("--carry", bool(self.carry_sha256)),
            ("--no-submodules", self.submodules is False),
        )
        words += [flag for flag, given in flags if given]
        words += [word for path in self.paths for word in ("--path", path)]
        words += [word for span in self.skip for word in ("--skip", span)]
        words += [word for path in self.overlay for word in ("--overlay", path)]
        return [*words, "--", *self.argv]

    def extra(self) -> tuple[tuple[str, str], ...]:
        """The command as it is kept with the campaign, in `CampaignRequest.extra`."""
        return (("command", json.dumps(asdict(self))),)

    def threshold(self) -> Threshold:
        """The one metric: a share of failures, a ratio, or a plain difference of any size."""
        by_ratio = self.ratio is not None and not self.pass_fail
        return Threshold(
            key=MetricKey(SUITE, self.figure, WINDOW),
            unit=INSTRUCTIONS if self.counted else self.unit,
            better=Better(self.better),
            scale=Scale.LOG if by_ratio else Scale.LINEAR,
            statistic=Statistic.FRACTION if self.pass_fail else Statistic.MEDIAN,
            min_effect=SMALLEST_SHARE if self.pass_fail else (self.ratio or 0.0),
            limit=None,
            floor=0.0,
            role=Role.PRIMARY,
            control=None,
            reason="asked on the command line",
        )


#: What stands in the place of a kernel's parts in fingerprints and in result.json of a command, as
#: they have always been written: campaigns that began so go on, and readers know the keys. Frozen.
NO_KERNEL: dict[str, Any] = {
    "build": {
        "revision": "", "config_name": "command", "base": "", "fragments": (), "modules": (),
        "variant": "", "fresh": False,
    },
    "device": {
        "name": "this machine", "template": "", "sockets": 1, "cores": 1, "threads": 1,
        "memory_mib": 0, "emulated": False, "cpu_model": "", "boot": "qemu", "boot_s": 60,
    },
    "profile": {
        "name": "as-is", "housekeeping": "", "isolated": "", "watch": "", "boot_line": "",
        "isolates": True, "smt": True, "fifo": 0,
    },
    "windows": ({
        "name": "run", "suites": ("command",), "workload": "none", "synthetic": False,
        "nominal_events_per_s": 0.0, "instrument": "", "explains": "", "asked": False,
        "least_s": 0.0,
    },),
    "window_ms": 0,
    "rcu_calls": 0,
    "explaining": (),
}  # fmt: skip


def narrowing_of(request: CampaignRequest) -> Narrowing:
    """Which commits of the range of a search are no candidates."""
    of_command = CommandRequest.of(request) if request.kind == CampaignKind.RUN else None
    return Narrowing(
        goods=Extra.of(request).goods,
        first_parent=bool(of_command and of_command.first_parent),
        paths=of_command.paths if of_command else (),
        own_parents=bool(of_command and of_command.paths and of_command.own_parents),
    )


def command_line(request: CampaignRequest, metric: MetricKey | None) -> str:
    """The command line that asks for the same, on this metric where it is of a kernel; the site by
    its name only, the repository of a command where `repo` is not empty.
    """
    good, bad = request.sought.ends(request.older, request.newer)
    extra = Extra.of(request)
    older, _ = request.sought.ends("--good", "--bad")
    ends = ["--good", good, "--bad", bad, *(word for sha in extra.goods for word in (older, sha))]
    if (sure := extra.sure) is not None:
        ends += ["--sure", f"{sure:g}"]
    if request.kind == CampaignKind.RUN:
        place = ["--repo", request.repo] if request.repo else []
        options = CommandRequest.of(request).words(request.sought)
        return shlex.join(["rtbisect", "run", *place, *ends, *options])
    words = ["rtbisect", "bisect", request.tree, *ends, *request.sought.options]
    if metric is not None:
        words += ["--suite", metric.suite, "--metric", f"{metric.name}@{metric.window}"]
    if most := extra.max_boots:
        words += ["--max-boots", str(most)]
    return shlex.join([*words, "--seed", str(request.seed), "--site", Path(request.site).name])
