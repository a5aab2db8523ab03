# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that do not build, and what is somebody else's to mend."""

import contextlib
import os
import signal

import pytest

from helpers.toy_kernel import FRAGMENT, MODULE, Lab, needs_tools, processes, soon
from rtbisect.errors import BusyError, ConfigError, InfrastructureError, InternalError
from rtbisect.kernel import blame
from rtbisect.model.code import BuildStatus
from rtbisect.process import locks

pytestmark = needs_tools


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
        assert soon((lab.space().out / "started").exists)
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert soon(lambda: not processes(mark))
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
        monkeypatch.setattr(blame.MachineState, "disk_full", lambda _self: True)
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
