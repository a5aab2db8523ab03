# SPDX-License-Identifier: GPL-2.0-or-later
"""The site file: trees, builds, devices and plans of a lab, and our own section."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.config import checks, yamlfile
from rtbisect.config.kernelci import BuildTarget, KernelCI, LabChoice
from rtbisect.config.paths import data
from rtbisect.config.schema import DeviceParams, LabAccess, Ours, PlanParams, SiteFile
from rtbisect.errors import ConfigError
from rtbisect.model.lab import DeviceType

if TYPE_CHECKING:
    from rtbisect.model.campaign import CampaignRequest


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A device type and a plan, typed."""

    device: DeviceType
    #: Name of the plan.
    plan: str
    params: PlanParams


@dataclass(frozen=True, slots=True)
class Site:
    """A loaded site file."""

    path: Path
    kernelci: KernelCI
    #: The section `rtbisect:` of it.
    ours: Ours
    #: The one that boots our kernels.
    lab: LabChoice
    document: yamlfile.Document

    @property
    def access(self) -> LabAccess | None:
        """How our lab is used where it has a server; None for the one on this machine."""
        return None if self.lab.url == checks.EMBEDDED else self.ours.labs[self.lab.name]

    def beside(self, path: str) -> Path:
        """A path of the site file, which is relative to it."""
        return self.path.parent / path

    def evidence_folder(self, campaign: str) -> Path | None:
        """Where the data of a campaign are published; None where a site publishes none."""
        evidence = self.ours.mail.evidence
        return self.beside(evidence.folder) / campaign if evidence is not None else None

    def evidence_url(self, campaign: str) -> str:
        """The address of that, with a slash at its end: of its page; "" for nowhere."""
        evidence = self.ours.mail.evidence
        return f"{evidence.url.rstrip('/')}/{campaign}/" if evidence is not None else ""

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
        """Texts of the fragments; paths are relative to the site file, then to what we ship."""
        texts = []
        for part in target.fragments:
            if part.configs:
                texts.append("\n".join(part.configs) + "\n")
                continue
            places = (self.path.parent / part.path, data() / part.path)
            file = next((place for place in places if place.is_file()), None)
            if file is None:
                raise self.document.refuse(
                    ("fragments", part.name, "path"),
                    f"fragment {part.name}: no file {part.path}",
                    f"looked in {places[0].parent} and {places[1].parent}",
                )
            texts.append(file.read_text(encoding="utf-8"))
        return tuple(texts)

    def workload(self, planned: PlannedJob) -> Path | None:
        """The program of a plan's own workload."""
        named = planned.params.workload
        if named is None:
            return None
        place = self.beside(named.path)
        if not place.is_file():
            at = ("test_plans", planned.plan, "params", "workload")
            raise self.document.refuse(at, f"workload: no file {place}")
        return place

    def job(self, target: BuildTarget) -> PlannedJob:
        """The device type and plan that kernelci-core matches to a target in our lab."""
        jobs = self.kernelci.jobs(target, self.lab.name)
        if not jobs:
            raise ConfigError(
                f"{self.path}: no test_config fits {target.name} in lab {self.lab.name}",
                "compare arch, filters and test_plans with site.example.yaml",
            )
        first = jobs[0]
        params = DeviceParams.model_validate(first.device_params)
        device = DeviceType(name=first.device_type, boot=first.boot_method, **params.model_dump())
        return PlannedJob(device, first.plan, PlanParams.model_validate(first.plan_params))


def load_site(path: Path) -> Site:
    """Load and check a site file; ConfigError names file and line of a mistake."""
    document = yamlfile.read(path)
    checked = document.checked(SiteFile)
    checks.check(document, checked, data())
    kernelci = KernelCI(path, document.text)
    ours = checked.rtbisect
    return Site(path, kernelci, ours, kernelci.lab(ours.lab), document)


@dataclass(frozen=True, slots=True)
class SiteFiles:
    """The site files of one campaign, or of one command on it: each is read once, so that all of it
    sees the same one.
    """

    _read: dict[Path, Site] = field(default_factory=dict)

    def at(self, path: Path) -> Site:
        """The site file of this path, see `load_site`."""
        if path not in self._read:
            self._read[path] = load_site(path)
        return self._read[path]

    def of_campaign(self, request: CampaignRequest) -> Site | None:
        """That of a campaign; None for one of any command, which has none."""
        return self.at(Path(request.site)) if request.site else None
