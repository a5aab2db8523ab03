# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes two kernels one kernel."""

from helpers.toy_kernel import FRAGMENT, MODULE, Lab, members, needs_tools

pytestmark = needs_tools


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
