# SPDX-License-Identifier: GPL-2.0-or-later
"""The store of artefacts on a disk that is full, and after a kill."""

import errno
import os
import signal
from pathlib import Path

import pytest

from rtbisect.errors import InfrastructureError
from rtbisect.store import artefacts
from rtbisect.store.artefacts import ArtefactStore, sweep, write_whole


def files(folder):
    return sorted(each.name for each in folder.rglob("*") if each.is_file())


def test_a_full_disk_gets_no_fuller(tmp_path, monkeypatch):
    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    source = tmp_path / "vmlinux"
    source.write_bytes(b"image")
    store = ArtefactStore(tmp_path / "store")
    monkeypatch.setattr(artefacts.shutil, "copyfileobj", full)
    with pytest.raises(InfrastructureError, match="No space left"):
        store.put_file(source)
    monkeypatch.setattr(artefacts.os, "fsync", full)
    with pytest.raises(InfrastructureError, match="No space left"):
        store.put_bytes(b"log")
    assert files(store.root) == []


class While:
    """A stream without a byte: something happens while it is copied."""

    def __init__(self, happens):
        self.happens = happens

    def read(self, _size):
        self.happens()
        return b""


def test_what_a_kill_has_left_is_swept_and_what_is_being_written_is_not(tmp_path):
    store = ArtefactStore(tmp_path)
    kept = store.put_bytes(b"kept")
    child = os.fork()
    if child == 0:
        write_whole(
            tmp_path / kept[:2] / ("0" * 64), While(lambda: os.kill(os.getpid(), signal.SIGKILL))
        )
        os._exit(1)
    os.waitpid(child, 0)
    assert len(files(tmp_path)) == 2
    write_whole(tmp_path / "whole", While(lambda: sweep(tmp_path)))
    assert files(tmp_path) == sorted([kept, "whole"])


def test_a_new_name_is_on_the_disk_with_its_folder(tmp_path, monkeypatch):
    synced = []
    whole = os.fsync

    def fsync(handle):
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        whole(handle)

    monkeypatch.setattr(artefacts.os, "fsync", fsync)
    name = ArtefactStore(tmp_path / "store").put_bytes(b"log")
    folder = tmp_path / "store" / name[:2]
    assert synced[0] == str(folder.parent)
    assert synced[-1] == str(folder)
