# SPDX-License-Identifier: GPL-2.0-or-later
"""The builder on a kernel tree in miniature: real make, gcc, ccache, git and bubblewrap."""

import contextlib
import gzip
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from helpers.toy_kernel import FRAGMENT, MODULE, Lab, Toy, members, needs_tools, soon
from rtbisect.campaign.builders import IsolatedBuilder, own_folder
from rtbisect.errors import InfrastructureError
from rtbisect.kernel import toolchain
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import ALIGNMENTS
from rtbisect.kernel.workspace import Workspace
from rtbisect.model.code import PROOF_LAYOUTS, BuildStatus
from rtbisect.process import command, locks

pytestmark = needs_tools


class TestABuild:
    def test_gives_image_modules_and_config(self, toy, lab):
        fragments = (FRAGMENT, "CONFIG_SCALE=m\n")
        build = lab.build(toy, toy.first, fragments=fragments, modules=MODULE)
        assert build.first_error == ""
        assert build.status is BuildStatus.OK
        assert lab.store.path(build.kernel).stat().st_size > 100
        vmlinux = lab.root / "vmlinux"
        vmlinux.write_bytes(gzip.decompress(lab.store.path(build.vmlinux).read_bytes()))
        notes = command.run(["readelf", "-n", str(vmlinux)], cwd=lab.root, timeout_s=60).stdout
        assert f"Build ID: {build.build_id}\n" in notes
        assert len(build.build_id) == 40
        assert set(members(lab, build)) == {
            "opt/rtbisect/modules/probe.ko",
            "opt/rtbisect/modules/scale.ko",
        }
        assert b"CONFIG_PREEMPT_RT=y\n" in lab.store.path(build.config).read_bytes()
        assert build.compiler.startswith("gcc")
        assert build.seconds > 0
        assert not build.reused

    def test_another_layout_is_another_kernel_of_its_own_directory(self, toy, lab):
        plain = lab.build(toy, toy.first)
        moved = lab.build(toy, toy.first, variant="layout-1")
        assert moved.ok
        assert moved.signature != plain.signature
        assert lab.space(variant="layout-1").root != lab.space().root
        assert lab.build(toy, toy.first, variant="layout-1").reused
        assert lab.build(toy, toy.first).signature == plain.signature

    def test_every_layout_is_another_kernel(self, toy, lab):
        wanted = ("", *ALIGNMENTS)
        builds = [lab.build(toy, toy.first, variant=variant) for variant in wanted]
        assert [build.first_error for build in builds] == [""] * len(builds)
        assert len(ALIGNMENTS) == len(set(ALIGNMENTS.values())) == PROOF_LAYOUTS[-1]
        assert len({build.signature for build in builds}) > 4

    def test_an_unknown_variant_is_a_failed_build(self, toy, lab):
        build = lab.build(toy, toy.first, variant="layout-99")
        assert not build.ok
        assert "layout-99" in build.first_error

    def test_release_and_image_do_not_name_the_revision(self, toy, lab):
        build = lab.build(toy, toy.first)
        assert build.release == "6.12.0-toy"
        assert b"(rtbisect@rtbisect) #1 Sun Sep" in lab.store.path(build.kernel).read_bytes()

    def test_records_its_process_groups(self, toy, lab):
        lab.build(toy, toy.first)
        assert len(lab.notes) >= 4
        assert all(note.startswith("pgid:") and int(note[5:]) > 1 for note in lab.notes)

    def test_leaves_no_mark_and_no_modules_archive_when_there_are_none(self, toy, lab):
        build = lab.build(toy, toy.first)
        assert build.modules == ""
        assert not lab.space().is_dirty


class TestReuse:
    def test_same_tree_under_another_name_is_not_built(self, toy, lab):
        one = lab.build(toy, toy.first)
        lab.notes.clear()
        again = toy.commit()
        two = lab.build(toy, again)
        assert two.reused
        assert lab.notes == []
        assert (two.revision, two.signature, two.kernel) == (again, one.signature, one.kernel)

    def test_fresh_starts_from_nothing(self, toy, lab):
        one = lab.build(toy, toy.first)
        left = lab.space().out / "left"
        left.write_text("")
        two = lab.build(toy, toy.first, fresh=True)
        assert not two.reused
        assert not left.exists()
        assert two.signature == one.signature

    def test_lost_artefacts_are_built_again(self, toy, lab):
        one = lab.build(toy, toy.first)
        lab.store.path(one.kernel).unlink()
        two = lab.build(toy, toy.first)
        assert not two.reused
        assert lab.store.path(two.kernel).is_file()

    @pytest.mark.parametrize("where", ["fs/eventpoll.c", "include/linux/toy.h", "fs/more.c"])
    def test_no_object_holds_bytes_of_another_revision(self, toy, lab, where):
        directive = 'asm(".pushsection .rodata\\n.incbin \\"/build/src/blob\\"\\n.popsection");\n'
        if where == "fs/more.c":
            toy.change("fs/eventpoll.c", "#include", '#include "more.c"\n#include')
        with (toy.path / where).open("a") as stream:
            stream.write(directive)
        for text in (b"one of two", b"two of two"):
            (toy.path / "blob").write_bytes(text)
            build = lab.build(toy, toy.commit(), fresh=True)
            assert text in lab.store.path(build.kernel).read_bytes()

    def test_only_what_changed_is_compiled(self, toy, lab):
        lab.build(toy, toy.first)
        out = lab.space().out
        names = ("init/main.o", ".config", "fs/eventpoll.o")
        before = [(out / name).stat().st_mtime_ns for name in names]
        lab.build(toy, toy.change("fs/eventpoll.c", "64 : events", "62 : events"))
        after = [(out / name).stat().st_mtime_ns for name in names]
        assert [a == b for a, b in zip(before, after, strict=True)] == [True, True, False]

    def test_a_changed_kconfig_is_asked_again(self, toy, lab):
        lab.build(toy, toy.first)
        new = toy.change("Kconfig", "config EPOLL", "config NEWS\n\tdefault y\nconfig EPOLL")
        build = lab.build(toy, new)
        assert b"CONFIG_NEWS=y" in lab.store.path(build.config).read_bytes()

    def test_another_source_directory_gets_new_objects(self, toy, lab, tmp_path):
        lab.build(toy, toy.first)
        left = lab.space().out / "left"
        left.write_text("")
        (tmp_path / "second").mkdir()
        other = Toy(tmp_path / "second")
        build = lab.build(other, other.change("fs/eventpoll.c", "64 : e", "61 : e"))
        assert build.ok
        assert not left.exists()

    def test_dirty_objects_are_thrown_away(self, toy, lab):
        lab.build(toy, toy.first)
        left = lab.space().out / "left"
        left.write_text("")
        lab.space().mark("interrupted")
        build = lab.build(toy, toy.change("fs/eventpoll.c", "64 : e", "60 : e"))
        assert build.ok
        assert not left.exists()
        assert not lab.space().is_dirty


class TestASourceThatMoves:
    """Objects of two revisions are nobody's kernel."""

    @staticmethod
    def _moved_at(toy: Toy, revision: str, number: int) -> Callable[[str], None]:
        """A note that puts the work tree at `revision` before command `number` of a build."""
        notes: list[str] = []

        def note(text: str) -> None:
            notes.append(text)
            if len(notes) == number:
                toy._git("checkout", "-q", "--detach", revision)

        return note

    def test_a_build_of_it_is_no_result_and_its_objects_are_not_used_again(self, toy, lab):
        other = toy.change("fs/eventpoll.c", "64 : e", "55 : e")
        wanted = toy.back()
        with pytest.raises(InfrastructureError, match="moved to another revision"):
            lab.build(toy, wanted, self._moved_at(toy, other, 4))
        assert lab.space().is_dirty
        toy._git("checkout", "-q", "main")
        build = lab.build(toy, wanted)
        assert build.ok
        assert not build.reused
        assert not lab.space().is_dirty

    def test_nor_is_a_failure_of_it_the_revisions(self, toy, lab):
        broken = toy.change("fs/eventpoll.c", "return events", "return evnts")
        wanted = toy.back()
        with pytest.raises(InfrastructureError, match="moved to another revision"):
            lab.build(toy, wanted, self._moved_at(toy, broken, 4))
        assert lab.space().is_dirty

    @pytest.mark.parametrize("as_root", [os.geteuid() == 0, False])
    def test_its_lock_is_held_by_the_sandbox_and_by_nobody_in_it(
        self, toy, tmp_path, monkeypatch, as_root
    ):
        """As root and as a service user, whose programs have the uid of the shell."""
        monkeypatch.setattr(KernelBuilder, "_sandbox", _as_user(KernelBuilder._sandbox, as_root))
        if not as_root:
            make = partial(Path.mkdir, parents=True, exist_ok=True)
            monkeypatch.setattr(Workspace, "_make", lambda _space, folder: make(folder))
        slow = toy.recipe(
            f'readlink /proc/[0-9]*/fd/*; python3 -c "{_ATTACH}"; echo > /build/out/started;'
            " while test ! -e /build/out/go; do sleep 0.1; done"
        )
        # A shell that is traced stands still: the limit ends it.
        lab = Lab(tmp_path / "lab", timeout_s=60.0)
        holders: list[list[str]] = []

        def look() -> None:
            if soon((lab.space().out / "started").exists):
                holders.append(_holders(place))
            (lab.space().out / "go").touch()

        place = toy.path.with_name("tree.lock")
        with locks.hold(place) as lock:
            watcher = threading.Thread(target=look)
            watcher.start()
            build = lab.build(toy, slow, lock=lock)
            watcher.join()
        assert build.first_error == ""
        # The shell that is process 1.
        assert [Path(words[0]).name for words in holders[0]] == ["bash"]
        said = lab.said()
        assert "attached -1 1" in said
        assert "tree.lock" not in said


class TestOtherTools:
    @staticmethod
    def _upgraded(name: str, monkeypatch) -> None:
        whole = toolchain.look

        def look(compiler: str) -> str:
            lines = whole(compiler).splitlines()
            return "\n".join(f"{each}.1" if each.startswith(f"{name}:") else each for each in lines)

        monkeypatch.setattr(toolchain, "look", look)

    @pytest.mark.parametrize("name", ["as", "flex", "pahole"])
    def test_neither_records_nor_objects_of_others_are_used(self, toy, lab, monkeypatch, name):
        before = lab.build(toy, toy.first)
        left = lab.space().out / "left"
        left.write_text("")
        self._upgraded(name, monkeypatch)
        build = lab.build(toy, toy.first)
        assert not build.reused
        assert not left.exists()
        assert build.tools != before.tools
        assert lab.build(toy, toy.first).reused

    def test_an_upgrade_during_a_build_is_no_result(self, toy, lab, monkeypatch):
        with pytest.raises(InfrastructureError, match=r"ld was .*, is "):
            lab.build(toy, toy.first, lambda _text: self._upgraded("ld", monkeypatch))
        assert lab.space().is_dirty


class TestWhatSomebodyHasSent:
    def test_nothing_of_one_reaches_another_or_ours(self, toy, lab):
        place = lab.root / "build-foreign"

        def theirs(revision: str) -> KernelBuilder:
            root = own_folder(place, revision)
            return KernelBuilder(replace(lab.settings, root=root), lab.store)

        lab.builder = IsolatedBuilder(lab.builder, theirs, lambda sha: sha != toy.first)
        ours = lab.build(toy, toy.first)
        # No make finds a source that is newer.
        left = "cp init/version.o fs/eventpoll.o; touch -d 2037-01-01 fs/eventpoll.o"
        one = toy.recipe(f"{left}; chmod 0 /build/ccache")
        assert lab.build(toy, one).foreign
        toy.back()
        two = toy.change("fs/eventpoll.c", "64 : e", "58 : e")
        build = lab.build(toy, two)
        assert (build.first_error, build.foreign) == ("", True)
        assert build.signature != ours.signature
        assert [each.name for each in place.iterdir()] == [two]
        again = lab.build(toy, toy._git("rev-parse", "HEAD"))
        assert again.reused
        assert not ours.foreign


#: Become the tracer of process 1: what it gave, and the error (1: not permitted).
_ATTACH = (
    "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " print('attached', c.ptrace(16, 1, 0, 0), ctypes.get_errno(), flush=True)"
)


def _as_user(whole, as_root):
    return lambda *args: replace(whole(*args), as_root=as_root)


def _holders(lock: Path) -> list[list[str]]:
    """Command lines of the other processes that have a file open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            links = [str(each.readlink()) for each in (process / "fd").iterdir()]
            if str(lock) in links and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_bytes().decode().split("\0"))
    return found
