# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches that a reply names by address: fetched from archives that the site names, and from
nowhere else.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Sequence

import requests

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.process import http_body
from rtbisect.process.command import printable

#: Bytes of an mbox.
MOST_BYTES = 8 * 1024 * 1024

#: Seconds between two parts of an answer, and for all of it.
SILENCE_S = 30.0
DEADLINE_S = 300.0

#: Answers from here on are the server's own trouble.
_BROKEN = 500


def is_address(text: str) -> bool:
    return text.startswith(("https://", "http://"))


def fetch(address: str, archives: Sequence[str]) -> bytes:
    """The mbox at an address below one of `archives` (each ends with a slash); redirects are not
    followed. ConfigError where it is elsewhere or is not there, InfrastructureError where nobody
    answers.
    """
    below = any(address.startswith(each) for each in archives)
    # The library would turn %2e into a dot, and follow it upwards.
    odd = ".." in address.split("/") or re.search(r"%2e|%2f|%5c|\\|\s", address, re.IGNORECASE)
    if not below or odd or not address.isprintable():
        raise ConfigError(
            f"{printable(address, 120)} is in no archive of this site",
            "name it in mail: commands: archives:, or send the patch itself",
        )
    body = http_body.WholeBody(MOST_BYTES)
    try:
        status = http_body.ask(
            http_body.session(), "GET", address, body, deadline_s=DEADLINE_S, silence_s=SILENCE_S
        )
    except requests.RequestException as error:
        raise InfrastructureError(
            f"{printable(address, 120)}: {type(error).__name__}", "try again later"
        ) from error
    except http_body.TooLargeError as error:
        raise _too_large() from error
    if status == requests.codes.too_many or status >= _BROKEN:
        raise InfrastructureError(f"{printable(address, 120)} answers {status}", "try again later")
    if status != requests.codes.ok:
        raise ConfigError(
            f"{printable(address, 120)} answers {status}",
            "give the address of an mbox, not of a page",
        )
    return _unpacked(body.data())


def _unpacked(body: bytes) -> bytes:
    """What is there, unpacked: archives have whole series as packed mboxes, which may have several
    members. One that is cut off is no mbox: its patches would be applied in part.
    """
    if not body.startswith(b"\x1f\x8b"):
        return body
    try:
        unpacked = gzip.GzipFile(fileobj=io.BytesIO(body)).read(MOST_BYTES + 1)
    except EOFError as error:
        raise InfrastructureError("the packed mbox is cut off", "try again later") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ConfigError("the packed mbox is torn", "send the patch itself") from error
    if len(unpacked) > MOST_BYTES:
        raise _too_large()
    return unpacked


def _too_large() -> ConfigError:
    return ConfigError(f"the mbox has more than {MOST_BYTES} bytes", "send the patch itself")
