# SPDX-License-Identifier: GPL-2.0-or-later
"""What the process that runs a campaign and the others of its user leave each other: where the
search stands, that it is to stop, and how it has ended. Notes, not records: a campaign goes on as
well without them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.errors import Exit
from rtbisect.model.finding import Finding
from rtbisect.store import codec
from rtbisect.store.artefacts import write_whole

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """The session files of one campaign."""

    folder: Path

    @classmethod
    def of(cls, state: Path, campaign: str) -> SessionFiles:
        """In a state directory."""
        return cls(state / "sessions" / campaign)

    def keep_standing(self, found: Finding) -> None:
        """Note where the search stands. A full disk is no reason to end it."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._standing, codec.to_json(Finding, found).encode())

    def standing(self) -> Finding | None:
        """What was noted last; None where nothing was, or it cannot be read."""
        try:
            return codec.from_json(Finding, self._standing.read_bytes())
        except (OSError, ValueError):
            return None

    def ask_to_stop(self) -> None:
        """Ask the process that runs the campaign to end after the run under way."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._stop.touch()

    def forget_stop(self) -> None:
        """What was asked of an earlier session, or of a campaign that is done, counts no more."""
        with suppress(OSError):
            self._stop.unlink()

    def stop_asked(self) -> bool:
        """Whether somebody has asked since the last session began; also once that has ended."""
        return self._stop.exists()

    def keep_end(self, code: Exit) -> None:
        """Note with what a session has ended that left the campaign paused."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._end, str(int(code)).encode())

    def forget_end(self) -> None:
        """Of a session that a kill ends nothing is noted."""
        with suppress(OSError):
            self._end.unlink()

    def end(self) -> Exit | None:
        """With what the last session has ended; None where that is not known."""
        try:
            return Exit(int(self._end.read_bytes()))
        except (OSError, ValueError):
            return None

    @property
    def _standing(self) -> Path:
        return self.folder / "standing.json"

    @property
    def _stop(self) -> Path:
        return self.folder / "stop"

    @property
    def _end(self) -> Path:
        return self.folder / "end"
