# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the layout of the code can matter on a host: one kernel, linked in several orders of its
functions, each booted several times.
"""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbisect.acceptance.inspection import check_built, check_landed, only_on, target_of
from rtbisect.campaign import assemble
from rtbisect.campaign.plan import check_target, relinked
from rtbisect.campaign.trees import tree_of
from rtbisect.config.site_file import load_site
from rtbisect.errors import BusyError, ConfigError, InfrastructureError, Interrupted
from rtbisect.judge.layouts import LayoutBoot
from rtbisect.lab.lava.remote import LavaServerLab
from rtbisect.model.campaign import Role
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.layouts import Layouts
from rtbisect.model.ports import Left, NoNote
from rtbisect.model.subject import RunOrder
from rtbisect.store.kept_boots import KeptBoots
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rtbisect.lab.kernel_on_host import KernelOnHost
    from rtbisect.model.campaign import Threshold
    from rtbisect.model.code import Build
    from rtbisect.model.lab import Run
    from rtbisect.model.ports import Screen, Subject
    from rtbisect.model.setup import Setup

#: So many faults of a lab in a row end it: nobody watches for hours that nothing boots.
_FAULTS = 3
#: Standard normal: four of five lie within.
_FOUR_OF_FIVE = 1.28


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutPlan:
    """What the operator asks for."""

    #: Name of the host in the site file; None where the lab is this machine.
    host: str | None = None
    #: Tree or build_config whose tip is booted; None: the first one of the site.
    tree: str | None = None
    #: Number of layouts, 2 or more, and boots of each, 2 or more.
    layouts: int = 8
    boots: int = 3
    #: Seed of the orders of functions, and of the order of boots in each round.
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutsBooted:
    """What was measured."""

    #: Full sha.
    revision: str
    thresholds: tuple[Threshold, ...]
    #: The device type where it is emulated, else "".
    emulated: str
    boots: tuple[LayoutBoot, ...]
    #: `Layouts.LEFT_OUT` of all boots that do not count.
    left_out: tuple[Finding, ...]


def boot_layouts(state: Path, place: Path, plan: LayoutPlan, screen: Screen) -> LayoutsBooted:
    """Build the tip of a tree once, and boot it in each layout, on a host of the site file at
    `place`. A call that was interrupted goes on. ConfigError where the request does not fit the
    site or the kernel does not build; InfrastructureError when the lab fails, or no boot measured
    anything; Interrupted.
    """
    site = load_site(place)
    _check_host(plan.host, site.lab.name, server=site.access is not None)
    assemble.preflight(state, site)
    target = target_of(site, plan.tree)
    setup = relinked(check_target(site, target))
    if not any(each.role is Role.PRIMARY for each in setup.thresholds):
        raise ConfigError(f"the plan of {target.name} has no primary figure", "see docs/suites/")
    tree = tree_of(state, target)
    subject = assemble.kernels_on_host(state, site, setup, tree, screen)
    try:
        host = None
        if isinstance(subject.lab, LavaServerLab) and plan.host is not None:
            host = only_on(subject.lab, site, plan.host, setup.booted.device.name)
        build = _built(subject, tree.resolve(target.branch), target.name, screen)
        names = (plan.host, build.revision, build.signature, plan.layouts, plan.seed)
        kept = KeptBoots.of(state / "lab/layouts", setup, *names)
        boots, left_out = in_turns(
            subject, build, plan, screen, lambda run: check_landed(run, host), kept
        )
        kept.forget()
    finally:
        subject.leave()
    return _booted(setup, build, boots, left_out)


def in_turns(  # noqa: PLR0913  (a host, what boots there, and who hears of it)
    subject: Subject,
    build: Build,
    plan: LayoutPlan,
    screen: Screen,
    check: Callable[[Run], None],
    kept: KeptBoots,
) -> tuple[tuple[LayoutBoot, ...], tuple[Finding, ...]]:
    """The boots of a build that count, and what is left out: round by round, the layouts of each in
    an order of its own. `check` raises where a run cannot be one of the host. What is `kept` counts
    and is not booted again; Interrupted says how to go on.
    """
    turns = _turns(plan)
    boots = _Boots(subject=subject, build=build, plan=plan, screen=screen, check=check, kept=kept)
    if has := kept.of_turns(turns):
        screen.say(str(speak(Finding.of(Layouts.GOES_ON, kept=len(has), of=len(turns)))))
    try:
        for done, turn in enumerate(turns):
            if turn not in kept.runs:
                boots.boot(turn, done, len(turns))
    except KeyboardInterrupt as error:
        told = Finding.of(Layouts.INTERRUPTED, kept=len(kept.of_turns(turns)), of=len(turns))
        raise Interrupted("interrupted", str(speak(told))) from error
    good = tuple(LayoutBoot(layout, round_, run) for (round_, layout), run in kept.of_turns(turns))
    return good, tuple(boots.left_out)


@dataclass(slots=True, kw_only=True)
class _Boots:
    """The boots of one call."""

    subject: Subject
    build: Build
    plan: LayoutPlan
    screen: Screen
    check: Callable[[Run], None]
    kept: KeptBoots
    left_out: list[Finding] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)
    #: Faults of the lab in a row.
    faults: int = 0

    def boot(self, turn: tuple[int, int], done: int, turns: int) -> None:
        """One layout in one round, after so many of all turns; it is kept or left out."""
        plan, (round_, layout) = self.plan, turn
        names = {"layout": layout + 1, "number": round_ + 1}
        what = Finding.of(Layouts.BOOT, layouts=plan.layouts, boots=plan.boots, **names)
        self.screen.step(str(speak(what)), done, turns, _left(self.took_s, turns - done))
        order = RunOrder(
            run_id=f"layouts-{plan.seed}-{layout}-{round_}", number=done + 1,
            linked_as=f"layouts-{plan.seed}-{layout}",
        )  # fmt: skip
        begin = time.monotonic()
        why: Finding | str | None
        try:
            run = self.subject.run(self.build, order, NoNote())
        except (InfrastructureError, BusyError) as error:
            self.faults += 1
            if self.faults == _FAULTS:
                raise
            why = error.message
        else:
            self.check(run)
            self.faults, why = 0, run.reason or run.status.value
            self.took_s.append(time.monotonic() - begin)
            if run.complete:
                self.kept.add(turn, run)
                return
        self.left_out.append(Finding.of(Layouts.LEFT_OUT, why=why, **names))
        self.screen.say(str(speak(self.left_out[-1])))


def _turns(plan: LayoutPlan) -> list[tuple[int, int]]:
    """Rounds and layouts, in their order in time."""
    draw = random.Random(plan.seed)  # noqa: S311
    turns = []
    for number in range(plan.boots):
        order = list(range(plan.layouts))
        draw.shuffle(order)
        turns += [(number, layout) for layout in order]
    return turns


def _left(took_s: list[float], boots: int) -> Left | None:
    """What so many more boots take, by those that were made; None where nobody knows."""
    if len(took_s) < 2:
        return None
    middle_s = boots * statistics.fmean(took_s)
    # Spread of the boots to come, and of the mean of those that were made.
    wide = _FOUR_OF_FIVE * statistics.stdev(took_s) * (boots + boots**2 / len(took_s)) ** 0.5
    return Left(low_s=max(0.0, middle_s - wide), middle_s=middle_s, high_s=middle_s + wide)


def _booted(
    setup: Setup, build: Build, boots: tuple[LayoutBoot, ...], left_out: tuple[Finding, ...]
) -> LayoutsBooted:
    if not boots:
        why = speak(left_out[0]) if left_out else ""
        raise InfrastructureError(f"no boot measured anything: {why}", "see `rtbisect lab check`")
    device = setup.booted.device
    return LayoutsBooted(
        revision=build.revision,
        thresholds=setup.thresholds,
        emulated=device.name if device.emulated else "",
        boots=boots,
        left_out=left_out,
    )


def _check_host(host: str | None, lab: str, *, server: bool) -> None:
    if server and host is None:
        raise ConfigError(
            f"lab {lab} is a LAVA server", "name the host: `rtbisect host layouts NAME`"
        )
    if host is not None and not server:
        raise ConfigError(f"lab {lab} is this machine", "leave the name of a host out")


def _built(subject: KernelOnHost, revision: str, tree: str, screen: Screen) -> Build:
    screen.say(f"build {revision[:12]}")
    build = subject.build(revision, 0, NoNote())
    check_built(build, tree, "boot a tree that builds")
    return build
