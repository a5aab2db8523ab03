# SPDX-License-Identifier: GPL-2.0-or-later
"""A finished campaign as test data: what its mail is written from, in one file.

    .venv/bin/python tools/record_campaign.py STATE CAMPAIGN tests/data/campaigns/NAME.json.xz

The journal, the set-up and what tree and builds were asked, as `rtbisect report bundle` has them,
without kernels and without the recorded draft. The state directory, and each that `--was` names
because the campaign began there, is called /srv/rtbisect in it.
Tests write the mail of it again (`tests/helpers/recorded.py`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What stands for the state directory of the machine that recorded it.
PLACE = "/srv/rtbisect"


def recorded(state: Path, campaign: str, places: Sequence[Path]) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "bundle"
        program = Path(sys.executable).with_name("rtbisect")
        words = [str(program), "--state", str(state), "report", "bundle", campaign, str(folder)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

        def read(name: str) -> str:
            data = (folder / name).read_bytes()
            text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
            for place in (*places, state):
                text = text.replace(str(place), PLACE)
            return text

        steps = [json.loads(line) for line in read("journal.jsonl.gz").splitlines()]
        return {
            "manifest": json.loads(read("manifest.json")),
            "setup": json.loads(read("setup.json")),
            "answers": json.loads(read("answers.json.gz")),
            "journal": [step for step in steps if step["key"] != "report"],
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("state", type=Path)
    parser.add_argument("campaign")
    parser.add_argument("file", type=Path)
    parser.add_argument("--was", type=Path, action="append", default=[])
    given = parser.parse_args()
    whole = recorded(given.state.absolute(), given.campaign, given.was)
    document = json.dumps(whole, sort_keys=True)
    given.file.parent.mkdir(parents=True, exist_ok=True)
    given.file.write_bytes(lzma.compress(document.encode(), preset=9))
    return 0


if __name__ == "__main__":
    sys.exit(main())
