# SPDX-License-Identifier: GPL-2.0-or-later
"""The worked example of CONTRIBUTING.md, carried out on a copy of the program."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from helpers.campaigns import ROOT

pytestmark = pytest.mark.words

#: Facts of a boot on a machine that is well, and of one on which something was killed.
ASKED = """
from rtbisect.judge.gates.machine_health import health_fault
from rtbisect.model.facts import Facts
from rtbisect.words.speak import speak
for after in ("0", "2"):
    found = health_fault(Facts({"oom_kills_before": "0", "oom_kills_after": after}))
    print(found and f"{found.kind}: {speak(found)}")
"""


def example():
    """The code of each step, by its number; a comma at its end is of the line."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    chapter = page.partition("## A worked example: a gate")[2].partition("\n## ")[0]
    steps = re.split(r"^\d\. ", chapter, flags=re.MULTILINE)[1:]
    return {n: re.findall(r"`([^`]+)`", step) for n, step in enumerate(steps, start=1)}


def insert(copy, file, before, line):
    place = copy / file.removeprefix("bisect/")
    text = place.read_text("utf-8")
    assert text.count(before) == 1, before
    place.write_text(text.replace(before, f"    {line}\n{before}"), encoding="utf-8")


def test_a_gate_is_a_kind_a_sentence_and_a_rule(tmp_path):
    steps = example()
    _, kinds, member, words, sentence, *_ = steps[1]
    _, rules, rule, *_ = steps[3]
    copy = tmp_path / "bisect"
    shutil.copytree(ROOT / "bisect", copy, symlinks=True)
    insert(copy, kinds, '    CLOCK_CHANGED = "health.clock-changed"', member)
    insert(copy, words, "    Health.CLOCK_CHANGED:", sentence)
    insert(copy, rules, '    "smi": Health.SMI,', rule)
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run(
        [sys.executable, "-c", ASKED], env=environment, cwd=tmp_path, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    kind = re.search(r'"([a-z.-]+)"', member)[1]
    told = re.search(r'"(.*)",$', sentence)[1].format(times=2)
    assert done.stdout.splitlines() == ["None", f"{kind}: {told}"]
