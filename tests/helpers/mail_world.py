# SPDX-License-Identifier: GPL-2.0-or-later
"""A store with finished campaigns, a git tree with its own get_maintainer.pl, and a site."""

import json
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from helpers.report_parts import BOARD, settings
from rtbisect.campaign.plan import setup_of
from rtbisect.cli import app
from rtbisect.config.site_file import load_site
from rtbisect.model.campaign import CampaignRequest
from rtbisect.report.draft import DraftMailer
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """#!/usr/bin/perl
print "Keeper <keeper\\@kernel.example.org> (maintainer:RCU)\\n";
print "rcu\\@lists.example.org (open list:RCU)\\n" if "@ARGV" =~ /tree.c/;
print "stranger\\@elsewhere.example.com (reviewer)\\n";
"""
TRAILERS = "Signed-off-by: Zo <zo@kernel.example.org>"
WHO = "Ada Admin"
#: What the road of a mail needs on this machine.
needs_tools = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in ("bwrap", "perl", "git")), reason="needs bwrap, perl"
)
USE = "Hosts that run packet processing on isolated CPUs miss their deadlines."


class World:
    """A store with one finished campaign, a tree and a site."""

    def __init__(self, root, capsys):
        self.root, self.capsys, self.emulated = root, capsys, False
        self.target = "stable-rt_6.12"
        self.state = root / "state"
        self.tree = root / "tree"
        self.sha = self._tree()
        self.mail = {
            "approvers": [{"name": WHO, "address": "ada@lab.example.org"}],
            "send": {"mbox": str(root / "out.mbox")},
            "evidence": {"folder": str(root / "www"), "url": "https://lab.example.org/evidence"},
            "deny": ["@elsewhere.example.com"],
            "trees": {"stable-rt": "mainline"},
        }

    def _git(self, *words):
        argv = ["git", "-c", "user.name=Zo", "-c", "user.email=zo@kernel.example.org", *words]
        done = subprocess.run(argv, cwd=self.tree, capture_output=True, check=True, text=True)
        return done.stdout.strip()

    def _tree(self):
        for name, text in (
            ("scripts/get_maintainer.pl", SCRIPT),
            ("kernel/rcu/tree.c", "int x;\n"),
        ):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(text)
        self._git("init", "-q", "-b", "linux-6.12.y-rt")
        self._git("add", "-A")
        self._git("commit", "-q", "-m", f"rcu: Delay the first scan\n\nText.\n\n{TRAILERS}")
        return self._git("rev-parse", "HEAD")

    @property
    def site(self):
        text = (ROOT / "site.example.yaml").read_text()
        text = text.replace("https://git.example.org/linux-stable-rt.git", str(self.tree))
        found = yaml.safe_load(text)
        # Real machines behind somebody's LAVA server: data of the embedded lab are an emulator's.
        found["device_types"]["qemu-smt"]["params"]["emulated"] = self.emulated
        lab = found["labs"].pop("embedded")
        found["labs"]["real"] = lab | {"url": "http://127.0.0.1:9/"}
        found["rtbisect"] |= {"lab": "real", "mail": self.mail}
        serve = {"url": "http://127.0.0.1:8790", "listen": "127.0.0.1:8790"}
        (only,) = found["build_configs"].values()
        found["build_configs"] = {self.target: only}
        found["rtbisect"]["labs"] = {"real": {"token": str(self.root / "token"), "serve": serve}}
        place = self.root / "site.yaml"
        place.write_text(yaml.safe_dump(found))
        return place

    def campaign(self, report, **changes):
        """A finished campaign of that report."""
        report = replace(report, **changes)
        site = load_site(self.site)
        request = CampaignRequest(
            kind="bisect", site=str(self.site), tree="stable-rt", older="a", newer="b"
        )
        if report.device == BOARD:
            now = setup_of(site, site.target("stable-rt"), request).kernel
            report = replace(
                report, device=now.device, profile=now.profile, config_name=now.build.config_name,
            )  # fmt: skip
        if report.culprit is not None:
            report = replace(
                report,
                culprit=replace(
                    report.culprit, sha=self.sha, files=("kernel/rcu/tree.c",),
                    author_email="zo@kernel.example.org",
                ),
                result=replace(report.result, culprit=self.sha),
            )  # fmt: skip
        store = CampaignStore(self.state)
        text = codec.to_json(CampaignRequest, request)
        name = store.create("bisect", text, datetime.now(UTC).isoformat())
        made = DraftMailer(settings(self.state / "reports")).draft(
            replace(report, campaign=name, message_id=f"{name}.0123"), ""
        )
        store.finish(name, report.result, made)
        self.publish(name)
        return name

    def publish(self, name):
        """What a mail of a campaign may point to."""
        published = self.root / "www" / name
        published.mkdir(parents=True)
        for file in ("SHA256SUMS", "index.html", "boot.sh", "build.sh", "measure.sh"):
            (published / file).touch()
        published.with_name(f"{name}.tar.gz").touch()

    def __call__(self, *words):
        """Exit code and answer of a command."""
        code = app.run(["--state", str(self.state), *words, "--json"])
        return code, json.loads(self.capsys.readouterr().out)

    def public(self, name):
        return self.state / "reports" / name / "public.eml"
