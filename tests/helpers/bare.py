# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual environment that holds pip and what a plain install stands on, for a user without
rights. Nothing of the checkout and of its own environment can be seen from there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from helpers import wheels

#: Who runs what is in there, where the tests run as root: a user that owns nothing else.
NOBODY = 65534
#: Of a build without network.
BUILDERS = ("packaging", "setuptools", "wheel")


class Bare:
    """A folder with a virtual environment, and the commands that are run in it."""

    def __init__(self, root):
        self.root = root
        self.home = root / "home"
        self.bin = root / "venv/bin"

    def run(self, *words, timeout_s=300, **environment):
        """A command, as the user, with nothing of our environment."""
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        path = f"{self.bin}:/usr/bin:/bin"
        return subprocess.run(
            [str(word) for word in words], cwd=self.home, timeout=timeout_s, check=False,
            capture_output=True, text=True, umask=0o022, **user,
            env={"PATH": path, "HOME": str(self.home), "LC_ALL": "C.UTF-8", **environment},
        )  # fmt: skip

    def install(self, what, *options):
        """`pip install` without an index: what is needed and not there ends it."""
        pip = ("-m", "pip", "--no-cache-dir", "install", "--no-index", "--no-build-isolation")
        builders = str(self.root / "builders")
        done = self.run(self.bin / "python", *pip, *options, what, PYTHONPATH=builders)
        assert done.returncode == 0, done.stderr

    def take(self, path):
        """All folders below a path become the user's own, and files that are no links of ours."""
        if os.geteuid() == 0:
            for each in (path, *path.rglob("*")):
                if each.lstat().st_nlink == 1 or not each.is_file():
                    os.chown(each, NOBODY, NOBODY, follow_symlinks=False)


@contextmanager
def environment():
    """A fresh one, in a folder that everybody may enter."""
    root = Path(tempfile.mkdtemp(prefix="rtbisect-bare-"))
    try:
        root.chmod(0o755)
        base = getattr(sys, "_base_executable", sys.executable)
        subprocess.run([base, "-m", "venv", "--without-pip", root / "venv"], check=True)
        (site,) = (root / "venv/lib").glob("python3*/site-packages")
        for name in {"pip", *wheels.needed_by("rtbisect")}:
            _copy(name, site)
        for name in BUILDERS:
            _copy(name, root / "builders")
        made = Bare(root)
        made.home.mkdir()
        made.take(root)
        yield made
    finally:
        shutil.rmtree(root)


def _copy(name, site):
    """What a distribution has in our site-packages; by links where one disk has both."""
    for file in metadata.distribution(name).files or ():
        # Compiled files come along: they fit the interpreter, which is ours.
        if ".." in file.parts or not file.locate().exists():
            continue
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(file.locate(), target)
        except OSError:
            shutil.copyfile(file.locate(), target)
