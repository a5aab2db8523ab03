# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things lie, the site file, and the thresholds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rtbisect import yamlfile
from rtbisect.errors import ConfigError, InternalError
from rtbisect.kernelci_core import BuildTarget, Job, KernelCI, LabChoice
from rtbisect.model.campaign import Better, MetricKey, Scale, Threshold
from rtbisect.model.lab import DeviceType
from rtbisect.site_schema import (
    DeviceParams,
    MetricEntry,
    Ours,
    PlanParams,
    SiteFile,
    ThresholdsFile,
    VariantEntry,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


#: The lab on this machine, the only one that this version drives.
EMBEDDED = "lava-run://localhost/"


def data_root() -> Path:
    """The checkout that holds lava-jobs/, thresholds/ and reports/.

    rtbisect is installed editable; InternalError says so when it is not.
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / "lava-jobs").is_dir():
        raise InternalError(
            f"{root} holds no lava-jobs/", "install rtbisect from its checkout with `make setup`"
        )
    return root


def state_dir(option: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """--state, $RTBISECT_STATE, else $XDG_STATE_HOME/rtbisect (default ~/.local/state)."""
    if option is not None:
        return option.absolute()
    if environ.get("RTBISECT_STATE"):
        return Path(environ["RTBISECT_STATE"]).absolute()
    base = environ.get("XDG_STATE_HOME") or str(Path(environ.get("HOME", "/")) / ".local/state")
    return Path(base).absolute() / "rtbisect"


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A device type and a plan, typed."""

    device: DeviceType
    plan: str
    params: PlanParams


@dataclass(frozen=True, slots=True)
class Site:
    """A loaded site file."""

    path: Path
    kernelci: KernelCI
    ours: Ours
    lab: LabChoice
    document: yamlfile.Document

    def target(self, name: str) -> BuildTarget:
        """A build_config by its name, or the only one of a tree."""
        targets = self.kernelci.targets()
        named = [t for t in targets if t.name == name] or [t for t in targets if t.tree == name]
        if not named:
            known = ", ".join(sorted({t.name for t in targets}))
            raise ConfigError(f"unknown tree or build_config {name!r}", f"{self.path} has: {known}")
        if len({t.name for t in named}) > 1:
            known = ", ".join(sorted({t.name for t in named}))
            raise ConfigError(f"tree {name!r} has several build_configs", f"name one of {known}")
        return named[0]

    def fragment_texts(self, target: BuildTarget) -> tuple[str, ...]:
        """Texts of the fragments; paths are relative to the site file, then to the checkout."""
        texts = []
        for part in target.fragments:
            if part.configs:
                texts.append("\n".join(part.configs) + "\n")
                continue
            places = (self.path.parent / part.path, data_root() / part.path)
            found = next((place for place in places if place.is_file()), None)
            if found is None:
                raise self.document.refuse(
                    ("fragments", part.name, "path"),
                    f"fragment {part.name}: no file {part.path}",
                    f"looked in {places[0].parent} and {places[1].parent}",
                )
            texts.append(found.read_text(encoding="utf-8"))
        return tuple(texts)

    def workload(self, planned: PlannedJob) -> Path | None:
        """The program of a plan's own workload."""
        named = planned.params.workload
        if named is None:
            return None
        place = self.path.parent / named.path
        if not place.is_file():
            at = ("test_plans", planned.plan, "params", "workload")
            raise self.document.refuse(at, f"workload: no file {place}")
        return place

    def job(self, target: BuildTarget, describe: str = "") -> PlannedJob:
        """The device type and plan that kernelci-core matches to a target in our lab."""
        jobs = self.kernelci.jobs(target, describe or target.branch, self.lab.name)
        if not jobs:
            raise ConfigError(
                f"{self.path}: no test_config fits {target.name} in lab {self.lab.name}",
                "compare arch, filters and test_plans with site.example.yaml",
            )
        return _planned(jobs[0])


def _planned(job: Job) -> PlannedJob:
    params = DeviceParams.model_validate(dict(job.device_params))
    device = DeviceType(job.device_type, **params.model_dump())
    return PlannedJob(device, job.plan, PlanParams.model_validate(dict(job.plan_params)))


def load_site(path: Path) -> Site:
    """Load and check a site file; ConfigError names file and line of a mistake."""
    document = yamlfile.read(path)
    try:
        checked = SiteFile.model_validate(document.data)
    except ValidationError as error:
        raise document.refuse_invalid(error) from error
    _check_references(document, checked)
    kernelci = KernelCI(path)
    lab = next(lab for lab in kernelci.labs() if lab.name == checked.rtbisect.lab)
    return Site(path, kernelci, checked.rtbisect, lab, document)


def _check_references(document: yamlfile.Document, site: SiteFile) -> None:
    """Every name that is used must be defined; the error stands at the use."""
    for known, name, place, what in _references(site):
        if name not in known:
            raise document.refuse(
                place, f"unknown {what} {name!r}", f"defined: {', '.join(known) or 'none'}"
            )
    for name, config in site.build_configs.items():
        if not (config.variants or site.build_configs_defaults.variants):
            raise document.refuse(("build_configs", name), f"{name} has no variants")
        reference = config.reference or site.build_configs_defaults.reference
        if reference and reference.tree != config.tree:
            raise document.refuse(
                ("build_configs", name),
                f"{name} is of tree {config.tree}, its reference of tree {reference.tree}",
                "give it a `reference` in its own tree: only there is a merge base",
            )
    _check_supported(document, site)


def _check_supported(document: yamlfile.Document, site: SiteFile) -> None:
    """What this version cannot do is refused, never silently done otherwise."""
    for name, device in site.device_types.items():
        if not device.params.emulated:
            raise document.refuse(
                ("device_types", name, "params", "emulated"),
                f"{EMBEDDED} runs QEMU, so {name} is emulated",
                "say `emulated: true`: figures of an emulator are never mailed",
            )
    for name, environment in site.build_environments.items():
        if environment.cc != "gcc":
            raise document.refuse(
                ("build_environments", name, "cc"),
                f"build_environment {name}: cc {environment.cc!r} is not supported",
                "this version builds with gcc",
            )
    lab = site.rtbisect.lab
    if site.labs[lab].url != EMBEDDED:
        raise document.refuse(
            ("labs", lab, "url"),
            f"lab {lab}: {site.labs[lab].url} is not supported",
            f"this version runs jobs with {EMBEDDED} only",
        )


Reference = tuple["Mapping[str, object]", str, yamlfile.Place, str]


def _references(site: SiteFile) -> Iterator[Reference]:
    """(known names, used name, place of the use, kind) of every reference."""
    top: yamlfile.Place = ("build_configs_defaults",)
    at: yamlfile.Place
    defaults = site.build_configs_defaults
    yield from _of_variants(site, defaults.variants, (*top, "variants"))
    if defaults.reference:
        yield site.trees, defaults.reference.tree, (*top, "reference", "tree"), "tree"
    for name, config in site.build_configs.items():
        here: yamlfile.Place = ("build_configs", name)
        yield site.trees, config.tree, (*here, "tree"), "tree"
        yield from _of_variants(site, config.variants or {}, (*here, "variants"))
        if config.reference:
            yield site.trees, config.reference.tree, (*here, "reference", "tree"), "tree"
    for name, system in site.file_systems.items():
        yield site.file_system_types, system.type, ("file_systems", name, "type"), "type"
    for name, plan in site.test_plans.items():
        yield site.file_systems, plan.rootfs, ("test_plans", name, "rootfs"), "rootfs"
        for k, suite in enumerate(plan.params.suites):
            at = ("test_plans", name, "params", "suites", k)
            yield _files("thresholds/*.yaml", "stem"), suite, at, "suite"
    for name, device in site.device_types.items():
        at = ("device_types", name, "params", "template")
        yield _files("lava-jobs/devices/*", "name"), device.params.template, at, "template"
    for i, test in enumerate(site.test_configs):
        at = ("test_configs", i)
        yield site.device_types, test.device_type, (*at, "device_type"), "device_type"
        for k, plan_name in enumerate(test.test_plans):
            yield site.test_plans, plan_name, (*at, "test_plans", k), "test_plan"
    yield site.labs, site.rtbisect.lab, ("rtbisect", "lab"), "lab"


def _files(pattern: str, part: str) -> dict[str, object]:
    """Names (`stem` or `name`) that files of the checkout define."""
    return dict.fromkeys(sorted(getattr(path, part) for path in data_root().glob(pattern)))


def _of_variants(
    site: SiteFile, entries: Mapping[str, VariantEntry], place: yamlfile.Place
) -> Iterator[Reference]:
    for name, entry in entries.items():
        here = (*place, name)
        at = (*here, "build_environment")
        yield site.build_environments, entry.build_environment, at, "build_environment"
        for i, part in enumerate(entry.fragments):
            yield site.fragments, part, (*here, "fragments", i), "fragment"
        for arch, inner in entry.architectures.items():
            for i, part in enumerate(inner.fragments if inner else ()):
                yield (
                    site.fragments,
                    part,
                    (*here, "architectures", arch, "fragments", i),
                    "fragment",
                )


def load_thresholds(folder: Path, suites: tuple[str, ...]) -> tuple[Threshold, ...]:
    """Thresholds of the named suites from `<folder>/<suite>.yaml`."""
    found: list[Threshold] = []
    for suite in suites:
        document = yamlfile.read(folder / f"{suite}.yaml")
        try:
            checked = ThresholdsFile.model_validate(document.data)
        except ValidationError as error:
            raise document.refuse_invalid(error) from error
        if checked.suite != suite:
            raise document.refuse(
                ("suite",), f"suite is {checked.suite!r}, the file says {suite!r}"
            )
        found.extend(_threshold(suite, entry) for entry in checked.metrics)
    return tuple(found)


def _threshold(suite: str, entry: MetricEntry) -> Threshold:
    control = entry.control
    return Threshold(
        key=MetricKey(suite, entry.name, entry.window),
        unit=entry.unit,
        better=Better(entry.better),
        scale=Scale(entry.scale),
        statistic=entry.statistic,
        min_effect=entry.min_effect,
        limit=entry.limit,
        floor=entry.floor,
        role=entry.role,
        control=MetricKey(suite, control.name, control.window) if control else None,
        reason=entry.reason,
        exposure=MetricKey(suite, entry.exposure, entry.window) if entry.exposure else None,
    )


def choose_threshold(
    thresholds: tuple[Threshold, ...], suite: str, metric: str | None
) -> Threshold:
    """The metric to search on: by name (or name@window), else the suite's primary one."""
    mine = [t for t in thresholds if t.key.suite == suite]
    if not mine:
        known = ", ".join(sorted({t.key.suite for t in thresholds}))
        raise ConfigError(f"unknown suite {suite!r}", f"there are: {known}")
    if metric is None:
        return next((t for t in mine if t.role == "primary"), mine[0])
    for threshold in mine:
        if metric in (threshold.key.name, f"{threshold.key.name}@{threshold.key.window}"):
            return threshold
    known = ", ".join(f"{t.key.name}@{t.key.window}" for t in mine)
    raise ConfigError(f"unknown metric {metric!r} of suite {suite}", f"there are: {known}")
