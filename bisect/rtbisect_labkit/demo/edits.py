# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of changes that demo histories are made of, read from `edits/` and `patches/`.

A change finds an exact text and puts another in its place. Anchors do not overlap, so
that changes of one file commute: a merge needs no merge machinery.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import yaml
from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from rtbisect.errors import ConfigError, InternalError

FOLDER = Path(__file__).parent

#: Kernel source that all anchors were written for and tested with.
TESTED = "Debian's linux-source-6.12, 6.12.117"


@dataclass(frozen=True, slots=True)
class Replacement:
    """A text of a file and what it becomes."""

    #: Stands in the file once; "" for its end.
    find: str
    put: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One commit's worth of change in one file."""

    #: epoll, rcu, built (compiled into every x86 kernel), docs, drivers (not compiled), or broken,
    #: mended, culprit, start.
    area: str
    #: Relative to the source.
    file: str
    subject: str
    body: str
    changes: tuple[Replacement, ...]
    #: The kind of history whose culprit this harmless change resembles: it is not drawn there, as
    #: their texts overlap. "" for none.
    twin_of: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A change that breaks the build or the boot, and the one that mends it."""

    breaks: Edit
    mends: Edit


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that a plan draws from."""

    harmless: tuple[Edit, ...]
    #: Edits that break the build, and those that break the boot.
    build_pairs: tuple[Pair, ...]
    boot_pairs: tuple[Pair, ...]
    #: Culprits, keyed by the names that cases plant (cases.py).
    culprits: Mapping[str, Edit]
    #: Carried by every good revision.
    start: Edit

    def area(self, *names: str) -> tuple[Edit, ...]:
        return tuple(edit for edit in self.harmless if edit.area in names)


def apply(text: bytes, edits: Iterable[Edit], version: str = "") -> bytes:
    """`text` with all edits made in order. ConfigError when an anchor does not fit; it
    names the tested version and the `found` one.
    """
    for edit in edits:
        for change in edit.changes:
            find, put = change.find.encode(), change.put.encode()
            if not find:
                text += put
                continue
            if text.count(find) != 1:
                raise ConfigError(
                    f"{edit.file} of {version or 'this source'} does not take the change"
                    f" {edit.subject!r}: {find.decode().strip()[:60]!r} occurs"
                    f" {text.count(find)} times",
                    f"use {TESTED}, which the demo is made for",
                )
            text = text.replace(find, put)
    return text


@cache
def load_catalogue(folder: Path = FOLDER) -> Catalogue:
    """The catalogue of this program (or of `folder`, which has the same layout)."""
    names = ("epoll", "rcu", "built", "failures", "culprits", "families")
    data = {name: _read(folder / "edits" / f"{name}.yaml") for name in names}
    harmless = [
        _edit(row, data[name]["area"])
        for name in ("epoll", "rcu", "built")
        for row in data[name]["edits"]
    ]
    for family in data["families"]["families"]:
        harmless += _family(family)
    culprits = {kind: _culprit(row, folder) for kind, row in data["culprits"].items()}
    epoll = culprits["epoll-spinlock"]
    backwards = tuple(Replacement(change.put, change.find) for change in epoll.changes)
    start = Edit(
        area="start", file=epoll.file, subject="Start of the history", body="", changes=backwards
    )
    return Catalogue(
        tuple(harmless),
        tuple(_pair(row) for row in data["failures"]["build"]),
        tuple(_pair(row) for row in data["failures"]["boot"]),
        culprits,
        start,
    )


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def _change(row: Mapping[str, str]) -> Replacement:
    if "after" in row:
        return Replacement(row["after"], row["after"] + row["add"])
    if "before" in row:
        return Replacement(row["before"], row["add"] + row["before"])
    return Replacement(row["find"], row["put"])


def _edit(row: Mapping[str, Any], area: str, file: str = "") -> Edit:
    return Edit(
        area=area,
        file=file or row["file"],
        subject=row["subject"],
        body=row["body"],
        changes=tuple(_change(change) for change in row["changes"]),
        twin_of=row.get("twin_of", ""),
    )


def _pair(row: Mapping[str, Any]) -> Pair:
    file = row["file"]
    return Pair(_edit(row["break"], "broken", file), _edit(row["fix"], "mended", file))


def _family(family: Mapping[str, Any]) -> list[Edit]:
    """One edit a rule and file; the wordings of a rule take turns."""
    edits = []
    for rule in family["rules"]:
        for file, wording in zip(family["files"], cycle(rule["wordings"]), strict=False):
            words = {key: text.replace("{stem}", Path(file).stem) for key, text in wording.items()}
            edits.append(_edit(words | {"changes": [rule | words]}, family["area"], file))
    return edits


def read_patch(text: str, name: str) -> tuple[str, tuple[Replacement, ...]]:
    """File and changes of a unified diff, one a hunk, context included. InternalError when it is
    none, or changes another number of files than one.
    """
    try:
        (file,) = PatchSet(text)
    except (UnidiffParseError, ValueError) as error:
        raise InternalError(f"{name} is no patch of exactly one file: {error}") from error
    return file.path, tuple(
        Replacement(
            "".join(line.value for line in hunk.source_lines()),
            "".join(line.value for line in hunk.target_lines()),
        )
        for hunk in file
    )


def _culprit(row: Mapping[str, Any], folder: Path) -> Edit:
    text = (folder / "patches" / row["patch"]).read_text("utf-8")
    file, changes = read_patch(text, row["patch"])
    if row["reverse"]:
        changes = tuple(Replacement(change.put, change.find) for change in changes)
    if not changes:
        raise InternalError(f"{row['patch']} changes nothing")
    return Edit(
        area="culprit", file=file, subject=row["subject"], body=row["body"], changes=changes
    )
