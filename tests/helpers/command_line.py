# SPDX-License-Identifier: GPL-2.0-or-later
"""The installed program as a child process, with a repository, a site and a state directory."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from helpers import program
from helpers.repositories import ENV
from rtbisect.store.campaigns import CampaignStore

ROOT = Path(__file__).resolve().parents[2]
RTBISECT = Path(sys.executable).with_name("rtbisect")
EXAMPLE = (ROOT / "site.example.yaml").read_text()


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def data(self):
        """The one JSON object on stdout."""
        lines = self.out.splitlines()
        assert len(lines) == 1, self.out
        return json.loads(lines[0])


@dataclass
class Cli:
    """The installed program with a state directory and a site."""

    home: Path
    site: Path

    @property
    def state(self):
        return self.home / "state"

    @property
    def store(self):
        return CampaignStore(self.state)

    def env(self, extra):
        found = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        found |= {"RTBISECT_STATE": str(self.state), "RTBISECT_SITE": str(self.site)}
        return found | extra

    def run(self, *words, env=(), cwd=None, **kw):
        # What an interpreter does when it starts is shown by one that starts.
        if not kw and not any(name.startswith(("PYTHON", "LC_", "LANG")) for name in dict(env)):
            place, env = cwd or self.home, self.env(dict(env))
            done = program.run(words, cwd=place, env=env, errors="replace")
            return Done(done.returncode, done.stdout, done.stderr)
        done = subprocess.run(
            [RTBISECT, *words],
            cwd=cwd or self.home,
            env=self.env(dict(env)),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
            check=False,
            **kw,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def refused(self, code, *words, **kw):
        """The line of an error, told in both forms: for a person and for a program."""
        done = self.run(*words, "--json", **kw)
        assert done.code == code, (done.out, done.err)
        assert set(done.data) == {"error", "hint", "exit_code"}
        lines = done.err.splitlines()
        assert len(lines) == 1, done.err
        assert lines[0].startswith("rtbisect: ")
        assert lines[0].isprintable()
        assert done.data["hint"], "what to do next"
        assert lines[0] == f"rtbisect: {done.data['error']}; {done.data['hint']}"
        return lines[0]


def git(where, *words):
    done = subprocess.run(
        ["git", *words], cwd=where, env=ENV, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(repo, subject):
    git(repo, "commit", "--quiet", "--allow-empty", "-m", subject)
    return git(repo, "rev-parse", "HEAD")


def site_text(url, change=None):
    """The example site on a tree at `url`; `change` gets its data."""
    data = yaml.safe_load(EXAMPLE)
    data["trees"]["stable-rt"]["url"] = str(url)
    data["build_configs_defaults"]["reference"]["branch"] = "start"
    data["build_configs"] = {"rt": {"tree": "stable-rt", "branch": "main"}}
    if change:
        change(data)
    return yaml.safe_dump(data, sort_keys=False)


def bisect(good, bad):
    return ("bisect", "rt", "--good", good, "--bad", bad)


def documented(command):
    """Names in backquotes of what docs/json.md says about a command."""
    text = (ROOT / "docs/json.md").read_text()
    if command == "campaign":
        rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        return re.findall(r"`(\w+)`", " ".join(rows))
    found = re.search(
        rf"^`{command}` (?:adds|prints) (.*?)(?=^`|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, command
    return re.findall(r"`(\w+)`", found[1])
