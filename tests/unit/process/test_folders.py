# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders are removed, whatever rights a command has taken from them, and links stay links."""

import pytest

from helpers.rights import python_as_anybody
from rtbisect.process.folders import place_of, remove

REMOVE = """
import sys
from pathlib import Path
from rtbisect.process.folders import remove
remove(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("mode", [0o000, 0o100, 0o200, 0o400, 0o500, 0o600])
def test_a_folder_goes_whatever_rights_it_lacks(tmp_path, mode):
    mine, place = tmp_path / "mine", tmp_path / "place"
    (mine / "precious").mkdir(parents=True)
    mine.chmod(0o750)
    inner = place / "a/b/c"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    (place / "link").symlink_to(mine)
    for folder in (inner, inner.parent, inner.parent.parent, place):
        folder.chmod(mode)
    python_as_anybody(REMOVE, place)
    assert not place.exists()
    assert ((mine / "precious").is_dir(), mine.stat().st_mode & 0o777) == (True, 0o750)


def test_a_link_goes_and_not_what_it_leads_to(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "link").symlink_to("mine")
    remove(tmp_path / "link")
    remove(tmp_path / "nothing")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_folder_of_a_file_is_no_link(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "top").mkdir()
    (tmp_path / "top/a").symlink_to(tmp_path / "mine")
    (tmp_path / "top/b").touch()
    for name in ("a/x/file", "b/x/file"):
        place = place_of(tmp_path / "top", name)
        folder = place.parent
        assert place == tmp_path / "top" / name
        assert (folder.is_dir(), folder.resolve()) == (True, folder)
    assert not any((tmp_path / "mine").iterdir())
