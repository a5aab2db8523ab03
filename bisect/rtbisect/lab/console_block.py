# SPDX-License-Identifier: GPL-2.0-or-later
"""The block of raw files that a boot prints after its last window.

    RTBISECT-BLOCK-BEGIN v1 sha256=<of the gzip bytes> bytes=<their number>
    base64 of a gzipped tar of <window>/<file>
    RTBISECT-BLOCK-END v1

A console is shared with the kernel: a message in the middle of a line spoils the block.
Then it is refused with what was found; a block that is taken is right to the last byte.
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

from rtbisect.model.finding import Finding, Value
from rtbisect.model.kinds.boot import Blocks
from rtbisect.process.command import cut

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
    """The block is not there or not whole: `found` says why. The boot is invalid."""

    def __init__(self, kind: Blocks, **data: Value) -> None:
        self.found = Finding.of(kind, **data)
        super().__init__(self.found)


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
        raise BlockError(Blocks.NO_GZIP, error=str(error)) from None
    if inflate.unconsumed_tail or not inflate.eof:
        raise BlockError(Blocks.UNPACKS_LARGE, most_bytes=LARGEST_TAR)
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                _take(archive, member, files)
    # Each long name that another one follows is read one level deeper.
    except (tarfile.TarError, ValueError, OverflowError, EOFError, RecursionError) as error:
        raise BlockError(Blocks.NO_TAR, error=str(error)) from None
    return files


def _block(lines: Sequence[str]) -> bytes:
    begins = [place for place, line in enumerate(lines) if line.startswith(BEGIN)]
    if not begins:
        raise BlockError(Blocks.NONE)
    if len(begins) > 1:
        raise BlockError(Blocks.SEVERAL, blocks=len(begins))
    head = _HEAD.fullmatch(lines[begins[0]])
    if head is None:
        raise BlockError(Blocks.FIRST_LINE, line=cut(lines[begins[0]]))
    size = int(head[2])
    if size > LARGEST_BLOCK:
        raise BlockError(Blocks.LARGE, has_bytes=size, most_bytes=LARGEST_BLOCK)
    try:
        data = base64.b64decode(_encoded(lines[begins[0] + 1 :]), validate=True)
    except binascii.Error as error:
        raise BlockError(Blocks.NO_BASE64, error=str(error)) from None
    if len(data) != size:
        raise BlockError(Blocks.SHORT, has_bytes=len(data), said_bytes=size)
    if hashlib.sha256(data).hexdigest() != head[1]:
        raise BlockError(Blocks.SHA256)
    return data


def _encoded(lines: Sequence[str]) -> str:
    """The base64 text up to the end mark, out of nothing but base64 lines."""
    parts: list[str] = []
    for line in lines[: _MOST_LINES + 1]:
        if line == END:
            return "".join(parts)
        if not _BASE64.fullmatch(line):
            raise BlockError(Blocks.FOREIGN_TEXT, line=cut(line, 100))
        parts.append(line)
    raise BlockError(Blocks.NO_END)


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, files: dict[str, bytes]) -> None:
    name = member.name.removeprefix("./")
    if member.isdir() and (name == "." or _NAME.fullmatch(name)):
        return
    # A sparse file of a few bytes may unpack to any size.
    if not member.isreg() or member.issparse():
        raise BlockError(Blocks.NO_FILE, name=cut(name, 80))
    if not _NAME.fullmatch(name):
        raise BlockError(Blocks.FILE_NAME, name=cut(name, 80))
    if name in files:
        raise BlockError(Blocks.FILE_TWICE, name=name)
    if len(files) >= MOST_FILES or member.size > LARGEST_FILE:
        raise BlockError(Blocks.LARGE_FILE, name=name)
    stream = archive.extractfile(member)
    assert stream is not None  # a regular file
    files[name] = stream.read()
