# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of docs/adding-a-suite.md, put where it says into a copy of the checkout's data."""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-suite.md"
SUITES = ("switches", "softirqs")

_FILE = re.compile(r"^`([a-z_/.-]+)`:\n\n```[a-z]+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files():
    """Path to content, as the page has them."""
    return dict(_FILE.findall(PAGE.read_text("utf-8")))


def make(folder):
    """A copy of lava-jobs and thresholds with the page's files in it."""
    for name in ("lava-jobs", "thresholds"):
        shutil.copytree(ROOT / name, folder / name)
    for name, content in files().items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, "utf-8")
    return folder


def install(monkeypatch, folder):
    """Let the program find parsers in that copy too."""
    import rtbisect.suites

    places = [*rtbisect.suites.__path__, str(folder / "bisect/rtbisect/suites")]
    monkeypatch.setattr(rtbisect.suites, "__path__", places)
