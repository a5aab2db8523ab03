# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that booted to the end before, by the type of device.

A boot that ends without a word is the kernel's or the lab's; a prompt that is never found looks
like a kernel that hangs. Whether another kernel, known to boot there, gets through the same job on
the same device answers that.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbisect.store.artefacts import ArtefactStore, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.model.lab import RunRequest

#: Kernels that are kept for each type: the last new one, and one to answer for that one.
_KEPT = 2

#: What is kept of a request: what differs between kernels in one job.
_FIELDS = ("revision", "kernel", "modules", "realtime", "build_id")


class KnownGood:
    """The list of a state directory. A list that cannot be read is empty: without it, fewer faults
    of a lab are told from those of kernels.
    """

    def __init__(self, path: Path, artefacts: ArtefactStore) -> None:
        self._path = path
        self._artefacts = artefacts

    def put(self, request: RunRequest) -> None:
        """The kernel of `request` booted to the end. One that somebody has sent answers for no
        other: it may know how to look well.
        """
        if request.foreign:
            return
        kernels = self._read()
        kind = request.device_type.name
        rows = kernels.get(kind, [])
        # Kernels of a proof take turns: one that is there is not written again.
        if any(row["kernel"] == request.kernel for row in rows):
            return
        newest = {name: getattr(request, name) for name in _FIELDS}
        kernels[kind] = [newest, *rows][:_KEPT]
        text = json.dumps(kernels, indent=1) + "\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, text.encode())

    def instead_of(self, request: RunRequest) -> RunRequest | None:
        """The same job with another kernel, that booted there before; None when none did."""
        for row in self._read().get(request.device_type.name, []):
            is_kept = all(
                self._artefacts.has(row[name]) for name in ("kernel", "modules") if row[name]
            )
            if row["kernel"] != request.kernel and is_kept:
                return replace(request, run_id=f"{request.run_id}-known-good", probes=(), **row)
        return None

    def _read(self) -> dict[str, list[dict[str, Any]]]:
        try:
            kernels = json.loads(self._path.read_text("utf-8"))
            return {
                # Rows of before builds had an id.
                str(kind): [
                    {name: ({"build_id": ""} | row)[name] for name in _FIELDS} for row in rows
                ]
                for kind, rows in kernels.items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}
