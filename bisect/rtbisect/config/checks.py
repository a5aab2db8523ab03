# SPDX-License-Identifier: GPL-2.0-or-later
"""What the parts of a site file say of each other, and what of it this version can do."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rtbisect.config.schema import BuildConfigEntry, BuildDefaults, SiteFile, VariantEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rtbisect.config import yamlfile

#: The lab on this machine.
EMBEDDED = "lava-run://localhost/"

#: The architecture that kernels are built for.
ARCHITECTURE = "x86_64"

#: Hosts to which nothing leaves this machine.
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def check(document: yamlfile.Document, site: SiteFile, root: Path) -> None:
    """Every name that is used must be defined (suites and device templates in the checkout `root`),
    and what is asked must be what this version does; the error stands at the use.
    """
    for known, name, place, kind in _references(site, root):
        if name not in known:
            raise document.refuse(
                place, f"unknown {kind} {name!r}", f"defined: {', '.join(known) or 'none'}"
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
    for name, environment in site.build_environments.items():
        if environment.cc != "gcc":
            raise document.refuse(
                ("build_environments", name, "cc"),
                f"build_environment {name}: cc {environment.cc!r} is not supported",
                "this version builds with gcc",
            )
    for place in _renamed(document.data):
        raise document.refuse(
            place, f"{place[-2]} has another name here", "the key of an entry is its only name"
        )
    for place, arch in _built_architectures(site):
        if arch != ARCHITECTURE:
            raise document.refuse(
                place,
                f"architecture {arch} is not supported",
                f"this version builds {ARCHITECTURE}: name that one first",
            )
    if site.labs[site.rtbisect.lab].url == EMBEDDED:
        for name, device in site.device_types.items():
            if not device.params.emulated:
                raise document.refuse(
                    ("device_types", name, "params", "emulated"),
                    f"{EMBEDDED} runs QEMU, so {name} is emulated",
                    "say `emulated: true`: figures of an emulator are never mailed",
                )
    else:
        _check_server(document, site)


#: Sections whose entries kernelci-core takes by a `name` in them, where there is one.
_NAMED = ("trees", "fragments", "build_environments", "build_configs", "test_plans")


def _renamed(data: object, at: yamlfile.Place = ()) -> Iterator[yamlfile.Place]:
    """Places where such an entry, a variant or an architecture has another name than its key: what
    kernelci-core then calls it stands nowhere that we look.
    """
    for key, entry in data.items() if isinstance(data, dict) else ():
        here = (*at, key)
        inside = at and at[-1] in (*_NAMED, "variants", "architectures")
        if inside and isinstance(entry, dict) and entry.get("name", key) != key:
            yield (*here, "name")
        if here[0] in (*_NAMED, "build_configs_defaults"):
            yield from _renamed(entry, here)


def _built_architectures(site: SiteFile) -> Iterator[tuple[yamlfile.Place, str]]:
    """The first architecture of the first variant of each build_config, which is what is built."""
    for name, config in site.build_configs.items():
        own = config.variants is not None
        top = ("build_configs", name) if own else ("build_configs_defaults",)
        variants = config.variants if own else site.build_configs_defaults.variants
        for variant, entry in list((variants or {}).items())[:1]:
            for arch in list(entry.architectures)[:1]:
                yield (*top, "variants", variant, "architectures", arch), arch


def _check_server(document: yamlfile.Document, site: SiteFile) -> None:
    lab = site.rtbisect.lab
    url = urlsplit(site.labs[lab].url)
    if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
        raise document.refuse(
            ("labs", lab, "url"),
            f"lab {lab}: {site.labs[lab].url} is no LAVA server",
            f"give https://..., or {EMBEDDED} for this machine",
        )
    access = site.rtbisect.labs.get(lab)
    if access is None:
        raise document.refuse(
            ("rtbisect", "lab"),
            f"lab {lab} has a server, and rtbisect.labs does not say how it is used",
            "docs/operations.md has an example",
        )
    if url.scheme == "http" and not (access.plain_http or url.hostname in LOOPBACK):
        raise document.refuse(
            ("labs", lab, "url"),
            f"lab {lab}: a token for {url.hostname} would go over the network without TLS",
            "use https, or say `plain_http: true` in rtbisect.labs",
        )


Reference = tuple["Mapping[str, object]", str, "yamlfile.Place", str]


def _references(site: SiteFile, root: Path) -> Iterator[Reference]:
    """(known names, used name, place of the use, kind) of every reference."""
    at: yamlfile.Place
    entries: dict[yamlfile.Place, BuildDefaults | BuildConfigEntry] = {
        ("build_configs_defaults",): site.build_configs_defaults,
        **{("build_configs", name): config for name, config in site.build_configs.items()},
    }
    for here, entry in entries.items():
        if isinstance(entry, BuildConfigEntry):
            yield site.trees, entry.tree, (*here, "tree"), "tree"
        yield from _variant_references(site, entry.variants or {}, (*here, "variants"))
        if entry.reference:
            yield site.trees, entry.reference.tree, (*here, "reference", "tree"), "tree"
    for name, system in site.file_systems.items():
        yield site.file_system_types, system.type, ("file_systems", name, "type"), "type"
    for name, plan in site.test_plans.items():
        yield site.file_systems, plan.rootfs, ("test_plans", name, "rootfs"), "rootfs"
        for k, suite in enumerate(plan.params.suites):
            at = ("test_plans", name, "params", "suites", k)
            yield _files(root, "thresholds/*.yaml", "stem"), suite, at, "suite"
    for name, device in site.device_types.items():
        at = ("device_types", name, "params", "template")
        yield _files(root, "lava-jobs/devices/*", "name"), device.params.template, at, "template"
        at = ("device_types", name, "boot_method")
        # A file of the folder is named METHOD.yaml.j2.
        methods = {
            str(path).partition(".")[0]: None for path in _files(root, "lava-jobs/boot/*", "name")
        }
        yield methods, device.boot_method, at, "boot method"
    for i, test in enumerate(site.test_configs):
        at = ("test_configs", i)
        yield site.device_types, test.device_type, (*at, "device_type"), "device_type"
        for k, plan_name in enumerate(test.test_plans):
            yield site.test_plans, plan_name, (*at, "test_plans", k), "test_plan"
    yield from _own_references(site)


def _own_references(site: SiteFile) -> Iterator[Reference]:
    yield site.labs, site.rtbisect.lab, ("rtbisect", "lab"), "lab"
    for name in site.rtbisect.labs:
        yield site.labs, name, ("rtbisect", "labs", name), "lab"
    for name in site.rtbisect.mail.trees:
        yield site.trees, name, ("rtbisect", "mail", "trees", name), "tree"


def _files(root: Path, pattern: str, part: str) -> dict[str, object]:
    """Names (`stem` or `name`) that files of the checkout define."""
    return dict.fromkeys(sorted(getattr(path, part) for path in root.glob(pattern)))


def _variant_references(
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
