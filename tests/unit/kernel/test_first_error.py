# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs in the words of the tools that write them."""

import pytest

from rtbisect.kernel.first_error import HOST_TOOLS, Owner, find

GCC = """\
/build/src/fs/eventpoll.c: In function 'ep_poll_callback':
/build/src/fs/eventpoll.c:1182:9: warning: unused variable 'x' [-Wunused-variable]
/build/src/fs/eventpoll.c:1190:27: error: 'struct eventpoll' has no member named 'lock'
 1190 |         spin_lock_irqsave(&ep->lock, flags);
      |                           ^~
/build/src/fs/eventpoll.c:1201:9: error: too few arguments to function 'ep_unlock'
make[4]: *** [/build/src/scripts/Makefile.build:229: fs/eventpoll.o] Error 1
make[3]: *** [/build/src/scripts/Makefile.build:478: fs] Error 2
make: *** [Makefile:224: __sub-make] Error 2
"""
LD = """\
ld: vmlinux.o: in function `ep_poll':
eventpoll.c:(.text+0x1b3f20): undefined reference to `ep_busy_loop'
make[2]: *** [/build/src/scripts/Makefile.vmlinux:34: vmlinux] Error 1
"""
LD_SCRIPT = """\
ld: section .init.text LMA [0000000001000000,000000000102ffff] overlaps section .data LMA [1]
make[2]: *** [vmlinux] Error 1
"""
MODPOST = """\
WARNING: modpost: missing MODULE_DESCRIPTION() in probe.o
ERROR: modpost: "synchronize_rcu" [/build/mod/probe.ko] undefined!
make[2]: *** [/build/src/scripts/Makefile.modpost:145: Module.symvers] Error 1
"""
KCONFIG = """\
init/Kconfig:1382: syntax error
init/Kconfig:1381: invalid statement
make[2]: *** [/build/src/scripts/kconfig/Makefile:85: olddefconfig] Error 1
"""
RECURSIVE = """\
error: recursive dependency detected!
\tsymbol A depends on B
make[1]: *** [/build/src/Makefile:733: olddefconfig] Error 2
"""
OBJTOOL = """\
vmlinux.o: error: objtool: ep_poll+0x10: unreachable instruction
make[2]: *** [vmlinux.o] Error 255
"""
ASSEMBLER = """\
/tmp/ccA1.s: Assembler messages:
/tmp/ccA1.s:91: Error: no such instruction: `movqq %rax,%rbx'
make[3]: *** [fs/eventpoll.o] Error 1
"""
NO_RULE = "make[3]: *** No rule to make target 'fs/gone.o', needed by 'fs/built-in.a'.  Stop.\n"
MAKEFILE = "/build/src/fs/Makefile:12: *** missing separator.  Stop.\nmake: *** [fs] Error 2\n"


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (GCC, "fs/eventpoll.c:1190:27: error: 'struct eventpoll' has no member named 'lock'"),
        (LD, "eventpoll.c:(.text+0x1b3f20): undefined reference to `ep_busy_loop'"),
        (LD_SCRIPT, LD_SCRIPT.splitlines()[0]),
        (MODPOST, 'ERROR: modpost: "synchronize_rcu" [probe.ko] undefined!'),
        (KCONFIG, "init/Kconfig:1382: syntax error"),
        (RECURSIVE, "error: recursive dependency detected!"),
        (OBJTOOL, "vmlinux.o: error: objtool: ep_poll+0x10: unreachable instruction"),
        (ASSEMBLER, "/tmp/ccA1.s:91: Error: no such instruction: `movqq %rax,%rbx'"),
        (NO_RULE, NO_RULE.strip()),
        (MAKEFILE, "fs/Makefile:12: *** missing separator.  Stop."),
        ("make: *** [Makefile:9: x] Error 1\n", "make: *** [Makefile:9: x] Error 1"),
        ("something odd\nthe last word\n\n", "the last word"),
        ("", "make failed and printed nothing"),
    ],
)
def test_the_trees_own_errors(log, line):
    found = find(log)
    assert (found.owner, found.line, found.package) == (Owner.TREE, line, "")


def test_position_decides_among_equals_not_the_parallel_make_noise():
    noise = "make[4]: *** [x] Error 1\n" * 3
    assert find(noise + GCC).line.startswith("fs/eventpoll.c:1190:27: error")


@pytest.mark.parametrize(
    "line",
    [
        "fatal error: error writing to /tmp/ccX.s: No space left on device",
        "/usr/bin/ld: final link failed: No space left on device",
        "ccache: error: Failed to write to /build/ccache/tmp/x: No space left on device",
        "/bin/sh: 1: echo: I/O error: No space left on device",
    ],
)
def test_a_full_disk(line):
    found = find(f"fs/a.c:1:1: {line}\nmake: *** [x] Error 1\n" + GCC)
    assert found.owner is Owner.DISK
    assert found.line.endswith("No space left on device")


@pytest.mark.parametrize(
    "line",
    [
        "gcc: fatal error: Killed signal terminated program cc1",
        "gcc: internal compiler error: Killed (program cc1)",
        "cc1: out of memory allocating 65536 bytes after a total of 1 bytes",
        "virtual memory exhausted: Cannot allocate memory",
        "ld: vmlinux.o: memory exhausted",
        "make[3]: *** [/build/src/scripts/Makefile.build:229: fs/eventpoll.o] Killed",
        "make[3]: *** [/build/src/scripts/Makefile.build:229: fs/eventpoll.o] Error 137",
    ],
)
def test_memory(line):
    assert find(f"{line}\nmake: *** [Makefile:1: x] Error 2\n").owner is Owner.MEMORY


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("/bin/sh: 1: flex: not found", "flex"),
        ("/bin/sh: line 3: bc: command not found", "bc"),
        ("/build/src/scripts/x.sh: 12: lz4: not found", "lz4"),
        ("make[2]: bison: No such file or directory", "bison"),
        ("scripts/mod/x.c:3:10: fatal error: gelf.h: No such file or directory", "libelf-dev"),
        (
            "certs/extract-cert.c:21:10: fatal error: openssl/bio.h: No such file or directory",
            "libssl-dev",
        ),
    ],
)
def test_a_missing_host_tool_names_its_package(line, package):
    found = find(f"{line}\nmake: *** [x] Error 127\n")
    assert (found.owner, found.package) == (Owner.TOOL, package)


@pytest.mark.parametrize(
    "line",
    [
        "/bin/sh: 1: ./scripts/gone.sh: not found",
        "/bin/sh: 1: ecoh: not found",
        "fs/a.c:1:10: fatal error: linux/gone.h: No such file or directory",
    ],
)
def test_what_the_tree_should_bring_is_its_own_fault(line):
    found = find(f"{line}\nmake: *** [x] Error 127\n")
    assert (found.owner, found.line) == (Owner.TREE, line)


def test_sandbox_and_unclean_source():
    assert find("bwrap: Can't find source path /x: No such file\n").owner is Owner.SANDBOX
    assert find("building\nbwrap: not the first line\n").owner is Owner.TREE
    unclean = "***\n*** The source tree is not clean, please run 'make ARCH=x86 mrproper'\n"
    assert find(unclean).owner is Owner.UNCLEAN


def test_foreign_bytes_become_one_short_printable_line():
    bell = "fs/a.c:1:1: error: \x1b[31mred\x07\udcff " + "x" * 5000
    line = find(bell + "\n").line
    assert len(line) == 200
    assert line.isprintable()
    assert line.startswith("fs/a.c:1:1: error: ?[31mred??")


def test_every_tool_has_a_debian_package():
    assert all(package.replace("-", "").isalnum() for package in HOST_TOOLS.values())
