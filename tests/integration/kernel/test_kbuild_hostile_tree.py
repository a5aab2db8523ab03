# SPDX-License-Identifier: GPL-2.0-or-later
"""What a tree brings is run; it must not reach anything, and the next build works."""

import dataclasses
import os
import socket

import pytest

from helpers.toy_kernel import MODULE, Lab, needs_tools, processes
from rtbisect.kernel.bounds import Bounds
from rtbisect.model.code import BuildStatus

pytestmark = needs_tools

BOUNDS = Bounds(memory_bytes=384 << 20, disk_bytes=64 << 20, file_bytes=48 << 20)
HOG = "import time; x = bytearray(90 << 20); time.sleep(1000)"


class TestHostileTree:
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
        assert processes(mark) == []
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
