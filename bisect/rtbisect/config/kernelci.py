# SPDX-License-Identifier: GPL-2.0-or-later
"""The one door to kernelci-core: its YAML for trees, builds, devices and plans.

The configuration classes of kernelci 1.1 load and match; what they hold is handed on as
plain values of ours. Nothing of its shell-based build and git code is used: refs are read
with `git ls-remote` by `trees.git`, kernels are built by `kernel.kbuild`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtbisect.errors import ConfigError
from rtbisect.process import extras

#: What the classes of KernelCI raise over what stands in a file.
_MISTAKES = (KeyError, TypeError, AttributeError, ValueError, re.error)


@dataclass(frozen=True, slots=True)
class FragmentSource:
    """A Kconfig fragment."""

    name: str
    #: A file, relative to the site file or to what we ship.
    path: str
    #: Its lines in place of the file; () where the file counts.
    configs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTarget:
    """One build_config with one variant and architecture: what is built of which branch."""

    #: Name of the build_config.
    name: str
    tree: str
    #: URL of the repository of the tree.
    url: str
    branch: str
    #: Branch with which a merge base is looked for; "" for none.
    reference_branch: str
    variant: str
    architecture: str
    #: A target of the tree, as x86_64_defconfig.
    base: str
    fragments: tuple[FragmentSource, ...]
    #: The name of the build environment.
    compiler: str

    @property
    def defconfig(self) -> str:
        """The full name that filters see: base+fragment+fragment."""
        return "+".join((self.base, *(part.path for part in self.fragments)))


@dataclass(frozen=True, slots=True)
class LabChoice:
    """A lab of the site."""

    name: str
    #: URL of its LAVA server, or lava-run://localhost/.
    url: str
    #: Priority of our jobs there: "low", "medium", "high" or a number.
    priority: str


@dataclass(frozen=True, slots=True)
class MatchedJob:
    """A device type and a plan that match a build in a lab."""

    device_type: str
    boot_method: str
    #: The YAML's own; also those of the plan.
    device_params: Mapping[str, Any]
    plan: str
    plan_params: Mapping[str, Any]


class KernelCI:
    """What a site file says in KernelCI's own words; `text` is what stood in it."""

    def __init__(self, path: Path, text: bytes) -> None:
        self._path = path
        with extras.LAB.needed_by(f"the site file {path}"):
            import kernelci.config.build  # noqa: PLC0415
            import kernelci.config.lab  # noqa: PLC0415
            import kernelci.config.test  # noqa: PLC0415
        try:
            # It takes names only, and opens the file for each part; meanwhile that may change.
            with tempfile.NamedTemporaryFile(prefix="rtbisect-site-") as copy:
                copy.write(text)
                copy.flush()
                self._build = kernelci.config.build.from_yaml(copy.name)
                self._test = kernelci.config.test.from_yaml(copy.name)
                self._labs = kernelci.config.lab.from_yaml(copy.name)["labs"]
        except _MISTAKES as error:
            raise ConfigError(
                f"{path}: kernelci-core cannot load it: {type(error).__name__} {error}",
                "compare with site.example.yaml",
            ) from error

    def targets(self) -> tuple[BuildTarget, ...]:
        """Every build_config with every variant and architecture."""
        return tuple(
            _target(config, variant, architecture)
            for config in self._build["build_configs"].values()
            for variant in config.variants
            for architecture in variant.architectures
        )

    def lab(self, name: str) -> LabChoice:
        """A lab of the site."""
        lab = self._labs[name]
        return LabChoice(lab.name, lab.url, str(getattr(lab, "priority", "medium")))

    def jobs(self, target: BuildTarget, lab: str) -> tuple[MatchedJob, ...]:
        """Device types and plans that fit a build in a lab, by kernelci-core's filters."""
        import kernelci.test  # noqa: PLC0415

        meta = {
            "defconfig_full": target.defconfig,
            "arch": target.architecture,
            "git_describe": target.branch,
            "build_environment": target.compiler,
            "job": target.tree,
            "git_branch": target.branch,
        }
        try:
            matches = kernelci.test.match_configs(
                self._test["test_configs"], meta, [], self._labs[lab]
            )
        except _MISTAKES as error:
            raise ConfigError(
                f"{self._path}: kernelci-core cannot match test_configs with their filters:"
                f" {type(error).__name__} {error}",
                "compare the filters with site.example.yaml",
            ) from error
        jobs = [
            MatchedJob(device.name, device.boot_method, device.params, plan.name, plan.params)
            for device, plan in matches
        ]
        return tuple(sorted(jobs, key=lambda job: (job.device_type, job.plan)))


def _target(config: Any, variant: Any, architecture: Any) -> BuildTarget:
    parts = (*variant.fragments, *architecture.fragments)
    return BuildTarget(
        name=config.name,
        tree=config.tree.name,
        url=config.tree.url,
        branch=config.branch,
        reference_branch=config.reference.branch if config.reference else "",
        variant=variant.name,
        architecture=architecture.name,
        base=architecture.base_defconfig,
        fragments=tuple(
            FragmentSource(part.name, part.path, tuple(part.configs)) for part in parts
        ),
        compiler=variant.build_environment.name,
    )
