# SPDX-License-Identifier: GPL-2.0-or-later
"""Where nothing can be measured `run` ends as in a broken environment, and says at which ends."""

import json

from helpers.run_command import checker, git, history, rtbisect
from rtbisect.model.kinds.answer import Broken


def test_a_command_that_hangs_everywhere(tmp_path, repo):
    good, bad, _ = history(repo, 5, count=4)
    checker(tmp_path, "sleep 60")
    words = ["run", "--good", good, "--bad", bad, "--timeout", "0.1", "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    told = json.loads(done.stdout)
    assert (done.returncode, told["outcome"]) == (3, "inconclusive"), done.stderr
    assert told["broken"]["kind"] == Broken.LATE
    assert told["broken"]["data"]["limit_s"] == 0.1
    assert good in told["broken"]["data"]["ends"]


def test_a_program_that_the_revisions_do_not_have(tmp_path, repo):
    """It came after them, so that the words of the command line are right today."""
    good, bad, _ = history(repo, 5, count=4)
    (repo / "late.sh").write_text("#!/bin/sh\necho 1\n")
    (repo / "late.sh").chmod(0o755)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "a benchmark")
    words = ["run", "--good", good, "--bad", bad, "--json", "--summary", tmp_path / "told.md"]
    done = rtbisect(tmp_path / "state", *words, "--", "./late.sh", cwd=repo)
    told = json.loads(done.stdout)
    assert (done.returncode, told["broken"]["kind"]) == (3, Broken.NOT_THERE), done.stderr
    assert good[:12] in (tmp_path / "told.md").read_text()
