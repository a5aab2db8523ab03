# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of a measurement that did not reach its end: the same command goes on with them."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from rtbisect.model.lab import Run
from rtbisect.model.setup import Setup
from rtbisect.store import codec
from rtbisect.store.db import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: A round and a layout, both from 0.
Turn: TypeAlias = tuple[int, int]

#: A host is hardly the same after a day: its boots are made again.
KEPT_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class KeptBoots:
    """A file with a boot a line. A line that a loss of power cut off counts as none."""

    place: Path
    runs: dict[Turn, Run] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, setup: Setup, *names: object) -> KeptBoots:
        """Those of the same set-up and `names` (strings or numbers: host, kernel, seed). What is
        too old in the folder is removed. OSError where the disk refuses.
        """
        make_folder(folder)
        for old in folder.glob("*.jsonl"):
            with suppress(FileNotFoundError):
                if time.time() - old.stat().st_mtime > KEPT_S:
                    old.unlink()
        key = json.dumps([codec.to_plain(Setup, setup), *names], sort_keys=True)
        kept = cls(folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsonl")
        kept._read()
        return kept

    def _read(self) -> None:
        if not self.place.exists():
            return
        for line in self.place.read_text("utf-8", "replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                row = json.loads(line)
                run = codec.from_plain(Run, row["run"])
                self.runs[int(row["round"]), int(row["layout"])] = run

    def of_turns(self, turns: Iterable[Turn]) -> list[tuple[Turn, Run]]:
        """Those of the rounds and layouts asked for, in their order."""
        return [(turn, self.runs[turn]) for turn in turns if turn in self.runs]

    def add(self, turn: Turn, run: Run) -> None:
        """Keep a boot that counts, before the next one begins. OSError where the disk refuses."""
        row = {"round": turn[0], "layout": turn[1], "run": codec.to_plain(Run, run)}
        with self.place.open("a", encoding="utf-8") as stream:
            # A line that was cut off before must not swallow this one.
            stream.write(f"\n{json.dumps(row)}\n")
            stream.flush()
            os.fsync(stream.fileno())
        self.runs[turn] = run

    def forget(self) -> None:
        """The measurement has reached its end: who asks again wants other boots."""
        self.place.unlink(missing_ok=True)
