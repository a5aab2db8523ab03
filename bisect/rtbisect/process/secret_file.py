# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that hold one secret: a password or a token."""

from __future__ import annotations

import stat
from pathlib import Path

from rtbisect.errors import ConfigError

#: No secret is longer; a file that is longer is another one.
_MOST_BYTES = 4096


def read_secret(path: Path, what: str) -> str:
    """The one line of ASCII in a file that nobody but its owner can read, without its end.
    `what` names it for a person, as "password of the mail server". ConfigError for anything else.
    """
    check_secret(path, what)
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1).decode("ascii").strip("\r\n")
    except OSError as error:
        raise _unreadable(path, what, error) from error
    except UnicodeDecodeError:
        # The error of the library would repeat the secret.
        raise ConfigError(
            f"{path} has characters that are no ASCII", f"put the {what} into it"
        ) from None
    if not text or len(text) > _MOST_BYTES or not text.isprintable():
        raise ConfigError(f"{path} holds no {what}", "it is one line of text")
    return text


def check_secret(path: Path, what: str) -> None:
    """ConfigError unless a secret is there that others cannot read; for secrets that a program of
    somebody else reads from their file.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(path, what, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError(f"{path} is no file", f"name the file with the {what}")
    if status.st_mode & 0o077:
        raise ConfigError(
            f"{path}, the {what}, can be read or written by others", f"run `chmod 600 {path}`"
        )


def _unreadable(path: Path, what: str, error: OSError) -> ConfigError:
    return ConfigError(f"{path} cannot be read: {error.strerror}", f"put the {what} into it")
