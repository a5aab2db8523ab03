# SPDX-License-Identifier: GPL-2.0-or-later
"""The first lines of docs/run.md, as they are printed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/run.md"
#: Stands for od in bench.sh: noise of 0 to 7, so that luck decides nothing here.
OD = """#!/bin/sh
n=$(($(cat "$COUNTER") + 1))
echo $n >"$COUNTER"
echo $((n * 5 % 8))
"""


def test_lines_of_the_page_find_the_commit(tmp_path):
    first = PAGE.read_text().partition("\n## A build")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", first, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    counter, shims = tmp_path / "counter", tmp_path / "bin"
    counter.write_text("0")
    shims.mkdir()
    (shims / "od").write_text(OD)
    (shims / "od").chmod(0o755)
    program = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{shims}:{program}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "RTBISECT_STATE": str(tmp_path / "state"),
        "COUNTER": str(counter),
    }
    subprocess.run(
        ["bash", "-ec", "".join(blocks)], cwd=tmp_path, env=environment, check=True,
        capture_output=True,
    )  # fmt: skip
    asked = subprocess.run(
        [program / "rtbisect", "status", "--json"],
        cwd=tmp_path, env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    answers = json.loads(asked.stdout)["campaigns"]
    assert [each["outcome"] for each in answers] == ["culprit", "culprit"]
    (repo,) = tmp_path.glob("noisy")
    named = {
        subprocess.run(
            ["git", "-C", repo, "log", "-1", "--format=%s", each["culprit"]],
            check=True, capture_output=True, text=True,
        ).stdout.strip()
        for each in answers
    }  # fmt: skip
    assert named == {"change 24"}
