# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` where every commit makes the command a little slower."""

import json
import sys

from helpers.run_command import git, rtbisect

#: A run draws its noise from revision and number: the same for everybody.
RISING = """
import os, pathlib, random
revision = os.environ["RTBISECT_REVISION"]
count = pathlib.Path(COUNTS) / revision
number = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (number + 1))
level = float(pathlib.Path("level").read_text())
print("p50_us=%.3f" % (10 + level + random.Random(f"{revision}/{number}").gauss(0, 1)))
"""


def test_a_change_in_every_commit_is_an_answer_without_a_culprit(tmp_path, repo):
    git(repo.parent, "init", "-q", "-b", "main", str(repo))
    shas = []
    for number in range(33):
        (repo / "level").write_text(f"{number * 6 / 32}\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"change {number}")
        shas.append(git(repo, "rev-parse", "HEAD"))
    counts = tmp_path / "counts"
    counts.mkdir()
    script = tmp_path / "rising.py"
    script.write_text(RISING.replace("COUNTS", repr(str(counts))))
    words = ["run", "--good", shas[0], "--bad", shas[-1], "--json", "--", sys.executable, script]
    done = rtbisect(tmp_path / "state", *map(str, words), cwd=repo)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"], answer["commits"]) == ("gradual", None, [])
    assert answer["confidence"] >= 0.95
    parts = answer["stretches"]
    assert [parts[0]["older"], *(part["newer"] for part in parts)] == [
        shas[0], *(shas[place] for place in (8, 16, 24)), shas[-1],
    ]  # fmt: skip
    assert all(0 <= part["low"] <= part["share"] <= part["high"] <= 0.6 for part in parts)
    assert answer["reasons_found"][0]["kind"] == "ending.gradual"
