# SPDX-License-Identifier: GPL-2.0-or-later
"""What a site file says and this version does not do: no mistake, but nobody shall believe it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from rtbisect.config.yamlfile import Document, Place

Note = tuple["Place", str]

#: Keys of the entries of each section: those that are used, and those that kernelci-core reads,
#: with what is done instead. Any other key is known to nobody.
_USED: Mapping[str, tuple[str, ...]] = {
    "trees": ("name", "url"),
    "fragments": ("name", "path", "configs"),
    "build_environments": ("name", "cc", "cc_version"),
    "build_configs": ("name", "tree", "branch", "variants", "reference"),
    "file_system_types": (),
    "file_systems": ("type",),
    "test_plans": ("name", "rootfs", "params", "filters"),
    "device_types": ("arch", "boot_method", "flags", "filters", "params"),
    "labs": ("lab_type", "url", "priority", "filters"),
}
_NATIVE = "kernels are built for x86_64 by the compiler of this machine"
_OWN_RAMDISK = "boots have a ramdisk of our own"
_OWN_JOB = "jobs are made from lava-jobs/skeleton.yaml.j2"
_NOBODY = "neither KernelCI nor rtbisect knows that"
_UNUSED: Mapping[str, Mapping[str, str]] = {
    "trees": {},
    "fragments": {"defconfig": "only its path or its configs count"},
    "build_environments": {
        "arch_map": _NATIVE, "cross_compile": _NATIVE,
        "cross_compile_compat": _NATIVE,
    },
    "build_configs": {},
    "file_system_types": {"url": _OWN_RAMDISK, "arch_map": _OWN_RAMDISK},
    "file_systems": dict.fromkeys(
        ("ramdisk", "nfs", "boot_protocol", "root_type", "prompt"), _OWN_RAMDISK
    ),
    "test_plans": {"base_name": _OWN_JOB, "category": _OWN_JOB, "pattern": _OWN_JOB},
    "device_types": {
        "mach": "the template says how a device boots", "base_name": _OWN_JOB,
        "context": _OWN_JOB, "class": "x86_64 has no device tree",
        "dtb": "x86_64 has no device tree",
    },
    "labs": {},
}  # fmt: skip

#: Keys that count in a variant, and in an architecture of it.
_VARIANT = ("name", "build_environment", "fragments", "architectures")
_ARCHITECTURE = ("name", "base_defconfig", "fragments")
_ONE_BUILD = "each build_config is built once"


def unused(document: Document) -> Iterator[Note]:
    """Places of the file that change nothing, and why; of sections that are checked for shape."""
    data = document.data
    for section, used in _USED.items():
        for name, entry in data.get(section, {}).items():
            yield from _unused_keys((section, name), entry, used, _UNUSED[section])
    defaults = data.get("build_configs_defaults") or {}
    top = ("build_configs_defaults",)
    yield from _unused_keys(top, defaults, ("variants", "reference"), {})
    yield from _unused_variants((*top, "variants"), defaults.get("variants") or {})
    for name, config in data["build_configs"].items():
        yield from _unused_variants(
            ("build_configs", name, "variants"), config.get("variants") or {}
        )
    for number, test in enumerate(data["test_configs"]):
        at = ("test_configs", number)
        yield from _unused_keys(at, test, ("device_type", "test_plans", "filters"), {})
    yield from _unnamed(data)


def not_run(document: Document, jobs: Collection[tuple[str, str]]) -> Iterator[Note]:
    """Pairs of device type and plan that no build_config takes; `jobs` are those that one takes."""
    for number, test in enumerate(document.data["test_configs"]):
        device = test["device_type"]
        for place, plan in enumerate(test["test_plans"]):
            if (device, plan) not in jobs:
                note = f"{plan} on {device} is not run: a build_config takes the first that fits it"
                yield ("test_configs", number, "test_plans", place), note


def compiler(document: Document, environment: str, here: str) -> Iterator[Note]:
    """A version of the compiler that is not the one of this machine, `here`."""
    wanted = str(document.data["build_environments"][environment]["cc_version"])
    if here != wanted and not here.startswith(f"{wanted}."):
        place = ("build_environments", environment, "cc_version")
        yield place, f"cc_version {wanted} is not what builds: gcc here is {here or 'not there'}"


def _unused_keys(
    at: Place, entry: object, used: Collection[str], instead: Mapping[str, str]
) -> Iterator[Note]:
    reasons: dict[str, list[str]] = {}
    for key in entry if isinstance(entry, dict) else ():
        if key not in used:
            reasons.setdefault(instead.get(key, _NOBODY), []).append(key)
    for why, keys in reasons.items():
        are = "is" if len(keys) == 1 else "are"
        yield (*at, keys[0]), f"{', '.join(keys)} {are} not used: {why}"


def _unused_variants(at: Place, variants: Mapping[str, Any]) -> Iterator[Note]:
    for number, (name, variant) in enumerate(variants.items()):
        if number:
            yield (*at, name), f"variant {name} is not built: {_ONE_BUILD}, with its first variant"
            continue
        yield from _unused_keys((*at, name), variant, _VARIANT, {})
        inside = (*at, name, "architectures")
        for place, (arch, entry) in enumerate(variant["architectures"].items()):
            if place:
                note = f"architecture {arch} is not built: {_ONE_BUILD}, for its first architecture"
                yield (*inside, arch), note
                continue
            instead = dict.fromkeys(("extra_configs", "filters"), _ONE_BUILD)
            yield from _unused_keys((*inside, arch), entry, _ARCHITECTURE, instead)


def _unnamed(data: Mapping[str, Any]) -> Iterator[Note]:
    """Definitions that nothing names."""
    lab = data["rtbisect"]["lab"]
    for place in (("labs",), ("rtbisect", "labs")):
        labs = data.get("labs") if len(place) == 1 else data["rtbisect"].get("labs")
        for name in labs or {}:
            if name != lab:
                yield (*place, name), f"lab {name} is not used: rtbisect.lab is {lab}"
    tests = data["test_configs"]
    named = {test["device_type"] for test in tests}
    plans = {plan for test in tests for plan in test["test_plans"]}
    for kind, used in (("device_type", named), ("test_plan", plans)):
        for name in data[f"{kind}s"]:
            if name not in used:
                yield (f"{kind}s", name), f"{kind} {name} is not used: no test_config names it"
