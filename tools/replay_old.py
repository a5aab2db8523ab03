# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished campaigns of an older program, gone through again by the one beside this tool.

    .venv/bin/python tools/replay_old.py STATE [STATE ...]

A copy of each state directory is told that its campaign has not ended and drafted nothing. `resume`
then finds every build and every boot in the journal and comes to its answer anew. Exit code 0: the
same commit by the same steps, with the same builds and boots. What else differs, to the last digit
of the confidence and the lines of the mail, is printed.
"""

from __future__ import annotations

import argparse
import difflib
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Of a mail that is written again these differ always.
_OF_THE_HOUR = ("Date:", "Message-ID:")


@dataclass(frozen=True)
class Told:
    """What a store knows of its newest campaign."""

    campaign: str
    result: dict[str, Any]
    steps: list[str]
    #: Lines of the mail; none where nothing was drafted.
    mail: list[str]

    @property
    def answer(self) -> tuple[object, ...]:
        kinds = [key.partition("/")[0] for key in self.steps]
        return (
            self.result["outcome"],
            self.result["culprit"],
            kinds.count("build"),
            kinds.count("run"),
        )


def told(state: Path) -> Told:
    with closing(sqlite3.connect(state / "rtbisect.sqlite3")) as store:
        name, result = store.execute(
            "SELECT id, result FROM campaign ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        keys = store.execute("SELECT key FROM step WHERE campaign = ? ORDER BY seq", (name,))
        steps = [key for (key,) in keys]
    mail = state / "reports" / name / "report.eml"
    lines = mail.read_text().splitlines() if mail.is_file() else []
    return Told(name, json.loads(result or "{}"), steps, lines)


def reopened(state: Path, copy: Path, campaign: str) -> None:
    """A copy in which the campaign has come as far as its last boot; files that no program changes
    in place are links.
    """
    subprocess.run(["cp", "-al", "--", str(state), str(copy)], check=True)
    shutil.rmtree(copy / "reports", ignore_errors=True)
    (copy / "campaign.lock").unlink(missing_ok=True)
    for name in (path.name for path in copy.glob("rtbisect.sqlite3*")):
        (copy / name).unlink()
        shutil.copy(state / name, copy / name)
    with closing(sqlite3.connect(copy / "rtbisect.sqlite3")) as store, store:
        where = (campaign,)
        store.execute("UPDATE campaign SET state = 'running', result = NULL WHERE id = ?", where)
        store.execute("DELETE FROM step WHERE key = 'report' AND campaign = ?", where)


def replay(state: Path) -> list[str]:
    """Lines on what came out; the first begins with "same" where nothing differs that counts."""
    program = Path(sys.executable).with_name("rtbisect")
    before = told(state)
    # Beside it, because links end at a file system.
    with tempfile.TemporaryDirectory(dir=state.parent) as folder:
        copy = Path(folder) / "state"
        reopened(state, copy, before.campaign)
        words = [str(program), "--state", str(copy), "resume", before.campaign, "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        after = told(copy)
    if not after.result:
        return [f"failed {state}: {done.stdout.strip()[-300:]} {done.stderr.strip()[-300:]}"]
    same = before.answer == after.answer and before.steps == after.steps
    outcome, culprit, builds, boots = after.answer
    word = "same" if same else "differs"
    lines = [f"{word} {state}: {outcome} {culprit or ''}, {builds} builds, {boots} boots"]
    if before.answer != after.answer:
        lines.append(f"  was {before.answer}")
    if (was := before.result["confidence"]) != (now := after.result["confidence"]):
        lines.append(f"  confidence {was} -> {now}")
    changes = difflib.unified_diff(before.mail, after.mail, lineterm="", n=0)
    kept = [line for line in changes if not line.startswith(("---", "+++", "@@"))]
    return [*lines, *(f"  {line}" for line in kept if not line[1:].startswith(_OF_THE_HOUR))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("state", type=Path, nargs="+")
    found = [replay(state.absolute()) for state in parser.parse_args().state]
    for lines in found:
        print("\n".join(lines))
    return 0 if all(lines[0].startswith("same") for lines in found) else 1


if __name__ == "__main__":
    sys.exit(main())
