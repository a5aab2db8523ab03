# SPDX-License-Identifier: GPL-2.0-or-later
"""Which linker can give functions a new order, and where a link stands in for a build."""

import os
import time

import pytest

from rtbisect.errors import ConfigError
from rtbisect.kernel import relink
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import SLOTS, VARIANT_FRAGMENTS, BuildSettings
from rtbisect.kernel.workspace import Workspace, slot_of
from rtbisect.model.code import RELINKED, WITHOUT_RT, layout_variant
from rtbisect.process import command

SAYS = "--symbol-ordering-file=<file>"


def program(place, text):
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)


class TestTheLinker:
    def test_one_that_can_do_it(self, tmp_path):
        program(tmp_path / relink.LINKER, f"echo '  {SAYS}  Order'")
        relink.check_linker(tmp_path)

    def test_one_that_cannot(self, tmp_path):
        program(tmp_path / relink.LINKER, "echo '  --section-start=<address>  Set'")
        with pytest.raises(ConfigError, match="cannot order"):
            relink.check_linker(tmp_path)

    def test_none(self, tmp_path):
        with pytest.raises(ConfigError, match=r"apt-get install lld"):
            relink.check_linker(tmp_path)


class TestTheWrapper:
    @pytest.fixture
    def call(self, tmp_path):
        """What the linker is called with for these words, beside a file with an order or none."""
        program(tmp_path / relink.LINKER, 'printf "%s\\n" "$@"')
        wrapper = tmp_path / relink.WRAPPER
        wrapper.write_text(relink.SCRIPT)

        def words(argv, *, ordered):
            if ordered:
                (tmp_path / relink.ORDER).write_text("one\n")
            env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
            done = command.run(["sh", str(wrapper), *argv], cwd=tmp_path, timeout_s=30, env=env)
            assert done.ok
            return done.stdout.replace(f"{tmp_path}/", "").splitlines()

        return words

    @pytest.mark.parametrize(
        "script",
        [
            ["--script=./arch/x86/kernel/vmlinux.lds"],
            ["-T", "./arch/x86/kernel/vmlinux.lds"],
        ],
    )
    def test_orders_functions_of_vmlinux(self, call, script):
        argv = [*script, "-o", "vmlinux", "a b.o"]
        assert call(argv, ordered=False) == argv
        more = ["--no-warn-symbol-ordering", f"--symbol-ordering-file={relink.ORDER}"]
        assert call(argv, ordered=True) == [*argv, *more]

    @pytest.mark.parametrize(
        "argv",
        [
            ["-T", "arch/x86/boot/compressed/vmlinux.lds", "-o", "x"],
            ["-r", "-o", "module.ko", "module.o"],
            ["--version"],
        ],
    )
    def test_leaves_all_other_links_alone(self, call, argv):
        assert call(argv, ordered=True) == argv


#: Sections of functions; from 65,280 on neither their count nor their numbers fit into the fields
#: that small objects have for them.
FUNCTIONS = 65_400


def test_an_order_has_each_function_that_moves_however_many(tmp_path):
    source = "".join(
        f'.section .text.f{n},"ax"\n.type f{n},@function\nf{n}: ret\n.size f{n},1\n'
        for n in range(FUNCTIONS)
    )
    source += ".text\n.type still,@function\nstill: ret\n.size still,1\n.set five,5\n"
    (tmp_path / "vmlinux.s").write_text(source)
    argv = ["as", "vmlinux.s", "-o", "vmlinux.o"]
    assert command.run(argv, cwd=tmp_path, timeout_s=120).ok
    one, other = (relink.order(tmp_path / "vmlinux.o", seed).splitlines() for seed in (1, 2))
    assert one != other
    assert sorted(one) == sorted(other) == sorted(f"f{n}" for n in range(FUNCTIONS))


class TestVariants:
    def test_the_kernel_without_rt_is_one(self):
        without = f"{RELINKED}+{layout_variant(WITHOUT_RT)}"
        assert VARIANT_FRAGMENTS[without] == VARIANT_FRAGMENTS[layout_variant(WITHOUT_RT)]
        assert all(map(relink.is_relinked, (RELINKED, without)))
        assert not any(map(relink.is_relinked, ("", "layout-1", layout_variant(WITHOUT_RT))))

    @pytest.mark.parametrize(
        ("option", "refused"),
        [("CONFIG_LTO_NONE", False), ("CONFIG_LTO_CLANG_FULL", True), ("CONFIG_LTO", True)],
    )
    def test_lto_leaves_nothing_to_move(self, option, refused):
        config = {"CONFIG_LTO_CLANG_THIN": "n", option: "y"}
        found = ""
        try:
            relink.check_config("tiny", config)
        except ConfigError as error:
            found = str(error)
        assert (option in found) is refused


class TestFolders:
    def space(self, root, number, tree=""):
        space = Workspace(root, f"tiny-{number}")
        with space.hold(0.0):
            space.out.mkdir()
            space.set_objects(tree)
        return space

    def test_an_empty_one_before_one_that_is_in_use(self, tmp_path):
        first = self.space(tmp_path, 1, "one")
        assert slot_of(tmp_path, "tiny", "one", SLOTS).root == first.root
        assert slot_of(tmp_path, "tiny", "two", SLOTS).used_ns == 0

    def test_the_one_that_was_used_longest_ago(self, tmp_path):
        spaces = [self.space(tmp_path, n, f"tree {n}") for n in range(1, SLOTS + 1)]
        for age, space in enumerate(spaces):
            os.utime(space.root / "lock", ns=(0, 1000 - age))
        assert slot_of(tmp_path, "tiny", "other", SLOTS).root == spaces[-1].root
        assert slot_of(tmp_path, "tiny", "tree 2", SLOTS).root == spaces[1].root

    def test_objects_in_motion_are_nobodys(self, tmp_path):
        space = self.space(tmp_path, 1, "one")
        space.mark("linking")
        assert space.objects == ""
        space.unmark()
        assert space.objects == "one"

    def test_settled_files_are_of_one_time_and_links_are_not_followed(self, tmp_path):
        space = self.space(tmp_path, 1)
        outside = tmp_path / "source.c"
        for place in (outside, space.out / "a.o", space.out / "b.o"):
            place.write_text("")
            os.utime(place, (1, 1))
        (space.out / "source").symlink_to(outside)
        before = time.time_ns()
        space.settle()
        times = {path.lstat().st_mtime_ns for path in space.out.iterdir()}
        assert len(times) == 1
        assert times.pop() >= before
        assert outside.stat().st_mtime == 1


def test_tools_have_the_linker_only_where_it_links(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("rtbisect.kernel.kbuild.toolchain.look", lambda *a, **kw: asked.append(kw))
    monkeypatch.setattr(
        "rtbisect.kernel.relink.check_linker", lambda _folder: asked.append("checked")
    )
    settings = BuildSettings(root=tmp_path, machine_lock=tmp_path / "lock")
    builder = KernelBuilder(settings, None)
    for variant in ("", RELINKED):
        builder._tools(type("Asked", (), {"variant": variant}))
    assert asked == [{}, "checked", {"linker": relink.LINKER}]
