# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel tree in miniature, and a builder with its folders."""

import gzip
import io
import os
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import BuildSettings
from rtbisect.kernel.workspace import Workspace, directory_name
from rtbisect.model.code import Build, BuildRequest, Checkout
from rtbisect.process import command
from rtbisect.store.artefacts import ArtefactStore

NEEDED = ("bwrap", "gcc", "make", "ccache", "ld", "git")
needs_tools = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in NEEDED), reason=f"needs {', '.join(NEEDED)}"
)
TOY = Path(__file__).parents[1] / "data" / "toykernel"
FRAGMENT = "CONFIG_EXPERT=y\nCONFIG_PREEMPT_RT=y\nCONFIG_EPOLL=y\nCONFIG_MODULES=y\n"
MODULE = (("probe.c", "#include <linux/toy.h>\nint probe(void) { return 7; }\n"),)


class Toy:
    """A git repository of the toy kernel that tests change and commit."""

    def __init__(self, root: Path) -> None:
        self.path = root / "tree"
        shutil.copytree(TOY, self.path)
        for place, _, names in os.walk(self.path):
            Path(place).chmod(0o755)
            for name in names:
                (Path(place) / name).chmod(0o644)
        self._git("init", "-q", "-b", "main")
        self.first = self.commit()

    def _git(self, *words: str) -> str:
        return command.run(["git", *words], cwd=self.path, timeout_s=60, check=True).stdout.strip()

    def commit(self) -> str:
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", "change")
        return self._git("rev-parse", "HEAD")

    def change(self, name: str, old: str, new: str) -> str:
        path = self.path / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        return self.commit()

    def back(self) -> str:
        """The work tree of the first commit, as a new commit."""
        self._git("checkout", "-q", self.first, "--", ".")
        return self.commit()

    def recipe(self, shell: str) -> str:
        """A revision whose bzImage rule runs `shell` first; output in out/said.txt."""
        with (self.path / "Makefile").open("a") as stream:
            stream.write("\nbzImage: said\nsaid: FORCE\n")
            stream.write(f"\t@( {shell.replace('$', '$$')} ) > $(objtree)/said.txt 2>&1 || true\n")
        return self.commit()


class Lab:
    """A builder with its folders."""

    def __init__(self, root: Path, **settings) -> None:
        self.root = root
        self.store = ArtefactStore(root / "artefacts")
        self.settings = BuildSettings(
            root=root / "builds", machine_lock=root / "machine.lock", lock_wait_s=0.3, **settings
        )
        self.builder = KernelBuilder(self.settings, self.store)
        self.notes: list[str] = []

    def build(self, toy: Toy, revision: str, note=None, lock=None, **fields) -> Build:
        return self.builder.build(
            Checkout(toy.path, lock), request(revision, **fields), note or self.notes.append
        )

    def space(self, **fields) -> Workspace:
        return Workspace(self.settings.root, directory_name(request("x", **fields)))

    def said(self) -> str:
        return (self.space().out / "said.txt").read_text()


def request(revision: str, **fields) -> BuildRequest:
    fields = {"config_name": "toy", "base": "tinyconfig", "fragments": (FRAGMENT,)} | fields
    return BuildRequest(revision=revision, **fields)


def members(lab: Lab, build: Build) -> dict[str, bytes]:
    data = gzip.decompress(lab.store.path(build.modules).read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {item.name: tar.extractfile(item).read() for item in tar.getmembers()}


def soon(true: Callable[[], bool], wait_s: float = 20.0) -> bool:
    deadline = time.monotonic() + wait_s
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def processes(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(str(path))
        except OSError:
            continue
    return found
