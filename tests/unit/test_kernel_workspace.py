# SPDX-License-Identifier: GPL-2.0-or-later
import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from rtbisect.errors import BusyError
from rtbisect.kernel.collect import archive
from rtbisect.kernel.workspace import NotPlainError, Workspace, directory_name
from rtbisect.model.code import BuildRequest


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


@pytest.fixture
def space(tmp_path: Path, source: Path) -> Workspace:
    space = Workspace(tmp_path / "builds", "rt-123")
    with space.hold(0):
        space.open(source, fresh=False)
    return space


def request(**fields) -> BuildRequest:
    given = {"revision": "1", "config_name": "rt", "base": "tinyconfig", "fragments": ("A",)}
    return BuildRequest(**(given | fields))


class TestDirectoryName:
    def test_is_readable_and_harmless(self):
        name = directory_name(request(config_name="../../rt smallest"))
        assert name.startswith("______rt_smallest-")
        assert "/" not in name

    def test_does_not_depend_on_revision_modules_or_freshness(self):
        other = request(revision="2", modules=(("a.c", ""),), fresh=True)
        assert directory_name(other) == directory_name(request())

    @pytest.mark.parametrize(
        "fields", [{"base": "defconfig"}, {"fragments": ("A", "")}, {"variant": "aligned"}]
    )
    def test_differs_by_configuration(self, fields):
        assert directory_name(request(**fields)) != directory_name(request())


class TestOpen:
    def test_keeps_objects_and_empties_our_folders(self, space, source):
        (space.out / "object.o").write_text("")
        space.put(space.modules, "a.c", "int a;\n")
        assert space.open(source, fresh=False) == ""
        assert (space.out / "object.o").exists()
        assert list(space.modules.iterdir()) == []

    def test_says_why_objects_go(self, space, source, tmp_path):
        (tmp_path / "other").mkdir()
        for why, other, fresh, dirty in (
            ("fresh", source, True, False),
            ("interrupted", source, False, True),
            ("another source", tmp_path / "other", False, False),
        ):
            (space.out / "object.o").write_text("")
            if dirty:
                space.mark("building")
            assert why in space.open(other, fresh=fresh)
            assert list(space.out.iterdir()) == []
            space.unmark()

    def test_forgets_the_configuration_with_the_objects(self, space, source):
        space.set_config_key("abc")
        space.open(source, fresh=False)
        assert space.stamp()["config_key"] == "abc"
        space.open(source, fresh=True)
        assert "config_key" not in space.stamp()

    def test_a_broken_stamp_means_unknown(self, space, source):
        (space.root / "stamp.json").write_text("{")
        assert "another source" in space.open(source, fresh=False)

    def test_a_link_in_the_objects_is_removed_not_followed(self, space, source, tmp_path):
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious" / "file").write_text("")
        (space.out / "link").symlink_to(tmp_path / "precious")
        space.open(source, fresh=True)
        assert (tmp_path / "precious" / "file").exists()


def test_lock_is_exclusive(space):
    with space.hold(0), pytest.raises(BusyError, match="build directory"), space.hold(0):
        pass


class TestForeignFiles:
    def test_plain_file(self, space):
        (space.out / "arch").mkdir()
        (space.out / "arch" / "image").write_text("x")
        assert space.plain_file("arch/image").read_text() == "x"

    def test_everything_else_is_refused(self, space, tmp_path):
        (tmp_path / "secret").write_text("swordfish")
        (space.out / "link").symlink_to(tmp_path / "secret")
        (space.out / "folder").symlink_to(tmp_path)
        os.mkfifo(space.out / "pipe")
        for name, why in (
            ("link", "symbolic link"),
            ("folder/secret", "symbolic link"),
            ("pipe", "not a regular file"),
            ("none", "make left no none"),
        ):
            with pytest.raises(NotPlainError, match=why):
                space.plain_file(name)

    def test_modules_are_regular_files_and_ours_come_first(self, space, tmp_path):
        (space.out / "deep").mkdir()
        (space.out / "deep" / "a.ko").write_text("tree")
        (space.out / "b.ko").write_text("tree")
        (space.out / "c.ko").symlink_to(tmp_path)
        (space.out / "c.o").write_text("")
        (space.modules / "b.ko").write_text("ours")
        found = [(path.name, path.read_text()) for path in space.kernel_modules()]
        assert found == [("a.ko", "tree"), ("b.ko", "ours")]

    def test_our_files_never_replace_what_is_there(self, space, tmp_path):
        (space.modules / "a.c").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(Exception, match="cannot write below"):
            space.put(space.modules, "a.c", "")
        assert not (tmp_path / "elsewhere").exists()

    def test_log_is_read_from_an_offset_and_without_its_middle(self, space):
        space.log.write_bytes(b"old\n" + b"first\n" + b"x" * (10 << 20) + b"\nlast\n")
        text = space.log_text(4)
        assert text.startswith("first\n")
        assert text.endswith("\nlast\n")
        assert len(text) < (9 << 20) + 10


def test_archive_depends_on_names_and_bytes_alone(tmp_path):
    for folder, stamp in (("x", 1), ("y", 2)):
        (tmp_path / folder).mkdir()
        for name in ("b.ko", "a.ko"):
            path = tmp_path / folder / name
            path.write_text(name)
            path.chmod(0o600 + stamp)
            os.utime(path, (stamp, stamp))
    one = archive([tmp_path / "x" / "b.ko", tmp_path / "x" / "a.ko"])
    assert one == archive([tmp_path / "y" / "a.ko", tmp_path / "y" / "b.ko"])
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(one))) as tar:
        told = [(item.name, item.mode, item.uid, item.mtime) for item in tar.getmembers()]
    assert told == [
        ("opt/rtbisect/modules/a.ko", 0o644, 0, 0),
        ("opt/rtbisect/modules/b.ko", 0o644, 0, 0),
    ]
