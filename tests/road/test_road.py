# SPDX-License-Identifier: GPL-2.0-or-later
"""The road on real kernels: one cold build, real lava-run jobs, one real bisection.

Nothing here asserts a rate: completeness, units, identities, owners and outcomes only.
"""

import json
import mailbox
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_string
from email.utils import format_datetime
from pathlib import Path

import pytest
import yaml

from helpers.depth import deep
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab.job_definition import Timeouts
from rtbisect.lab.profile import parse_cpus
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.lab import RunStatus
from rtbisect_labkit.demo import truth as truths

ROOT = Path(__file__).resolve().parents[2]
ALL = ("osnoise-off", "clock-on", "pf-off", "pf-on", "rcu-off", "rcu-on")


def note(_external):
    pass


def test_one_boot_measures_everything_it_was_asked(lab, request_of):
    request = request_of("road-good", *ALL)
    run = lab().run(request, note)
    # A dose that a busy host does not reach is a property of the host, not of the road.
    assert run.complete or run.reason.kind in (Boots.DOSE, Boots.EVENTS_LOST), run.reason
    if not run.complete:
        assert run.status is RunStatus.INVALID
        return
    watched = set(parse_cpus(request.profile.watch))
    found = {(m.suite, m.window) for m in run.measurements}
    assert found == {(s, w.name) for w in request.windows for s in w.suites}
    per_cpu = [m for m in run.measurements if m.suite == "ipi" and m.cpu is not None]
    assert {m.cpu for m in per_cpu} == watched
    assert all(m.value >= 0 for m in run.measurements)
    assert {m.unit for m in run.measurements if m.name.endswith("_us")} == {"us"}
    rates = [m for m in run.measurements if m.name.endswith("_per_s")]
    units = {(m.name.endswith("_us_per_s"), m.unit) for m in rates}
    assert units == {(False, "1/s"), (True, "us/s")}
    facts = dict(run.facts)
    assert facts["smt_active"] == "1"
    assert facts["isolated"] == request.profile.isolated
    assert facts["nohz_full"] == request.profile.isolated
    assert run.window_order == ALL
    assert len(run.window_s) == len(ALL)
    assert 0 < sum(run.window_s) < run.seconds
    assert run.log


def test_a_grace_period_takes_whole_ticks_and_its_statistics_agree(lab, request_of):
    run = lab().run(request_of("road-rcu", "rcu-off"), note)
    assert run.complete, run.reason
    of = {m.name: m.value for m in run.measurements if m.window == "rcu-off"}
    assert of["min_us"] <= of["p50_us"] <= of["p90_us"] <= of["max_us"]
    assert of["min_us"] <= of["mean_us"] <= of["max_us"]


def test_a_kernel_without_an_init_is_the_kernels_failure_to_boot(lab, request_of, device):
    request = request_of("road-panic", "rcu-off")
    # rdinit alone falls back to the shell of the initramfs; a requested init must exist.
    line = request.profile.boot_line + " rdinit=/nowhere init=/nowhere"
    broken = replace(request, profile=replace(request.profile, boot_line=line))
    run = lab(timeouts=Timeouts(boot_s=40)).run(broken, note)
    assert run.status is RunStatus.BOOT_FAILED
    assert run.reason.kind == Boots.PANIC
    assert run.measurements == ()


def test_a_suite_that_does_not_end_is_a_hang_and_not_a_measurement(lab, request_of):
    request = request_of("road-hang", "osnoise-off", window_ms=600_000)
    run = lab(timeouts=Timeouts(test_s=12)).run(request, note)
    assert run.status is RunStatus.HUNG
    assert run.measurements == ()


def test_a_missing_artefact_is_never_the_kernels_fault(lab, request_of):
    with pytest.raises((ConfigError, InfrastructureError), match="artefact"):
        lab().run(request_of("road-missing", "rcu-off", kernel="ab" * 32), note)


def test_a_real_bisection_finds_the_commit_that_slows_grace_periods(
    road, site, history, kernel, tmp_path
):
    repo, refs, truth = history
    assert kernel.revision == refs.good
    done = subprocess.run(
        [
            Path(sys.executable).with_name("rtbisect"), "--state", road, "bisect", "demo",
            "--good", refs.good, "--bad", refs.bad, "--suite", "rcu", "--site", site, "--json",
        ],
        cwd=ROOT, capture_output=True, text=True, timeout=2400, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout)
    known = truths.load(truth)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", known.culprit)
    assert answer["cause"] == "kernel"
    assert answer["confidence"] >= 0.95
    eml = Path(answer["report"]).read_text("ascii")
    assert "emulator" in eml.split("\n\n", 1)[1].split("\n", 1)[0].lower()
    replay(repo, Path(answer["report"]).with_name("bisect.log"), road / "replay.git")
    assert ref(road / "replay.git", "refs/bisect/bad") == known.culprit
    judged_again_elsewhere(road, answer, tmp_path)
    # Toy kernels do the same in the integration tier.
    if deep(False, True):  # noqa: FBT003
        boots_as_printed(road, answer, tmp_path)
        a_reply_is_answered(road, site, refs, answer, tmp_path)


def judged_again_elsewhere(road, answer, folder):
    """The evidence, moved to another place, gives the same answer with another state directory."""
    program = Path(sys.executable).with_name("rtbisect")
    made = [program, "--state", road, "report", "bundle", answer["campaign"], folder / "made"]
    subprocess.run(made, capture_output=True, timeout=600, check=True)
    (folder / "made").rename(folder / "elsewhere")
    kernels = list((folder / "elsewhere/kernels").iterdir())
    assert answer["culprit"][:12] in {path.name for path in kernels}
    assert len(kernels) == 2
    argv = [program, "--state", folder / "state", "rejudge", folder / "elsewhere", "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=True)
    again = json.loads(done.stdout)
    assert (again["same"], again["culprit"]) == (True, answer["culprit"])
    assert again["confidence"] == answer["confidence"]


def boots_as_printed(road, answer, folder):
    """The draft's lines for boots of both kernels in QEMU, run as they are printed."""
    mail = Path(answer["report"]).read_text("ascii")
    section = mail.partition("\nTo reproduce it:\n")[2].partition("\n\n")[0].splitlines()
    begin = next(place for place, line in enumerate(section) if "rtbisect report bundle" in line)
    lines = [line.strip() for line in section[begin:]]
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "RTBISECT_STATE": str(road),
    }
    console = f"rtbisect figures {answer['campaign']} {answer['campaign']}/booted/*.log --json"
    for again in (lines, lines[-1:]):
        # A dose that a busy host does not reach is a property of the host.
        done = subprocess.run(
            ["sh", "-e", "-c", "\n".join([*again, console])], cwd=folder, env=environment,
            capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["metric"] == "rcu.p50_us@rcu-off"
    assert {each["kernel"] for each in found["figures"]} >= {answer["culprit"][:12]}


def a_reply_is_answered(road, site, refs, answer, folder):
    """Somebody replies with a patch that takes the culprit back: its kernel is built from nothing,
    apart from all others; boots, then an answer, a draft.
    """
    diff = output("-C", refs.repo, "diff", answer["culprit"], f"{answer['culprit']}^")
    box = mailbox.Maildir(folder / "mail")
    told = message_from_string(Path(answer["report"]).read_text("ascii"))
    box.add(
        f"""\
Authentication-Results: mx.lab.example.org; dkim=pass header.d=kernel.example.org
DKIM-Signature: v=1; d=kernel.example.org; b=x; h=From:Subject:Date:Message-ID:In-Reply-To
Date: {format_datetime(datetime.now(UTC))}
From: Ada <ada@kernel.example.org>
Subject: [PATCH] take it back
Message-ID: <fix@kernel.example.org>
In-Reply-To: {told["Message-ID"]}

Please try this.

#rtbisect test

{diff}
""".encode()
    )
    known = yaml.safe_load(Path(site).read_text())
    known["rtbisect"]["mail"] = {
        "inbox": {"maildir": str(folder / "mail")},
        "commands": {"people": ["ada@kernel.example.org"], "trusted": ["mx.lab.example.org"]},
    }
    place = Path(site).with_name("mail-site.yaml")
    place.write_text(yaml.safe_dump(known))
    program = [Path(sys.executable).with_name("rtbisect"), "--state", road, "mail"]
    polled = subprocess.run(
        [*program, "poll", "--site", place, "--json"], capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert json.loads(polled.stdout)["replies"][0]["state"] == "accepted"
    done = subprocess.run(
        [*program, "work", "--json"], cwd=ROOT, capture_output=True, text=True, timeout=2400,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    (reply,) = json.loads(done.stdout)["replies"]
    (outcome,) = reply["why_found"]["data"]["outcomes"]
    assert (reply["state"], outcome["data"]["answer"]) == ("done", "better")
    mail = message_from_string(Path(outcome["data"]["path"]).read_text("ascii"))
    assert mail["In-Reply-To"] == "<fix@kernel.example.org>"
    assert answer["culprit"][:12] in mail.get_payload()


def git(*words):
    return output(*words).strip()


def output(*words, env=None, stdin=None):
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *map(str, words)],
        capture_output=True, text=True, check=True, env=env, input=stdin,
    )  # fmt: skip
    return done.stdout


def replay(repo, log, clone):
    """`git bisect replay` in a bare clone: no checkout of a whole kernel is needed."""
    git("clone", "--quiet", "--bare", "--shared", repo, clone)
    git("-C", clone, "fetch", "--quiet", repo, "+refs/demo/*:refs/demo/*")
    git("-C", clone, "bisect", "replay", log)


def ref(clone, name):
    return git("-C", clone, "rev-parse", name)
