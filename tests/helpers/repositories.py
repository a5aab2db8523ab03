# SPDX-License-Identifier: GPL-2.0-or-later
"""Git repositories that tests fill."""

import os
import subprocess

ENV = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Person 001",
    "GIT_AUTHOR_EMAIL": "person-001@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00+00:00",
    "GIT_COMMITTER_NAME": "Person 002",
    "GIT_COMMITTER_EMAIL": "person-002@example.org",
    "GIT_COMMITTER_DATE": "2026-01-02T00:00:00+00:00",
}


class Repo:
    def __init__(self, path):
        self.path = path
        path.mkdir()
        self("init", "-q", "-b", "main")

    def __call__(self, *words, stdin=None):
        done = subprocess.run(
            ["git", *words], cwd=self.path, env=ENV, input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, subject, **files):
        for name, text in files.items():
            file = self.path / name.replace("__", "/").replace("_", ".")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "-F", "-", stdin=os.fsencode(subject))
        return self("rev-parse", "HEAD")


def history(repo):
    """good - a - m with a side branch g - s - m."""
    good = repo.commit("start", a_c="1\n2\n3\n4\n5\n6\n7\n8\n9\n", b_c="b\n")
    repo("checkout", "-q", "-b", "side")
    side = repo.commit("side", s_c="s\n")
    repo("checkout", "-q", "main")
    one = repo.commit("one", a_c="one\n2\n3\n4\n5\n6\n7\n8\n9\n")
    repo("merge", "-q", "--no-ff", "-m", "join", "side")
    return good, one, side, repo("rev-parse", "HEAD")
