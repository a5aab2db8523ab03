# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` on a repository whose history has merges, with a command that is slow or fails."""

import os
import random
import subprocess

from helpers import program
from helpers.findings import words
from helpers.repositories import ENV
from rtbisect.model.campaign import Sought
from rtbisect.model.finding import Finding
from rtbisect.model.subject import Measured
from rtbisect.words.voice import voice_of

#: A run counts itself and draws its noise from revision and number: the same for everybody.
NOISY = """
import os, pathlib, random
revision = os.environ["RTBISECT_REVISION"]
count = pathlib.Path(COUNTS) / revision
number = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (number + 1))
rng = random.Random(f"{SEED}/{revision}/{number}")
slow = pathlib.Path("slow").exists()
print("p50_us=%.3f" % (10 + EFFECT * slow + rng.gauss(0, 1)))
"""


def git(repo, *words):
    done = subprocess.run(
        ["git", "-C", str(repo), *words], env=ENV, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def history(repo, seed, count=40):
    """A history with merges; one commit adds the file that makes the command slow."""
    rng = random.Random(seed)
    git(repo.parent, "init", "-q", "-b", "main", str(repo))
    number = 0

    def commit(name="", text=""):
        nonlocal number
        number += 1
        path = repo / (name or f"file{number % 7}")
        path.write_text(text or f"{number}\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"change {number}")
        return git(repo, "rev-parse", "HEAD")

    good = commit()
    culprit_at = rng.randint(2, count - 1)
    culprit = ""
    while number < count:
        if rng.random() < 0.2 and number + 3 < count:
            git(repo, "checkout", "-q", "-b", f"side{number}")
            name = f"side{number}"
            for _ in range(2):
                here = commit("slow" if number + 1 == culprit_at else f"{name}.txt")
                culprit = here if number == culprit_at else culprit
            git(repo, "checkout", "-q", "main")
            git(repo, "merge", "-q", "--no-ff", "-m", f"merge {name}", name)
        else:
            here = commit("slow" if number + 1 == culprit_at else "")
            culprit = here if number == culprit_at else culprit
    return good, git(repo, "rev-parse", "HEAD"), culprit


def rtbisect(state, *words, cwd):
    return program.run(["--state", state, *words], cwd=cwd, env=os.environ)


def noisy(tmp_path, seed, effect=3.0):
    """A command whose figure is `effect` standard deviations worse with the file `slow`."""
    counts = tmp_path / "counts"
    counts.mkdir(exist_ok=True)
    script = tmp_path / "noisy.py"
    text = NOISY.replace("SEED", repr(seed)).replace("COUNTS", repr(str(counts)))
    script.write_text(text.replace("EFFECT", repr(effect)))
    return script


def checker(tmp_path, text):
    script = tmp_path / "check.sh"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)


def run_words(kind, *, sought=Sought.REGRESSION, **data):
    """What a campaign of `run` says of such a finding."""
    return words(Finding.of(kind, **data), voice_of(sought, Measured.COMMAND))
