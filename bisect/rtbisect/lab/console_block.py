# SPDX-License-Identifier: GPL-2.0-or-later
"""The block of raw files that a boot prints after its last window.

    RTBISECT-BLOCK-BEGIN v1 sha256=<of the gzip bytes> bytes=<their number>
    base64 of a gzipped tar of <window>/<file>
    RTBISECT-BLOCK-END v1

A console is shared with the kernel: a message in the middle of a line spoils the block.
Then it is refused with a reason; a block that is taken is right to the last byte.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import re
import tarfile
import zlib
from collections.abc import Sequence

from rtbisect.process.command import printable

BEGIN = "RTBISECT-BLOCK-BEGIN"
END = "RTBISECT-BLOCK-END v1"
DONE = "RTBISECT-DONE"

#: The block of a boot has 10 to 40 KB; a serial console carries 256 KB at most.
LARGEST_BLOCK = 256 * 1024
LARGEST_TAR = 16 * 1024 * 1024
LARGEST_FILE = 4 * 1024 * 1024
MOST_FILES = 256

#: base64 -w 76 puts 57 bytes on a line.
_MOST_LINES = LARGEST_BLOCK // 57 + 1

_SAYS_ID = "rtbisect: build id "
_BUILD_ID = re.compile(rf"{_SAYS_ID}([0-9a-f]{{40}})")

_HEAD = re.compile(rf"{BEGIN} v1 sha256=([0-9a-f]{{64}}) bytes=([0-9]{{1,9}})")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{1,76}={0,2}")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,2}")


class BlockError(Exception):
    """The block is not there or not whole; it says why. The boot is invalid."""


def build_id(lines: Sequence[str]) -> str:
    """The GNU build id of the kernel that runs, as the device says before its first window (lava-
    jobs/suites/preflight.sh); "" where it does not.
    """
    matches = (_BUILD_ID.fullmatch(line) for line in lines if line.startswith(_SAYS_ID))
    return next((match[1] for match in matches if match), "")


def files_of(lines: Sequence[str]) -> dict[str, bytes]:
    """Files of the one block on a console by "<window>/<file>"; BlockError otherwise."""
    # The hash proves that the device sent these bytes, not that they are harmless.
    inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        content = inflate.decompress(_block(lines), LARGEST_TAR)
    except zlib.error as error:
        raise BlockError(f"the block is no gzip: {error}") from None
    if inflate.unconsumed_tail or not inflate.eof:
        raise BlockError(f"the block is cut off or unpacks to over {LARGEST_TAR} bytes")
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                _take(archive, member, files)
    except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
        raise BlockError(f"the block is no tar archive: {error}") from None
    return files


def _block(lines: Sequence[str]) -> bytes:
    begins = [place for place, line in enumerate(lines) if line.startswith(BEGIN)]
    if not begins:
        raise BlockError("the console has no block of results")
    if len(begins) > 1:
        raise BlockError(f"the console has {len(begins)} blocks of results, not one")
    head = _HEAD.fullmatch(lines[begins[0]])
    if head is None:
        raise BlockError(f"the first line of the block is damaged: {printable(lines[begins[0]])}")
    size = int(head[2])
    if size > LARGEST_BLOCK:
        raise BlockError(f"the block has {size} bytes, more than {LARGEST_BLOCK}")
    try:
        data = base64.b64decode(_encoded(lines[begins[0] + 1 :]), validate=True)
    except binascii.Error as error:
        raise BlockError(f"the block is no base64: {error}") from None
    if len(data) != size:
        raise BlockError(f"the block has {len(data)} bytes, not {size}")
    if hashlib.sha256(data).hexdigest() != head[1]:
        raise BlockError("the block does not have the sha256 that it says")
    return data


def _encoded(lines: Sequence[str]) -> str:
    """The base64 text up to the end mark, out of nothing but base64 lines."""
    parts: list[str] = []
    for line in lines[: _MOST_LINES + 1]:
        if line == END:
            return "".join(parts)
        if not _BASE64.fullmatch(line):
            raise BlockError(f"foreign text in the block: {printable(line, 100)}")
        parts.append(line)
    raise BlockError("the block has no end")


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, files: dict[str, bytes]) -> None:
    name = member.name.removeprefix("./")
    if member.isdir() and (name == "." or _NAME.fullmatch(name)):
        return
    if not member.isreg():
        raise BlockError(f"the block has {printable(name, 80)!r}, which is no regular file")
    if not _NAME.fullmatch(name):
        raise BlockError(f"the block has a file named {printable(name, 80)!r}")
    if name in files:
        raise BlockError(f"the block has {name} twice")
    if len(files) >= MOST_FILES or member.size > LARGEST_FILE:
        raise BlockError(f"the block has too many files, or {name} is too large")
    stream = archive.extractfile(member)
    assert stream is not None  # a regular file
    files[name] = stream.read()
