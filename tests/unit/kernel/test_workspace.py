# SPDX-License-Identifier: GPL-2.0-or-later
import gzip
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtbisect.errors import BusyError
from rtbisect.kernel.products import archive, boot_code, collect
from rtbisect.kernel.workspace import NotPlainError, Workspace, directory_name
from rtbisect.model.code import BuildRequest
from rtbisect.process import command
from rtbisect.store.artefacts import ArtefactStore


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

    def test_remembers_which_source_passed_when_the_objects_go(self, space, source, tmp_path):
        assert not space.has_passed(source)
        space.set_passed(source)
        space.open(source, fresh=True)
        assert space.has_passed(source)
        assert not space.has_passed(tmp_path)

    def test_a_link_in_the_objects_is_removed_not_followed(self, space, source, tmp_path):
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious" / "file").write_text("")
        (space.out / "link").symlink_to(tmp_path / "precious")
        space.open(source, fresh=True)
        assert (tmp_path / "precious" / "file").exists()


def test_lock_is_exclusive(space):
    with space.hold(0), pytest.raises(BusyError, match="build directory"), space.hold(0):
        pass


class TestRights:
    @pytest.fixture
    def space(self) -> Iterator[Workspace]:
        """As a user whom rights stop, and who may enter the folders above."""
        with tempfile.TemporaryDirectory(prefix="rtbisect-") as root:
            os.chown(root, 65534 if os.geteuid() == 0 else -1, -1)
            user = os.geteuid()
            os.seteuid(user or 65534)
            try:
                space = Workspace(Path(root) / "builds", "rt")
                with space.hold(0):
                    space.open(Path(root), fresh=False)
                    yield space
            finally:
                os.seteuid(user)

    @pytest.mark.parametrize(("place", "mode"), [("mod/x.ko", 0), ("mod", 0o600), ("mod", 0o300)])
    def test_modules_of_ours_that_the_tree_has_closed(self, space, place, mode):
        (space.out / "modules.order").write_text("")
        (space.modules / "x.ko").write_text("ours")
        assert [path.name for path in space.kernel_modules()] == ["x.ko"]
        (space.root / place).chmod(mode)
        with pytest.raises(NotPlainError, match=f"^{place}/? cannot be read"):
            space.kernel_modules()

    def test_a_module_of_the_tree_that_it_has_closed(self, space):
        (space.out / "modules.order").write_text("a.o\n")
        (space.out / "a.ko").write_text("")
        (space.out / "a.ko").chmod(0)
        with pytest.raises(NotPlainError, match=r"a\.ko cannot be read"):
            space.kernel_modules()

    @pytest.mark.parametrize("mode", [0o600, 0o300])
    def test_a_closed_folder_of_objects_is_no_full_disk(self, space, mode):
        (space.out / "deep").mkdir()
        (space.out / "deep/a.o").write_text("")
        space.settle()
        (space.out / "deep").chmod(mode)
        with pytest.raises(NotPlainError, match="cannot be entered"):
            space.settle()

    def test_objects_without_rights(self, space):
        (space.out / "deep").mkdir()
        (space.out / "deep").chmod(0)
        space.out.chmod(0)
        space.open(space.root, fresh=True)
        assert list(space.out.iterdir()) == []

    def test_folders_deeper_than_python_recurses(self, space):
        depth = "/".join("d" * 1500)
        command.run(["mkdir", "-p", depth], cwd=space.out, timeout_s=60, check=True)
        space.open(space.root, fresh=True)
        assert list(space.out.iterdir()) == []


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
            ("../stamp.json", "not a path below"),
            ("/etc/passwd", "not a path below"),
            ("nul\0", "make left no"),
        ):
            with pytest.raises(NotPlainError, match=why):
                space.plain_file(name)

    def test_files_without_a_measure_are_refused(self, space):
        for name, size in (("vmlinux", 5 << 30), (".config", 5 << 20)):
            with (space.out / name).open("wb") as stream:
                stream.truncate(size)
        with pytest.raises(NotPlainError, match="vmlinux has 5368709120 bytes, more than"):
            space.plain_file("vmlinux")
        with pytest.raises(NotPlainError, match=r"\.config has 5242880 bytes, more than"):
            space.text(".config")

    def modules(self, space: Workspace, order: str, *names: str) -> list[tuple[str, str]]:
        """Name and text of what is found; each file holds its own path."""
        (space.out / "modules.order").write_text(order)
        for name in names:
            (space.out / name).parent.mkdir(parents=True, exist_ok=True)
            (space.out / name).write_text(name)
        return [(path.name, path.read_text()) for path in space.kernel_modules()]

    @pytest.mark.parametrize("order", ["deep/a.o\nb.o\n", "deep/a.ko\nkernel/b.ko\nb.ko\n"])
    def test_modules_are_those_of_this_build_and_ours_come_first(self, space, tmp_path, order):
        (space.modules / "b.ko").write_text("ours")
        (space.modules / "c.ko").symlink_to(tmp_path)
        found = self.modules(space, order, "deep/a.ko", "b.ko", "left/by/another.ko")
        assert found == [("a.ko", "deep/a.ko"), ("b.ko", "ours")]

    @pytest.mark.parametrize(
        ("order", "why"),
        [
            ("gone.o\n", "make left no gone.ko"),
            ("../mod/a.o\n", "not a path below"),
            (f"{'x' * 101}.o\n", "not the name of a module"),
            ("a b.o\n", "not the name of a module"),
        ],
    )
    def test_modules_that_are_not_there_or_oddly_named(self, space, order, why):
        with pytest.raises(NotPlainError, match=why):
            self.modules(space, order, f"{'x' * 101}.ko", "a b.ko")

    def test_more_modules_and_a_larger_image_than_a_device_holds(self, space, tmp_path):
        store, mib = ArtefactStore(tmp_path / "artefacts"), 1 << 20
        self.modules(space, "a.o\nb.o\n", "a.ko", "b.ko")
        (space.out / "arch/x86/boot").mkdir(parents=True)
        image = "arch/x86/boot/bzImage"
        for name, size in (("a.ko", 300), ("b.ko", 300), (image, 600)):
            with (space.out / name).open("wb") as stream:
                stream.truncate(size * mib)
        with pytest.raises(NotPlainError, match="the modules have 629145600 bytes"):
            collect(space, store, "", with_modules=True)
        shutil.copy("/bin/true", space.out / "vmlinux")
        with pytest.raises(NotPlainError, match=f"{image} has 629145600 bytes"):
            collect(space, store, "", with_modules=False)

    def test_no_list_of_modules(self, space):
        with pytest.raises(NotPlainError, match=r"make left no modules\.order"):
            space.kernel_modules()

    def test_boot_code_is_what_the_last_link_took(self, space):
        folder = space.out / "arch" / "x86" / "boot" / "compressed"
        assert boot_code(space) == []
        folder.mkdir(parents=True)
        for name in ("misc.o", "piggy.o", "left.o", "head_64.o", "../setup.elf"):
            (folder / name).write_text("")
        at = "arch/x86/boot/compressed"
        (folder / ".vmlinux.cmd").write_text(
            f"savedcmd_{at}/vmlinux := ld -m elf_x86_64 -T {at}/vmlinux.lds {at}/misc.o"
            f" {at}/head_64.o {at}/piggy.o {at}/../../../../../stamp.o -o {at}/vmlinux\n"
        )
        found = [path.relative_to(folder.parent).as_posix() for path in boot_code(space)]
        assert found == ["setup.elf", "compressed/head_64.o", "compressed/misc.o"]

    def test_our_files_never_replace_what_is_there(self, space, tmp_path):
        (space.modules / "a.c").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(NotPlainError, match="wrote to mod/"):
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
