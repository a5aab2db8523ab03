# SPDX-License-Identifier: GPL-2.0-or-later
"""The tiers of `make test` fail by a skipped test."""

import re
import sys
from pathlib import Path

import pytest

from rtbisect.process import command

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "body",
    [
        "@pytest.mark.skipif(True, reason='no tool')\ndef test_one(): pass",
        "def test_one(): pytest.importorskip('no_such_module_at_all')",
        "pytest.skip('no tool', allow_module_level=True)\ndef test_one(): pass",
    ],
)
def test_a_skip_fails_a_tier_and_nothing_else(tmp_path, body):
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(f"import pytest\n{body}\n")
    (tmp_path / "test_more.py").write_text("def test_more(): pass\n")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    for words, code in ((["--no-skips", "-n", "2"], 1), (["--no-skips"], 1), ([], 0)):
        done = command.run([*argv, *words], cwd=tmp_path, timeout_s=120)
        assert done.returncode == code, done.stdout
    assert "SKIPPED" not in done.stdout


def test_every_tier_runs_so():
    assert re.search(r"pytest --no-skips", (ROOT / "tools/tier.sh").read_text())
