# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels whose functions get a new order by a link alone: real make, gcc and LLD."""

import shutil
from dataclasses import replace

import pytest

from helpers.toy_kernel import Lab, Toy, members, needs_tools, request
from rtbisect.errors import ConfigError
from rtbisect.kernel import relink
from rtbisect.kernel.bounds import Bounds
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import SLOTS
from rtbisect.kernel.workspace import Workspace, directory_name, slot_of
from rtbisect.model.code import RELINKED, Build, BuildStatus, Checkout, Linked
from rtbisect.process import command

pytestmark = [
    needs_tools,
    pytest.mark.skipif(not shutil.which(relink.LINKER), reason="needs lld"),
]
BOUNDS = Bounds(memory_bytes=512 << 20, disk_bytes=64 << 20, files=5000)
MODULES = ("CONFIG_SCALE=m\n",)
#: So many that an order drawn is hardly that of before.
MANY = "".join(f"int many_{n}(int more) {{ return more + {n}; }}\n" for n in range(12))

#: What is exported is searched by halves: the linker script sorts it by the names of sections.
EXPORTED = "".join(
    f'int key_{name} __attribute__((used, section("___ksymtab+{name}"))) = 1;\n' for name in "cab"
)
#: Data with the name of a function of another file.
TWIN = "static int many_0 __attribute__((used)) = 5;\n"


@pytest.fixture
def toy(tmp_path):
    """A kernel of many functions."""
    tree = Toy(tmp_path)
    for name, more in (("kernel/rcu.c", MANY + EXPORTED), ("fs/eventpoll.c", TWIN)):
        with (tree.path / name).open("a") as stream:
            stream.write(more)
    tree.first = tree.commit()
    return tree


def built(toy: Toy, lab: Lab, revision: str, **fields) -> Build:
    build = lab.build(toy, revision, variant=RELINKED, **fields)
    assert build.first_error == ""
    return build


def linked(toy: Toy, lab: Lab, build: Build, seed: int, **fields) -> Linked:
    asked = request(build.revision, variant=RELINKED, **fields)
    place = Checkout(toy.path)
    return lab.builder.link(place, asked, build, seed, lab.notes.append)


def slot(toy: Toy, lab: Lab, build: Build, **fields) -> Workspace:
    """The O= directory with the objects of a build."""
    name = directory_name(request("x", variant=RELINKED, **fields))
    tree = toy._git("rev-parse", f"{build.revision}^{{tree}}")
    return slot_of(lab.settings.root, name, tree, SLOTS)


def order(lab: Lab, space: Workspace, kinds: str = "tT") -> list[str]:
    """The functions by their addresses, or data."""
    words = ["nm", "-n", str(space.out / "vmlinux")]
    said = command.run(words, cwd=lab.root, timeout_s=60, check=True).stdout
    lines = [line.split() for line in said.splitlines()]
    return [line[2] for line in lines if line[1] in kinds]


class TestALink:
    def test_moves_functions_and_compiles_nothing(self, toy, lab):
        fragments = (*request("x").fragments, *MODULES)
        build = built(toy, lab, toy.first, fragments=fragments)
        space = slot(toy, lab, build, fragments=fragments)
        before, compiled = order(lab, space), (space.out / "kernel/rcu.o").stat().st_ino
        one = linked(toy, lab, build, 1, fragments=fragments)
        moved = order(lab, space)
        assert (one.error, sorted(moved)) == ("", sorted(before))
        assert moved != before
        data = [name for name in order(lab, space, "dDrR") if name.startswith("key_")]
        assert data == ["key_a", "key_b", "key_c"]
        names = relink.order(space.out / "vmlinux.o", 1).split()
        assert ("many_1" in names, "many_0" in names) == (True, False)
        assert one.build_id != build.build_id
        assert lab.store.path(one.kernel).stat().st_size > 100
        assert one.seconds > 0
        assert (space.out / "kernel/rcu.o").stat().st_ino == compiled
        assert list(members(lab, build)) == ["opt/rtbisect/modules/scale.ko"]

        # What stands there now is not taken for the build.
        shutil.rmtree(lab.settings.root / "records")
        again = built(toy, lab, toy.first, fragments=fragments)
        assert (again.reused, again.kernel) == (False, build.kernel)

    def test_one_seed_is_one_kernel_also_of_objects_that_are_made_again(self, toy, lab):
        build = built(toy, lab, toy.first)
        one = linked(toy, lab, build, 7)
        shutil.rmtree(slot(toy, lab, build).root)
        again = linked(toy, lab, build, 7)
        assert (one.error, one.kernel, one.build_id) == ("", again.kernel, again.build_id)

    def test_objects_of_the_tree_that_other_flags_made_are_not_those_of_the_build(self, toy, lab):
        build = built(toy, lab, toy.first)
        space = slot(toy, lab, build)
        space._write_stamp(space.stamp() | {"signature": "another"})
        lab.notes.clear()
        assert linked(toy, lab, build, 7).error == ""
        compiled_and_linked = len(lab.notes)
        lab.notes.clear()
        assert linked(toy, lab, build, 8).error == ""
        assert len(lab.notes) < compiled_and_linked

    def test_equal_kernels_are_known_before_it_and_keep_their_objects(self, toy, lab):
        before = built(toy, lab, toy.first)
        old = slot(toy, lab, before)
        compiled = (old.out / "kernel/rcu.o").stat().st_ino
        comment = toy.change(
            "kernel/rcu.c", "int synchronize_rcu", "/* more */ int synchronize_rcu"
        )
        after = built(toy, lab, comment)
        assert (after.reused, after.signature, after.kernel) == (
            False,
            before.signature,
            before.kernel,
        )
        toy._git("checkout", "-q", toy.first)
        assert linked(toy, lab, before, 4).error == ""
        assert (old.out / "kernel/rcu.o").stat().st_ino == compiled
        assert slot(toy, lab, after).root != old.root


class TestRoomAndTime:
    @pytest.fixture
    def built_by(self, toy, tmp_path):
        """A builder of these settings, a build by it, and its O= directory."""

        def build_by(**settings):
            lab = Lab(tmp_path / "lab", **settings)
            build = built(toy, lab, toy.first)
            return lab, build, slot(toy, lab, build)

        return build_by

    def test_objects_that_grew_large_stay_for_the_links(self, toy, built_by):
        lab, build, space = built_by(bounds=BOUNDS)
        compiled = (space.out / "kernel/rcu.o").stat().st_ino
        (space.out / "large").write_bytes(bytes(40 << 20))
        assert linked(toy, lab, build, 2).error == ""
        assert (space.out / "kernel/rcu.o").stat().st_ino == compiled

    def test_a_link_that_fills_the_disk_gives_its_room_back(self, toy, built_by):
        lab, build, space = built_by(bounds=BOUNDS)
        (space.out / "large").write_bytes(bytes(80 << 20))
        assert linked(toy, lab, build, 2).error
        assert not space.out.exists()
        assert linked(toy, lab, build, 2).error == ""

    def test_a_link_has_its_time_for_itself(self, toy, built_by, monkeypatch):
        lab, build, space = built_by()
        shutil.rmtree(space.root)
        deadlines = []
        run = KernelBuilder._run

        def noted(self, task, argv):
            deadlines.append(task.deadline_s)
            run(self, task, argv)

        monkeypatch.setattr(KernelBuilder, "_run", noted)
        assert linked(toy, lab, build, 2).error == ""
        assert len(set(deadlines[:-1])) == 1
        assert deadlines[-1] > deadlines[0]


class TestWhatCannotBeLinkedAnew:
    def test_functions_that_stay(self, toy, lab):
        build = built(toy, lab, toy.change("Makefile", "$(CFLAGS_KERNEL) ", ""))
        with pytest.raises(ConfigError, match=r"build\.layout"):
            linked(toy, lab, build, 2)

    def test_a_linker_script_that_leaves_functions_aside(self, toy, lab):
        script = toy.path / "arch/x86/kernel/vmlinux.lds.S"
        script.write_text(script.read_text().replace("CONFIG_LTO_CLANG", "LATER"))
        with pytest.raises(ConfigError, match=r"section each \(\.text\.\w+ is left"):
            lab.build(toy, toy.commit(), variant=RELINKED)

    def test_a_link_that_fails_is_a_value(self, toy, lab):
        rule = "$(objtree)/vmlinux: $(call obj-of,$(objs)) $(objtree)/$(lds)\n"
        fails = "{ echo 'ld.lld: error: no room'; exit 1; }"
        broken = f"{rule}\t@test ! -e /build/fragments/order || {fails}\n"
        build = built(toy, lab, toy.change("Makefile", rule, broken))
        failed = linked(toy, lab, build, 2)
        assert "no room" in failed.error
        assert (failed.kernel, failed.build_id) == ("", "")

    def test_code_that_is_another_when_it_is_compiled_again(self, toy, lab):
        build = replace(built(toy, lab, toy.first), signature="of before")
        assert replace(linked(toy, lab, build, 2), seconds=0.0) == Linked()

    def test_a_configuration_with_lto(self, toy, lab):
        with (toy.path / "Kconfig").open("a") as stream:
            stream.write("config LTO_CLANG_THIN\n\tdefault y\n")
        with pytest.raises(ConfigError, match="CONFIG_LTO_CLANG_THIN"):
            lab.build(toy, toy.commit(), variant=RELINKED)

    def test_other_tools_than_those_that_built(self, toy, lab):
        older = Build(
            revision=toy.first, config_name="toy", status=BuildStatus.OK, tools="gcc: gcc 1.0"
        )
        with pytest.raises(ConfigError, match=r"gcc was gcc 1\.0"):
            linked(toy, lab, older, 2)
