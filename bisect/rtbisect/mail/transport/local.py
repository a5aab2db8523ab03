# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways of sending that end on this machine: files, an mbox, a sendmail command."""

from __future__ import annotations

import mailbox
import re
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.mail.transport.transport import Delivered, Doubt, Ended, Later
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Delivery
from rtbisect.process import command
from rtbisect.process.command import printable
from rtbisect.store.artefacts import sync, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rtbisect.model.mail import OutMail

_SENDMAIL_S = 120.0
_OLD_LOCK_S = 300.0


@dataclass(frozen=True, slots=True)
class FileTransport:
    """A file `<Message-ID>.eml` for each mail; who sends them is somebody else."""

    folder: Path

    def send(self, mail: OutMail, before_end: Callable[[], None]) -> Ended:
        """Write by rename: a mail that is there is there whole, and once however often it is
        written. Who sends it may take it away at once, so from the rename on it may be on its way.
        """
        name = re.sub(r"[^A-Za-z0-9.@_-]", "_", mail.message_id.strip("<>"))
        path = self.folder / f"{name}.eml"
        step = _LastStep(before_end)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, mail.text.encode("ascii"), before_rename=step.begin)
        except OSError as error:
            return step.failed(self.folder, error)
        return Delivered(Finding.of(Delivery.WRITTEN, path=str(path)))


@dataclass(frozen=True, slots=True)
class MboxTransport:
    """An mbox that mails are appended to, each once by its Message-ID."""

    path: Path

    def send(self, mail: OutMail, before_end: Callable[[], None]) -> Ended:
        step = _LastStep(before_end)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _break_old_lock(self.path)
            box = mailbox.mbox(self.path)
            try:
                box.lock()
                there = any(each["Message-ID"] == mail.message_id for each in box)
                if not there:
                    step.begin()
                    box.add(mail.text.encode("ascii"))
                    box.flush()
                    sync(self.path)
            finally:
                box.close()
        except (OSError, mailbox.Error) as error:
            return step.failed(self.path, error)
        kind = Delivery.WAS_THERE if there else Delivery.WRITTEN
        return Delivered(Finding.of(kind, path=str(self.path)))


@dataclass(slots=True)
class _LastStep:
    """The step that hands a mail over, and whether a try has come so far."""

    before_end: Callable[[], None]
    begun: bool = False

    def begin(self) -> None:
        self.before_end()
        self.begun = True

    def failed(self, path: Path, error: Exception) -> Later | Doubt:
        """How a try ended that the disk did not let come to its end."""
        why = error.strerror if isinstance(error, OSError) else None
        answer = Finding.of(Delivery.NOT_WRITTEN, path=str(path), error=why or str(error))
        return Doubt(answer) if self.begun else Later(answer)


def _break_old_lock(path: Path) -> None:
    """Take away a lock that a session which was killed has left; a mail is written in no time."""
    lock = path.with_name(f"{path.name}.lock")
    with suppress(OSError):
        if time.time() - lock.stat().st_mtime > _OLD_LOCK_S:
            lock.unlink()


@dataclass(frozen=True, slots=True)
class SendmailTransport:
    """The sendmail command of a mail server on this machine."""

    #: Its path, or its name where PATH has it.
    program: str
    #: Folder in which the command is started.
    folder: Path

    def send(self, mail: OutMail, before_end: Callable[[], None]) -> Ended:
        if shutil.which(self.program) is None:
            raise ConfigError(f"{self.program} is no program", "correct mail: send: sendmail:")
        # From its start on the program may have taken the mail.
        before_end()
        argv = [self.program, "-i", "-f", mail.sender, "--", *mail.recipients]
        try:
            done = command.run(
                argv, cwd=self.folder, timeout_s=_SENDMAIL_S, stdin=mail.text.encode("ascii")
            )
        except ConfigError as error:
            # The interpreter of the program is not there: nothing of it has run.
            return Later(Finding.of(Delivery.PROGRAM_FAILED, error=error.message))
        except InfrastructureError as error:
            return Doubt(Finding.of(Delivery.PROGRAM_FAILED, error=error.message))
        if done.ok:
            return Delivered(Finding.of(Delivery.HANDED_OVER, program=self.program))
        last = printable((done.stderr.strip().split("\n") or [""])[-1], 200)
        # Whatever else it says may stand behind a mail that is queued: "temporary failure" (75) is
        # what sendmail says of one that it tries again by itself, and a recipient of several that
        # is not known (67) stops nothing for the others.
        code = done.returncode
        return Doubt(Finding.of(Delivery.PROGRAM_ENDED, program=self.program, code=code, said=last))
