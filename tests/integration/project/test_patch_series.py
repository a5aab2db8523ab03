# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian source package as a git history: real tar, real git."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[3] / "tools" / "patch_series.py"
PATCH = """\
--- a/hello.c
+++ b/hello.c
@@ -1 +1 @@
-int x;
+long x;
"""


def archive(folder, name, files):
    for path, text in files.items():
        place = folder / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    subprocess.run(["tar", "cf", f"{name}.tar", name], cwd=folder, check=True)


def test_a_patch_is_a_commit_also_with_a_relative_folder(tmp_path):
    archive(tmp_path, "linux", {"hello.c": "int x;\n"})
    series = {"patches/series": "# none\none.patch\n", "patches/one.patch": PATCH}
    archive(tmp_path, "debian", {**series, "patches-rt/series": ""})
    argv = [sys.executable, str(TOOL), "linux.tar", "debian.tar", "--out", "history"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "1 commits in" in done.stdout
    assert "0 patches left out" in done.stdout
    shown = ["git", "-C", "history", "log", "--format=%s", "upstream..series"]
    log = subprocess.run(shown, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert log.stdout.split() == ["one.patch"]
    assert (tmp_path / "history" / "hello.c").read_text() == "long x;\n"
