# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own list of devices whose boots are no evidence until a person has looked at them.

It needs no right on a LAVA server: a job that lands on such a device is ended, and another one is
asked for. The list is a file of the state directory, so that all campaigns there see it at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rtbisect.errors import ConfigError
from rtbisect.model.finding import Finding
from rtbisect.process import locks
from rtbisect.process.command import printable
from rtbisect.store import codec
from rtbisect.store.artefacts import write_whole
from rtbisect.words.speak import speak

#: Characters of a person's reason.
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class QuarantineEntry:
    """Why a device is on the list."""

    #: What was found; in words where a person or an older program wrote it.
    reason: Finding | str
    #: ISO 8601, UTC.
    since: str

    @property
    def told(self) -> str:
        """The reason for a person."""
        return str(speak(self.reason)) if isinstance(self.reason, Finding) else self.reason


class Quarantine:
    """The list of a state directory, by the names that devices have in their lab."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> Mapping[str, QuarantineEntry]:
        """Every device of the list; ConfigError when the file is none of ours."""
        try:
            rows = json.loads(self._path.read_text("utf-8"))
            return {str(name): _entry(**row) for name, row in sorted(rows.items())}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(
                f"the quarantine list {self._path} cannot be read", "mend or remove it"
            ) from error

    def put(self, device: str, reason: Finding | str, now: datetime) -> None:
        """Put a device on the list; the first reason stays."""
        if isinstance(reason, str):
            reason = printable(reason, _LONGEST)
        entry = QuarantineEntry(reason, now.isoformat(timespec="seconds"))
        with self._changed() as entries:
            entries.setdefault(device, entry)

    def release(self, device: str) -> bool:
        """Take a device off the list; whether it was on it."""
        with self._changed() as entries:
            return entries.pop(device, None) is not None

    @contextmanager
    def _changed(self) -> Iterator[dict[str, QuarantineEntry]]:
        """The list, which is written again; by one process at a time."""
        lock = self._path.with_suffix(".lock")
        with locks.hold(lock, wait_s=10.0, what="the list of quarantined devices"):
            entries = dict(self.all())
            yield entries
            rows = {name: _row(entry) for name, entry in entries.items()}
            write_whole(self._path, (json.dumps(rows, indent=1) + "\n").encode())


def _entry(reason: object, since: str) -> QuarantineEntry:
    """ValueError or TypeError where it is none."""
    return QuarantineEntry(
        reason if isinstance(reason, str) else codec.from_plain(Finding, reason), since
    )


def _row(entry: QuarantineEntry) -> dict[str, object]:
    reason = entry.reason
    kept = codec.to_plain(Finding, reason) if isinstance(reason, Finding) else reason
    return {"reason": kept, "since": entry.since}
