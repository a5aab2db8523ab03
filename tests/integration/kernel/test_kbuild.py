# SPDX-License-Identifier: GPL-2.0-or-later
"""The builder on a kernel tree in miniature: real make, gcc, ccache, git and bubblewrap."""

import contextlib
import dataclasses
import gzip
import io
import os
import shutil
import signal
import socket
import tarfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rtbisect.campaign.builders import IsolatedBuilder, own_folder
from rtbisect.errors import BusyError, ConfigError, InfrastructureError, InternalError
from rtbisect.kernel import blame, toolchain
from rtbisect.kernel.bounds import Bounds
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import ALIGNMENTS, BuildSettings
from rtbisect.kernel.workspace import Workspace, directory_name
from rtbisect.model.code import PROOF_LAYOUT, Build, BuildRequest, BuildStatus, Checkout
from rtbisect.process import command, locks
from rtbisect.store.artefacts import ArtefactStore

NEEDED = ("bwrap", "gcc", "make", "ccache", "ld", "git")
pytestmark = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in NEEDED), reason=f"needs {', '.join(NEEDED)}"
)

TOY = Path(__file__).parents[2] / "data" / "toykernel"
FRAGMENT = "CONFIG_EXPERT=y\nCONFIG_PREEMPT_RT=y\nCONFIG_EPOLL=y\nCONFIG_MODULES=y\n"
BOUNDS = Bounds(memory_bytes=384 << 20, disk_bytes=64 << 20, file_bytes=48 << 20)
HOG = "import time; x = bytearray(90 << 20); time.sleep(1000)"
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


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab")


def members(lab: Lab, build: Build) -> dict[str, bytes]:
    data = gzip.decompress(lab.store.path(build.modules).read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {item.name: tar.extractfile(item).read() for item in tar.getmembers()}


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
        builds = [lab.build(toy, toy.first, variant=variant) for variant in ("", *ALIGNMENTS)]
        assert [build.first_error for build in builds] == [""] * len(builds)
        assert len(ALIGNMENTS) == PROOF_LAYOUT
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


class TestSignature:
    def test_equal_for_two_object_directories(self, toy, lab, tmp_path):
        other = Lab(tmp_path / "other")
        one, two = lab.build(toy, toy.first), other.build(toy, toy.first)
        assert (one.signature, one.kernel) == (two.signature, two.kernel)
        assert not two.reused

    def test_a_comment_changes_debug_information_but_not_the_signature(self, toy, lab):
        fields = {"fragments": (FRAGMENT, "CONFIG_DEBUG_INFO=y\n")}
        one = lab.build(toy, toy.first, **fields)
        vmlinux = lab.space(**fields).out / "vmlinux"
        before = vmlinux.read_bytes()
        two = lab.build(toy, toy.change("fs/eventpoll.c", "/* Events", "/*\n * Events"), **fields)
        assert vmlinux.read_bytes() != before
        assert one.signature == two.signature
        assert not two.reused

    def test_code_changes_it(self, toy, lab):
        one = lab.build(toy, toy.first)
        two = lab.build(toy, toy.change("fs/eventpoll.c", "64 : events", "63 : events"))
        assert one.signature != two.signature

    def test_a_moved_warning_changes_it(self, toy, lab):
        one = lab.build(toy, toy.first)
        two = lab.build(toy, toy.change("kernel/rcu.c", "int sync", "/* why */\nint sync"))
        assert one.signature != two.signature

    def test_modules_and_boot_line_change_it(self, toy, lab, tmp_path):
        bare = lab.build(toy, toy.first)
        more = lab.build(toy, toy.first, modules=MODULE)
        isolated = Lab(tmp_path / "isolated", boot_line="isolcpus=2-7").build(toy, toy.first)
        assert len({bare.signature, more.signature, isolated.signature}) == 3
        assert bare.kernel == isolated.kernel

    def test_what_a_module_calls_changes_it(self, toy, lab):
        fields = {"fragments": (FRAGMENT, "CONFIG_SCALE=m\n")}
        one = lab.build(toy, toy.first, **fields)
        two = lab.build(toy, toy.change("kernel/scale.c", "synchronize_rcu", "ep_poll"), **fields)
        assert one.kernel == two.kernel
        assert one.signature != two.signature

    def test_a_module_that_is_no_longer_built_is_not_in_it(self, toy, lab, tmp_path):
        fields = {"fragments": (FRAGMENT, "CONFIG_SCALE=m\n"), "modules": MODULE}
        assert len(members(lab, lab.build(toy, toy.first, **fields))) == 2
        later = toy.change("Makefile", "$(filter m,$(CONFIG_SCALE))", "")
        build, other = lab.build(toy, later, **fields), Lab(tmp_path / "other")
        assert (lab.space(**fields).out / "kernel" / "scale.ko").exists()
        assert set(members(lab, build)) == {"opt/rtbisect/modules/probe.ko"}
        assert build.signature == other.build(toy, later, **fields).signature


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
            if _soon((lab.space().out / "started").exists):
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


class TestAKernelThatDoesNotBuild:
    def test_compiler_error_is_a_value_and_the_objects_stay(self, toy, lab):
        lab.build(toy, toy.first)
        left = lab.space().out / "left"
        left.write_text("")
        broken = toy.change("fs/eventpoll.c", "return events", "return evnts")
        build = lab.build(toy, broken)
        assert build.status is BuildStatus.FAILED
        assert build.first_error.startswith("fs/eventpoll.c:7:16: error: 'evnts' undeclared")
        assert (build.signature, build.kernel, build.modules) == ("", "", "")
        assert left.exists()
        assert not lab.space().is_dirty
        assert lab.build(toy, toy.back()).ok

    def test_is_tried_again_not_remembered(self, toy, lab):
        broken = toy.change("fs/eventpoll.c", "return events", "return evnts")
        assert not lab.build(toy, broken).ok
        lab.notes.clear()
        assert not lab.build(toy, broken).ok
        assert lab.notes

    def test_linker_error(self, toy, lab):
        build = lab.build(toy, toy.change("fs/eventpoll.c", "int ep_poll(", "int ep_pull("))
        assert build.status is BuildStatus.FAILED
        assert "undefined reference to `ep_poll'" in build.first_error

    def test_kconfig_error(self, toy, lab):
        build = lab.build(toy, toy.change("Kconfig", "config EPOLL", "confg EPOLL"))
        assert build.status is BuildStatus.FAILED
        assert build.first_error == "Kconfig:9: syntax error"

    def test_a_dropped_option_once_another_revision_had_it(self, toy, lab):
        assert lab.build(toy, toy.first).ok
        without = toy.change("Kconfig", "config EPOLL\n\tdefault n\n", "")
        for _ in ("at first", "with the objects thrown away"):
            build = lab.build(toy, without, fresh=True)
            assert build.status is BuildStatus.FAILED
            assert build.first_error == "CONFIG_EPOLL: asked y, found n"
            assert not lab.space().is_dirty
        assert lab.build(toy, toy.back()).ok

    def test_timeout_throws_the_objects_away(self, toy, tmp_path):
        hasty, lab = Lab(tmp_path / "lab", timeout_s=3.0), Lab(tmp_path / "lab")
        slow = toy.recipe("sleep 100")
        build = hasty.build(toy, slow)
        assert build.first_error == "the build ran into its timeout of 3 s"
        assert lab.space().is_dirty
        assert lab.build(toy, toy.back()).ok
        assert not lab.space().is_dirty

    def test_a_killed_rtbisect_takes_the_build_with_it(self, toy, lab):
        mark = f"7{os.getpid()}.25"
        slow = toy.recipe(f"echo started > /build/out/started; sleep {mark}")
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                lab.build(toy, slow)
            os._exit(1)
        assert _soon((lab.space().out / "started").exists)
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert _soon(lambda: not _processes(mark))
        assert lab.space().is_dirty
        assert lab.build(toy, toy.back()).ok
        assert not (lab.space().out / "started").exists()


class TestWhoHasToAct:
    def test_dropped_options_are_named(self, toy, lab):
        fragments = ("CONFIG_EXPERT=n\nCONFIG_PREEMPT_RT=y\nCONFIG_EPOLLL=y\nCONFIG_EPOLL=y\n",)
        with pytest.raises(ConfigError) as caught:
            lab.build(toy, toy.first, fragments=fragments)
        assert "CONFIG_PREEMPT_RT: asked y, found n" in caught.value.message
        assert "CONFIG_EPOLLL: asked y, found n" in caught.value.message
        assert "CONFIG_EPOLL:" not in caught.value.message
        with pytest.raises(ConfigError):
            lab.build(toy, toy.first, fragments=fragments)

    def test_our_module_does_not_fit(self, toy, lab):
        modules = (("probe.c", "#include <linux/gone.h>\n"),)
        with pytest.raises(ConfigError) as caught:
            lab.build(toy, toy.first, modules=modules)
        assert caught.value.message == (
            f"the suite's module (probe.c) does not build at {toy.first[:12]}:"
            " probe.c:1:10: fatal error: linux/gone.h: No such file or directory"
        )
        assert "test plan" in caught.value.hint
        assert not lab.space().is_dirty
        assert lab.build(toy, toy.first, modules=MODULE).ok

    def test_later_fragments_win(self, toy, lab):
        fragments = (FRAGMENT, "# CONFIG_EPOLL is not set\nCONFIG_NR_CPUS=8\n")
        build = lab.build(toy, toy.first, fragments=fragments)
        config = lab.store.path(build.config).read_text()
        assert "# CONFIG_EPOLL is not set\n" in config
        assert "CONFIG_NR_CPUS=8\n" in config

    def test_a_module_without_modules(self, toy, lab):
        with pytest.raises(ConfigError, match="CONFIG_MODULES"):
            lab.build(toy, toy.first, fragments=("CONFIG_EPOLL=y\n",), modules=MODULE)

    def test_missing_host_tool(self, toy, lab, monkeypatch):
        monkeypatch.setattr(blame, "_PROGRAMS", ())
        broken = toy.change(
            "Makefile",
            "bzImage: $",
            "bzImage:\n\t@echo '/bin/sh: 1: flex: not found'; exit 1\nx: $",
        )
        with pytest.raises(ConfigError, match="apt-get install flex"):
            lab.build(toy, broken)

    def test_full_disk_is_no_verdict(self, toy, lab, monkeypatch):
        monkeypatch.setattr(blame.Machine, "disk_full", lambda _self: True)
        full = "cc1: fatal error: error writing to /tmp/a.s: No space left on device"
        broken = toy.change("Makefile", "bzImage: $", f"bzImage:\n\t@echo '{full}'; exit 1\nx: $")
        with pytest.raises(InfrastructureError, match="No space left") as caught:
            lab.build(toy, broken)
        assert caught.value.retryable
        assert lab.space().is_dirty

    def test_unclean_source(self, toy, lab):
        (toy.path / ".config").write_text("")
        with pytest.raises(ConfigError, match="not clean"):
            lab.build(toy, toy.first)

    def test_locks(self, toy, lab):
        with (
            locks.hold(lab.settings.machine_lock),
            pytest.raises(BusyError, match="this machine"),
        ):
            lab.build(toy, toy.first)
        with lab.space().hold(0), pytest.raises(BusyError, match="build directory"):
            lab.build(toy, toy.first)
        assert lab.build(toy, toy.first).ok

    def test_wrong_checkout_and_unknown_revision(self, toy, lab):
        toy.change("fs/eventpoll.c", "64 : e", "59 : e")
        with pytest.raises(InternalError, match="not checked out"):
            lab.build(toy, toy.first)
        with pytest.raises(ConfigError, match="does not know"):
            lab.build(toy, "0" * 40)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root builds as somebody else")
    def test_source_that_the_build_user_cannot_read(self, toy, lab):
        toy.path.chmod(0o700)
        with pytest.raises(ConfigError, match="umask 022"):
            lab.build(toy, toy.first)

    def test_base_is_a_configuration_target_only(self, toy, lab):
        with pytest.raises(ConfigError, match="tinyconfig"):
            lab.build(toy, toy.first, base="install -config")


class TestHostileTree:
    """What a tree brings is run; it must not reach anything, and the next build works."""

    def test_environment_of_the_caller_changes_nothing(self, toy, lab, tmp_path, monkeypatch):
        one = lab.build(toy, toy.first)
        for name, value in (
            ("MAKEFLAGS", "-n"),
            ("ARCH", "arm"),
            ("KCFLAGS", "-O0"),
            ("CROSS_COMPILE", "none-"),
            ("LOCALVERSION", "-mine"),
            ("KBUILD_BUILD_USER", "me"),
        ):
            monkeypatch.setenv(name, value)
        two = Lab(tmp_path / "other").build(toy, toy.first)
        assert two.first_error == ""
        assert (two.signature, two.release) == (one.signature, one.release)

    def test_cannot_read_home_or_history(self, toy, lab, tmp_path, monkeypatch):
        home = tmp_path / "home"
        home.mkdir()
        (home / "secret").write_text("swordfish")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("TOKEN", "swordfish")
        sha = toy.recipe(
            f"id -u; cat {home}/secret $HOME/secret /etc/shadow /etc/passwd; env; ls -A /root"
            " /home /build/src/.git; cat /build/src/.git/config; echo end"
        )
        assert lab.build(toy, sha).ok
        said = lab.said()
        assert str(lab.space().uid if os.geteuid() == 0 else 65534) in said.splitlines()
        assert said.endswith("end\n")
        assert "swordfish" not in said
        assert "root:x" not in said
        assert "root:*" not in said
        assert "[core]" not in said
        assert lab.build(toy, toy.back()).ok

    def test_cannot_reach_a_socket(self, toy, lab, tmp_path):
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(0)
            port = server.getsockname()[1]
            sha = toy.recipe(
                f"bash -c 'echo hello > /dev/tcp/127.0.0.1/{port}';"
                f' python3 -c "import socket; socket.create_connection((\\"127.0.0.1\\", {port}))"'
            )
            assert lab.build(toy, sha).ok
            with pytest.raises(BlockingIOError):
                server.accept()
        assert "Connection refused" in lab.said() or "unreachable" in lab.said()

    def test_cannot_write_outside(self, toy, lab, tmp_path):
        places = (
            f"{tmp_path}/escape /build/src/escape /usr/escape /etc/escape /escape /build/escape"
            " /build/fragments/escape /dev/escape /root/escape"
        )
        sha = toy.recipe(
            f"for place in {places}; do if echo x > $place; then echo WROTE $place; fi; done;"
            " for knob in kernel/core_pattern vm/swappiness kernel/modprobe; do"
            " if test -w /proc/sys/$knob; then echo WROTE $knob; fi; done; echo end"
        )
        assert lab.build(toy, sha).ok
        said = lab.said()
        assert "WROTE" not in said
        assert said.endswith("end\n")
        assert not (tmp_path / "escape").exists()
        assert not (toy.path / "escape").exists()
        assert lab.build(toy, toy.back()).ok

    def test_leaves_no_process_behind(self, toy, lab):
        mark = f"6{os.getpid()}.25"
        sha = toy.recipe(f"setsid nohup sh -c 'sleep {mark}; touch /build/out/late' & echo started")
        assert lab.build(toy, sha).ok
        assert "started" in lab.said()
        assert _processes(mark) == []
        with lab.space().hold(0):
            pass

    @pytest.mark.parametrize(
        ("recipe", "line"),
        [
            ("echo 'cc1: error: x: No space left on device'", "x: No space left on device"),
            ("echo 'gcc: fatal error: Killed signal terminated program cc1'", "Killed signal"),
            ("echo 'cc1: out of memory allocating 65536 bytes'", "out of memory"),
            ("echo '/bin/sh: 1: flex: not found'", "flex: not found"),
            ("echo 'a.c:1:10: fatal error: libelf.h: No such file or directory'", "libelf.h"),
            ("kill -9 $$PPID", "make was ended by signal 9"),
            ("kill -15 $$PPID", "make was ended by signal 15"),
            ("dd if=/dev/zero of=/tmp/x bs=1M count=64", "No space left on device"),
        ],
        ids=["disk", "killed", "memory", "tool", "header", "kills make", "ends make", "fills tmp"],
    )
    def test_what_a_tree_says_of_this_machine_is_its_own_fault(self, toy, tmp_path, recipe, line):
        lab = Lab(tmp_path / "lab", bounds=dataclasses.replace(BOUNDS, tmp_bytes=8 << 20))
        broken = toy.change("Makefile", "bzImage: $", f"bzImage:\n\t@{recipe}; exit 1\nx: $")
        build = lab.build(toy, broken)
        assert build.status is BuildStatus.FAILED
        assert line in build.first_error
        assert lab.build(toy, toy.back()).ok

    def test_who_says_that_the_sandbox_is_broken_in_its_place(self, toy, lab):
        text = (toy.path / "Makefile").read_text()
        (toy.path / "Makefile").write_text(f"$(info bwrap: cannot)\n$(error stop)\n{text}")
        build = lab.build(toy, toy.commit())
        assert build.status is BuildStatus.FAILED
        assert "bwrap: cannot" in build.first_error
        assert lab.build(toy, toy.back()).ok

    @pytest.mark.parametrize(
        ("recipe", "line"),
        [
            (
                "cd /build/out; for i in 1 2 3 4 5 6 7 8; do head -c 15M /dev/zero > $i; done",
                "the build wrote more than its 64 MiB to the disk",
            ),
            (
                f"for i in 1 2 3 4 5 6; do python3 -c '{HOG}' & done; wait; sleep 1000",
                "the build took more than its 384 MiB of memory",
            ),
        ],
        ids=["disk", "memory"],
    )
    def test_a_build_that_exceeds_a_bound_has_failed(self, toy, tmp_path, recipe, line):
        lab = Lab(tmp_path / "lab", bounds=BOUNDS, timeout_s=120.0)
        build = lab.build(toy, toy.recipe(recipe))
        assert build.status is BuildStatus.FAILED
        assert build.first_error == line
        # What it wrote is gone at once: our own records lie on the same disk.
        assert not lab.space().out.exists()
        assert not lab.space().ccache.exists()
        assert lab.build(toy, toy.back()).ok

    def test_objects_that_grew_large_are_thrown_away(self, toy, tmp_path):
        lab = Lab(tmp_path / "lab", bounds=BOUNDS)
        assert lab.build(toy, toy.recipe("head -c 40M /dev/zero > /build/out/large")).ok
        assert (lab.space().out / "large").exists()
        assert lab.build(toy, toy.back()).ok
        assert not (lab.space().out / "large").exists()

    @pytest.mark.parametrize(
        "recipe",
        [
            "echo mine > /build/mod/probe.c",
            "ln -s /etc/passwd /build/mod/Kbuild",
            "mkdir /build/mod/probe.c",
            "mkfifo /build/mod/Kbuild",
        ],
    )
    def test_files_where_ours_are_written_are_its_own_fault(self, toy, lab, recipe):
        build = lab.build(toy, toy.recipe(recipe), modules=MODULE)
        assert build.status is BuildStatus.FAILED
        assert build.first_error.startswith("the build wrote to mod/")
        assert lab.build(toy, toy.back(), modules=MODULE).ok

    def test_links_are_not_followed(self, toy, lab, tmp_path):
        secret = tmp_path / "secret"
        secret.write_text("swordfish")
        link = f"ln -sf {secret} $(objtree)/arch/x86/boot/bzImage"
        linked = toy.change("Makefile", "-R .note.gnu.build-id $< $@", f"$< $@; {link}")
        build = lab.build(toy, linked)
        assert build.status is BuildStatus.FAILED
        assert build.first_error == ("arch/x86/boot/bzImage is or goes through a symbolic link")
        assert secret.read_text() == "swordfish"
        assert lab.build(toy, toy.back()).ok

    def test_vmlinux_that_is_no_elf_file(self, toy, lab):
        build = lab.build(toy, toy.change("Makefile", "-O binary -R", "-O binary -R .x -R"))
        assert build.ok
        text = "@echo no > $@"
        broken = toy.change("Makefile", "@$(LD) --build-id=sha1 -nostdlib", f"{text}; : ")
        broken = toy.change("Makefile", "@$(OBJCOPY) -O", "@cp $< $@; : -O")
        build = lab.build(toy, broken)
        assert build.status is BuildStatus.FAILED
        assert build.first_error == "vmlinux is not a readable ELF file"

    def test_objects_without_rights_can_be_thrown_away(self, toy, lab):
        sha = toy.recipe("mkdir -p /build/out/deep/er; chmod 0 /build/out/deep/er /build/out/deep")
        assert lab.build(toy, sha).ok
        assert lab.build(toy, toy.back(), fresh=True).ok
        assert not (lab.space().out / "deep").exists()


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


def _soon(true: Callable[[], bool], wait_s: float = 20.0) -> bool:
    deadline = time.monotonic() + wait_s
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _processes(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(str(path))
        except OSError:
            continue
    return found
