# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches out of mails: what `git apply` is given, and what a commit of it is called."""

from __future__ import annotations

import mailbox
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from rtbisect.errors import ConfigError
from rtbisect.model.kinds.mail import Ignored
from rtbisect.process.command import printable
from rtbisect.trees import mime

#: Patches of one series, and bytes of one of them.
MOST = 60
MOST_BYTES = 2_000_000

#: Characters of a subject that are looked at; a subject may be as long as the mail.
MOST_SUBJECT = 500

_TEXTS = ("text/plain", "text/x-patch", "text/x-diff")

_NUMBER = re.compile(r"\[[^\]]{0,200}?\b([0-9]{1,4})/([0-9]{1,4})\b[^\]]*\]")


@dataclass(frozen=True, slots=True)
class Patch:
    """A change to a tree."""

    #: One line without its [PATCH] mark.
    title: str
    #: The diff as `git apply` takes it.
    diff: bytes


def patches_of(data: bytes) -> tuple[Patch, ...]:
    """The patches of an mbox, of a mail or of a plain diff, a numbered series in its order; ()
    where there is none. A cover letter has no diff and is none. ConfigError for what would be
    applied in part, and `mime.UnreadableError` for what cannot be read.
    """
    try:
        return _series(data)
    except (ConfigError, mime.UnreadableError):
        raise
    except Exception as error:
        # The parser of the library, on what anybody may send.
        raise mime.UnreadableError(Ignored.UNREADABLE, error=type(error).__name__) from error


def _series(data: bytes) -> tuple[Patch, ...]:
    patches, numbers = [], []
    for place, mail in enumerate(_mails(data)):
        diff = _diff(mail)
        if diff:
            subject = " ".join(str(mail.get("Subject", ""))[: 2 * MOST_SUBJECT].split())
            subject = subject[:MOST_SUBJECT]
            number = _NUMBER.search(subject)
            title = re.sub(r"^(Re:\s*)*(\[[^\]]*\]\s*)*", "", subject, flags=re.IGNORECASE)
            key = (int(number[1]) if number else 0, place)
            patches.append((key, Patch(printable(title, 200) or "a patch", diff)))
            if number:
                numbers.append((int(number[1]), int(number[2])))
    if numbers and sorted(numbers) != [(n, numbers[0][1]) for n in range(1, numbers[0][1] + 1)]:
        raise ConfigError(
            f"of a series of {numbers[0][1]} patches these are here: "
            + ", ".join(str(n) for n, _ in sorted(numbers)[:MOST]),
            "send all of one version, in one mbox",
        )
    if len(patches) > MOST:
        raise ConfigError(f"{len(patches)} patches are too many", f"send {MOST} at most")
    return tuple(patch for _, patch in sorted(patches, key=lambda keyed: keyed[0]))


def _mails(data: bytes) -> Iterator[Message]:
    if not data.startswith(b"From "):
        # A plain diff has no header: everything of it is text.
        plain = not re.match(rb"[A-Za-z-]{1,80}: ", data)
        yield mime.parse(b"\n" + data if plain else data)
        return
    with tempfile.TemporaryDirectory(prefix="rtbisect-mbox-") as folder:
        place = Path(folder) / "mbox"
        place.write_bytes(data)
        box = mailbox.mbox(place, create=False)
        try:
            for key in box.iterkeys():
                yield mime.parse(box.get_bytes(key))
        finally:
            box.close()


def _diff(mail: Message) -> bytes:
    """The part of the text from the first diff on."""
    for part in mail.walk():
        if part.is_multipart() or part.get_content_type() not in _TEXTS:
            continue
        payload = part.get_payload(decode=True)
        text = payload.replace(b"\r\n", b"\n") if isinstance(payload, bytes) else b""
        begin = re.search(rb"^(diff --git |--- [^\n]+\n\+\+\+ )", text, re.MULTILINE)
        if begin is None:
            continue
        if len(text) > MOST_BYTES:
            raise ConfigError("a patch is too large", f"send {MOST_BYTES} bytes at most")
        if re.search(rb"^GIT binary patch", text, re.MULTILINE):
            # Some bytes of it may become any number of them.
            raise ConfigError("a patch is binary", "send one of text")
        # What stands behind the last hunk is for git to leave out: it counts the lines.
        return text[begin.start() :]
    return b""
