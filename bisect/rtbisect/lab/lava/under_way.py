# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of this state directory on a LAVA server, so that none outlives its session unseen.

Each job has an empty file, named by its key, which the process that waits for it holds locked. A
file that nobody holds names a job whose process was killed or gave it up: who boots next ends it.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.errors import BusyError
from rtbisect.process import locks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rtbisect.model.ports import Note

#: Endings of the files: of a job that a journal knows as well, and of one that nobody else does.
_KEPT, _LOOSE = ".kept", ".loose"


@dataclass(frozen=True, slots=True)
class JobUnderWay:
    """A job on a server, and the file that stands for it here."""

    key: str
    path: Path

    def over(self) -> None:
        """Forget the job, which has ended: there is nothing left to see to."""
        self.path.unlink(missing_ok=True)


class UnderWay:
    """The jobs of one lab, as files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, key: str, *, kept: bool, wait_s: float) -> Iterator[JobUnderWay]:
        """Enter a job and hold its entry; who still ends it is waited for, for `wait_s` seconds."""
        path = self._folder / f"{key}{_KEPT if kept else _LOOSE}"
        with ExitStack() as stack:
            while True:
                stack.enter_context(locks.hold(path, wait_s=wait_s, what=f"the job {key}"))
                # Who ended it while we waited has removed the file that is locked now.
                if path.exists():
                    break
                stack.close()
            yield JobUnderWay(key, path)

    def left(self) -> Iterator[JobUnderWay]:
        """Entries that nobody holds; each is held while the caller looks at it."""
        for path in sorted(self._folder.glob("*")):
            if path.suffix not in (_KEPT, _LOOSE):
                continue
            with ExitStack() as stack:
                try:
                    stack.enter_context(locks.hold(path))
                except BusyError:
                    continue
                yield JobUnderWay(path.stem, path)


class BootNote:
    """The note of a boot. What a try noted is left for the next one in the same session, too."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self.left, self.lasts = note.left, note.lasts

    def __call__(self, external_id: str) -> None:
        self._note(external_id)
        self.left = external_id
