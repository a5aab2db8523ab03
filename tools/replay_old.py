# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished campaigns of an older program, gone through again by the one beside this tool.

    .venv/bin/python tools/replay_old.py STATE [STATE ...]

A copy of each state directory is told that its campaign has not ended and drafted nothing. `resume`
then finds every build and every boot in the journal and comes to its answer anew. Exit code 0: the
same answer by the same steps, to the last digit and the last word that is shown of it. What differs
of it, of its story and of the lines of the mail is printed.
"""

from __future__ import annotations

import argparse
import difflib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbisect.model.campaign import CampaignRequest
from rtbisect.model.result import Result
from rtbisect.store import codec
from rtbisect.store.journal import kept_line
from rtbisect.words.documents import FOUND, spoken
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from rtbisect.words.voice import Voice

#: Of a mail that is written again these differ always.
_OF_THE_HOUR = ("Date", "Mess")


@dataclass(frozen=True)
class Told:
    """What a store knows of its newest campaign."""

    campaign: str
    #: None where it has not ended.
    result: Result | None
    steps: list[str]
    #: Lines of the mail; none where nothing was drafted.
    mail: list[str]
    #: What was told, a line each.
    story: list[str]
    #: How it is told.
    voice: Voice

    def count(self, kind: str) -> int:
        return sum(key.partition("/")[0] == kind for key in self.steps)


def told(state: Path) -> Told:
    with closing(sqlite3.connect(state / "rtbisect.sqlite3")) as store:
        name, result, asked = store.execute(
            "SELECT id, result, request FROM campaign ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        keys = store.execute("SELECT key FROM step WHERE campaign = ? ORDER BY seq", (name,))
        steps = [key for (key,) in keys]
        told_lines = store.execute("SELECT line FROM story WHERE campaign = ? ORDER BY n", (name,))
        lines_told = [kept_line(line) for (line,) in told_lines]
    mail = state / "reports" / name / "report.eml"
    lines = mail.read_text().splitlines() if mail.is_file() else []
    voice = voice_of_request(codec.from_json(CampaignRequest, asked))
    answer = codec.from_json(Result, result) if result else None
    # A figure without a unit was once told with a blank behind it.
    story = [str(speak(each, voice)).rstrip() for each in lines_told]
    return Told(name, answer, steps, lines, story, voice)


def reopened(state: Path, copy: Path, campaign: str) -> None:
    """A copy in which the campaign has come as far as its last boot. Its large files are links:
    nothing writes into them, but git may add to its logs.
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
        store.execute("DELETE FROM story WHERE campaign = ?", where)


def without_findings(value: Any) -> Any:
    """A document without the findings that stand beside their sentences."""
    if isinstance(value, dict):
        members = value.items()
        return {name: without_findings(each) for name, each in members if not name.endswith(FOUND)}
    return [without_findings(each) for each in value] if isinstance(value, list) else value


def replay(state: Path) -> list[str]:
    """Lines on what came out; the first begins with "same" where the answer and its steps are."""
    program = Path(sys.executable).with_name("rtbisect")
    before = told(state)
    if before.result is None:
        return [f"failed {state}: {before.campaign} has not ended"]
    # Beside it, because links end at a file system.
    with tempfile.TemporaryDirectory(dir=state.parent) as folder:
        copy = Path(folder) / "state"
        reopened(state, copy, before.campaign)
        words = [str(program), "--state", str(copy), "resume", before.campaign, "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        after = told(copy)
    if after.result is None:
        return [f"failed {state}: {done.stdout.strip()[-300:]} {done.stderr.strip()[-300:]}"]
    one, two = before.result, after.result
    # Older programs kept words, later ones what these say: what is shown is the same.
    shown = [without_findings(spoken(each, after.voice)) for each in (one, two)]
    others = [
        f"  {name}: {shown[0][name]} -> {shown[1][name]}"
        for name in shown[0]
        if shown[0][name] != shown[1][name]
    ]
    if before.steps != after.steps:
        others.append(f"  steps: {sorted({*before.steps} ^ {*after.steps})}")
    word = "differs" if others else "same"
    said = f"{word} {state}: {two.outcome} {two.culprit or ''}"
    said += f", {after.count('build')} builds, {after.count('run')} boots"
    story = [f"  {line}" for line in changed(before.story, after.story)]
    mail = [line for line in changed(before.mail, after.mail) if line[1:5] not in _OF_THE_HOUR]
    return [said, *others, *story, *(f"  {line}" for line in mail)]


def changed(before: list[str], after: list[str]) -> list[str]:
    lines = difflib.unified_diff(before, after, lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("state", type=Path, nargs="+")
    found = [replay(state.absolute()) for state in parser.parse_args().state]
    for lines in found:
        print("\n".join(lines))
    return 0 if all(lines[0].startswith("same") for lines in found) else 1


if __name__ == "__main__":
    sys.exit(main())
