# SPDX-License-Identifier: GPL-2.0-or-later
"""A worktree for tests of builds, without git."""

import shutil


class FolderTree:
    """A worktree that is a folder."""

    def __init__(self, path):
        self.path = path

    def checkout(self, sha):
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        (self.path / "sha").write_text(sha)
        return self.path

    def settle(self):
        """Nothing is to be remembered."""

    def settled(self, sha):
        return (self.path / "sha").read_text() == sha


def silent(_note):
    """Nothing is to be resumed."""
