# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own list of devices whose boots are no evidence until a person has looked at them.

It needs no right on a LAVA server: a job that lands on such a device is ended, and another one is
asked for. The list is a file of the state directory, so that all campaigns there see it at once.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.process import locks
from rtbisect.process.command import printable
from rtbisect.store.artefacts import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

#: Characters of a reason.
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class QuarantineEntry:
    """Why a device is on the list."""

    reason: str
    #: ISO 8601, UTC.
    since: str


class Quarantine:
    """The list of a state directory, by the names that devices have in their lab."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> Mapping[str, QuarantineEntry]:
        """Every device of the list; ConfigError when the file is none of ours."""
        try:
            rows = json.loads(self._path.read_text("utf-8"))
            return {str(name): QuarantineEntry(**entry) for name, entry in sorted(rows.items())}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"the quarantine list {self._path} cannot be read", "mend or remove it"
            ) from error

    def put(self, device: str, reason: str, now: datetime) -> None:
        """Put a device on the list; the first reason stays."""
        with self._alone():
            entries = dict(self.all())
            entry = QuarantineEntry(printable(reason, _LONGEST), now.isoformat(timespec="seconds"))
            entries.setdefault(device, entry)
            self._write(entries)

    def release(self, device: str) -> bool:
        """Take a device off the list; whether it was on it."""
        with self._alone():
            entries = dict(self.all())
            listed = entries.pop(device, None) is not None
            self._write(entries)
        return listed

    def _alone(self) -> AbstractContextManager[int]:
        return locks.hold(
            self._path.with_suffix(".lock"), wait_s=10.0, what="the list of quarantined devices"
        )

    def _write(self, entries: Mapping[str, QuarantineEntry]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({name: asdict(entry) for name, entry in entries.items()}, indent=1) + "\n"
        write_whole(self._path, text.encode())
