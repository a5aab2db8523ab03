# SPDX-License-Identifier: GPL-2.0-or-later
"""A repository with a submodule that has one itself, and clones of it that can fetch nothing."""

import shutil
import subprocess

from helpers.repositories import ENV, Repo

LOCAL = ("-c", "protocol.file.allow=always")


class WithSubmodules:
    """`inner` is a submodule of `lib`, and `lib` is to be one of `origin`."""

    def __init__(self, folder):
        self.folder = folder
        self.inner = Repo(folder / "inner")
        self.inner.commit("inner 0", text="0\n")
        self.lib = Repo(folder / "lib")
        self.lib.commit("lib 0", text="0\n")
        self.lib(*LOCAL, "submodule", "--quiet", "add", "../inner", "inner")
        self.lib.commit("lib with inner")
        self.origin = Repo(folder / "origin")

    def add(self, path="libs/lib", name="lib"):
        words = ("submodule", "--quiet", "add", "--name", name, "../lib", path)
        self.origin(*LOCAL, *words)
        return self.origin.commit(f"add {path}")

    def move_on(self, path="libs/lib", **files):
        """A commit of the submodule, and one of the repository that names it."""
        commit = self.lib.commit("lib moves on", **files)
        for words in (("fetch", "-q"), ("checkout", "-q", commit)):
            place = self.origin.path / path
            subprocess.run(["git", *words], cwd=place, env=ENV, check=True, capture_output=True)
        return self.origin.commit(f"{path} moves on")

    def clone(self, *words):
        """A clone, after which everything that it was made from is gone."""
        made = self.folder / "repo"
        start = ("git", *LOCAL, "clone", "-q", *words, str(self.origin.path), str(made))
        subprocess.run(start, env=ENV, check=True, capture_output=True)
        for repo in (self.inner, self.lib, self.origin):
            shutil.rmtree(repo.path)
        return made
