# SPDX-License-Identifier: GPL-2.0-or-later
"""The named cases: what a history plants, what measures it, and what the right cause is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from rtbisect.model.campaign import Cause, Sought

if TYPE_CHECKING:
    from rtbisect.config.site_file import Site

#: Suites that the demo measures.
SUITES = ("ipi", "osnoise", "rcu")


#: Limits of a campaign of the demo.
LIMITS = {"confidence": 0.95, "max_boots": 80, "max_builds": 60}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoCase:
    """A kind of history and what a campaign on it shall answer."""

    #: Names the edit of `edits/culprits.yaml`; "" for none.
    plants: str
    #: Cause that a right answer names.
    cause: Cause
    #: Suites that boots measure.
    suites: tuple[str, ...] = SUITES
    #: Figure that is searched on, as `suite name@window`; "" for the one that changed.
    metric: str = ""
    #: A regression, or what repairs it.
    sought: Sought = Sought.REGRESSION
    #: Limits, by name, that replace those of the demo's site.
    limits: tuple[tuple[str, int], ...] = ()


def site_text(template: str, repo: str, case: DemoCase) -> str:
    """The demo's site file for a repository and what a case measures and may spend."""
    values = {"@REPO@": repo, "@SUITES@": case.suites, "@LIMITS@": LIMITS | dict(case.limits)}
    for mark, value in values.items():
        template = template.replace(mark, json.dumps(value))
    return template


def on_lab(text: str, site: Site) -> str:
    """The demo's site file on the lab of another site, with the device type of its first target."""
    demo, theirs = yaml.safe_load(text), yaml.safe_load(site.path.read_text(encoding="utf-8"))
    device, lab = site.job(site.kernelci.targets()[0]).device.name, site.lab.name
    (here,) = demo["labs"].values()
    demo["device_types"] = {device: theirs["device_types"][device]}
    demo["test_configs"] = [{"device_type": device, "test_plans": list(demo["test_plans"])}]
    demo["labs"] = {lab: theirs["labs"][lab] | {"filters": here["filters"]}}
    demo["rtbisect"]["lab"] = lab
    if lab in (accesses := theirs["rtbisect"].get("labs", {})):
        paths = {key: str(site.beside(accesses[lab][key]).absolute())
                 for key in ("token", "ca") if accesses[lab].get(key)}  # fmt: skip
        demo["rtbisect"]["labs"] = {lab: accesses[lab] | paths}
    return yaml.safe_dump(demo, sort_keys=False)


CASES = {
    "epoll-spinlock": DemoCase(plants="epoll-spinlock", cause=Cause.WORKLOAD_DEPENDENT),
    "rcu-latency": DemoCase(plants="rcu-latency", cause=Cause.KERNEL),
    "nothing": DemoCase(plants="", cause=Cause.NONE),
    "ipi-storm": DemoCase(plants="ipi-storm", cause=Cause.KERNEL),
    "irq-noise": DemoCase(plants="irq-noise", cause=Cause.KERNEL),
    # irq_work runs beside the reader; that the figure means something else is for the gates.
    "expected": DemoCase(plants="expected", cause=Cause.WORKLOAD_DEPENDENT),
    # The same, and whether it concerns kernels without PREEMPT_RT.
    "epoll-factors": DemoCase(
        plants="epoll-spinlock",
        cause=Cause.WORKLOAD_DEPENDENT,
        limits=(("max_boots", 100), ("without_rt_boots", 5)),
    ),
    # The same commit as in the first one; only a tool sees what it does.
    "tool-only": DemoCase(
        plants="epoll-spinlock", cause=Cause.TOOL_INDUCED, suites=("sampled", "osnoise")
    ),
    # The same commit once more, for what it repairs.
    "stall-fix": DemoCase(
        plants="epoll-spinlock",
        cause=Cause.KERNEL,
        suites=("stall",),
        metric="stall frozen_periods@stall",
        sought=Sought.REPAIR,
        limits=(("calibrate_max", 40), ("max_boots", 400)),
    ),
}

#: Kinds that a demo draws from.
KINDS = ("epoll-spinlock", "rcu-latency", "nothing")
