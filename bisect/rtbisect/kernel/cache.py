# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of finished builds: the same tree and configuration is built once.

Only successes are kept. A failure is cheap to repeat, and one that was the machine's
own fault must not stick to a revision.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

from rtbisect.errors import InfrastructureError
from rtbisect.kernel.settings import BUILDER_VERSION, OWN_FRAGMENT
from rtbisect.model.code import Build, BuildRequest
from rtbisect.process.command import encode
from rtbisect.store import codec
from rtbisect.store.artefacts import ArtefactStore, write_whole


def cache_key(tree: str, request: BuildRequest, tools: str, boot_line: str) -> str:
    """sha256 (hex) of everything that a build depends on, the revision's name excepted."""
    fields = {**asdict(request), "revision": "", "fresh": False}
    text = json.dumps(
        [BUILDER_VERSION, OWN_FRAGMENT, tree, fields, tools, boot_line], sort_keys=True
    )
    return hashlib.sha256(encode(text)).hexdigest()


class BuildCache:
    """A folder of JSON files, written by rename."""

    def __init__(self, root: Path, store: ArtefactStore) -> None:
        self._root = root
        self._store = store

    def get(self, key: str, revision: str) -> Build | None:
        """The recorded build as one of `revision`; None when artefacts are gone, or when its build
        id was not looked for: nothing could tell whether a device runs it.
        """
        try:
            fields = json.loads((self._root / f"{key}.json").read_text(encoding="utf-8"))
            build = codec.from_plain(Build, fields)
        except (OSError, ValueError, TypeError, KeyError):
            return None
        if "build_id" not in fields:
            return None
        try:
            artefacts = (build.kernel, build.config, build.modules, build.files, build.functions)
            for name in (*artefacts, build.vmlinux):
                if name:
                    self._store.path(name)
        except InfrastructureError:
            return None
        return replace(build, revision=revision, reused=True, seconds=0.0)

    def put(self, key: str, build: Build) -> None:
        """Keep a build; InfrastructureError when the disk refuses."""
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            record = codec.to_json(Build, build).encode()
            write_whole(self._root / f"{key}.json", record, mode=0o600)
        except OSError as error:
            raise InfrastructureError(
                f"cannot keep a build record in {self._root}: {error.strerror}",
                "free disk space (8 GB are needed) and run `rtbisect resume`",
            ) from error
