# SPDX-License-Identifier: GPL-2.0-or-later
"""The tiers of `make test` fail by a skipped test."""

import re
import sys
from pathlib import Path

import pytest

from rtbisect.process import command

ROOT = Path(__file__).resolve().parents[3]


# With workers in one case alone: they hand what they skip to the process that counts, whatever made
# them skip. A run with workers makes itself a base folder below /tmp, and at its end removes those
# of other runs: minutes, where these hold kernels and the disk is busy. So it is given one.
@pytest.mark.parametrize(
    ("body", "workers"),
    [
        ("@pytest.mark.skipif(True, reason='no tool')\ndef test_one(): pass", True),
        ("def test_one(): pytest.importorskip('no_such_module_at_all')", False),
        ("pytest.skip('no tool', allow_module_level=True)\ndef test_one(): pass", False),
    ],
)
def test_a_skip_fails_a_tier_and_nothing_else(tmp_path, body, workers):
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(f"import pytest\n{body}\n")
    (tmp_path / "test_more.py").write_text("def test_more(): pass\n")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    argv += ["--basetemp", str(tmp_path / "base")]
    beside = [(["--no-skips", "-n", "2"], 1)] if workers else []
    for words, code in (*beside, (["--no-skips"], 1), ([], 0)):
        done = command.run([*argv, *words], cwd=tmp_path, timeout_s=120)
        assert done.returncode == code, done.stdout
    assert "SKIPPED" not in done.stdout


def test_every_tier_runs_so():
    assert re.search(r"pytest --no-skips", (ROOT / "tools/tier.sh").read_text())
