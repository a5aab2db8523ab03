# SPDX-License-Identifier: GPL-2.0-or-later
"""Take what a build left: image, modules and configuration go to the artefact store."""

from __future__ import annotations

import gzip
import io
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.command import printable
from rtbisect.kernel.signature import signature

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rtbisect.artefacts import ArtefactStore
    from rtbisect.kernel.workspace import Workspace

#: Where modules lie on the device; the job unpacks the archive over the root folder.
MODULE_FOLDER = "opt/rtbisect/modules"


@dataclass(frozen=True, slots=True)
class Products:
    """Names in the artefact store, the signature, and the release string."""

    kernel: str
    modules: str
    config: str
    signature: str
    release: str


def collect(space: Workspace, store: ArtefactStore, image: str, boot_line: str) -> Products:
    """Raises NotPlainError and NotElfError when the tree made something else."""
    modules = space.kernel_modules()
    mark = signature(space.plain_file("vmlinux"), modules, boot_line)
    return Products(
        kernel=store.put_file(space.plain_file(image)),
        modules=store.put_bytes(archive(modules)) if modules else "",
        config=store.put_file(space.plain_file(".config")),
        signature=mark,
        release=printable(space.text("include/config/kernel.release"), 80),
    )


def archive(modules: Iterable[Path]) -> bytes:
    """tar.gz that depends on names and bytes alone."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(modules, key=lambda module: module.name):
            data = path.read_bytes()
            member = tarfile.TarInfo(f"{MODULE_FOLDER}/{path.name}")
            member.size = len(data)
            member.mode = 0o644
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), mtime=0)
