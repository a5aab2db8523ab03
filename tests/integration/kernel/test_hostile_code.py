# SPDX-License-Identifier: GPL-2.0-or-later
"""What hostile code does in the real sandbox, with small bounds: with the control groups that this
machine has for us, and without any.
"""

import dataclasses
import errno
import os
import textwrap
import time
from pathlib import Path

import pytest

from rtbisect.kernel import bounds as counting
from rtbisect.kernel import cgroups, confined, seccomp
from rtbisect.kernel.bounds import Bounds
from rtbisect.kernel.sandbox import Sandbox
from rtbisect.kernel.settings import uid_of

#: Seconds that no command here needs; who runs into them has found a hole.
LONG_S = 120.0

BOUNDS = Bounds(
    memory_bytes=192 << 20,
    processes=60,
    disk_bytes=48 << 20,
    files=1500,
    tmp_bytes=8 << 20,
    file_bytes=16 << 20,
)

MEMORY = "the build took more than its 192 MiB of memory"
PROCESSES = "the build had more than its 60 processes"
DISK = "the build wrote more than its 48 MiB to the disk"


class Bench:
    """A sandbox with folders of its own."""

    def __init__(self, root: Path, *, grouped: bool, bounds: Bounds = BOUNDS) -> None:
        root.mkdir()
        for parent in (root, *root.parents[:2]):
            parent.chmod(parent.stat().st_mode | 0o055)
        self.root, self.grouped = root, grouped
        folders = [root / name for name in ("src", "out", "mod", "fragments", "ccache")]
        names = ("source", "out", "modules", "fragments", "ccache")
        uid = uid_of(root)
        for folder in folders:
            folder.mkdir()
            folder.chmod(0o755)
            if os.geteuid() == 0 and folder.name in {"out", "mod", "ccache"}:
                os.chown(folder, uid, uid)
        self.out = root / "out"
        self.box = Sandbox(**dict(zip(names, folders, strict=True)), bounds=bounds, uid=uid)
        self.log = root / "log"

    def run(self, shell: str, timeout_s: float = LONG_S) -> confined.Confined:
        return self.argv(["sh", "-c", shell], timeout_s)

    def python(self, text: str) -> confined.Confined:
        return self.argv(["python3", "-c", textwrap.dedent(text)], LONG_S)

    def argv(self, argv: list[str], timeout_s: float) -> confined.Confined:
        self.log.write_bytes(b"")
        return confined.run(
            self.box,
            argv,
            cwd=self.root,
            timeout_s=timeout_s,
            log=self.log,
            grouped=self.grouped,
        )

    def said(self) -> str:
        return self.log.read_text(errors="replace")


@pytest.fixture(params=[False, True], ids=["counted", "grouped"])
def bench(request, tmp_path):
    return Bench(tmp_path / "box", grouped=request.param)


def nothing_left(mark: str) -> bool:
    """Whether no process has `mark` on its command line; what was killed takes a moment."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        lines = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                lines.append(path.read_bytes())
            except OSError:
                continue
        if not any(mark.encode() in line for line in lines):
            return True
        time.sleep(0.05)
    return False


WRITES = 'open(f"/build/out/{i}", "wb").write(bytes(15 << 20))'
DEEP = 'os.mkdir("d" * 200), os.chdir("d" * 200)'
HOG = "x = bytearray(60 << 20); time.sleep(1000)"

HOSTILE = {
    "memory of many": (
        f"for i in 1 2 3 4 5 6; do python3 -c 'import time; {HOG}' & done; sleep 1000",
        MEMORY,
    ),
    "large files": ("for i in 1 2 3 4; do yes > /build/out/$i & done; wait; sleep 1000", DISK),
    "every folder": (
        "for i in out/a mod/a mod/b ccache/a; do yes | head -c 16M > /build/$i; done; sleep 1000",
        DISK,
    ),
    "a burst": (f"python3 -c 'for i in range(9): {WRITES}'", DISK),
    "small files": (
        "cd /build/out; python3 -c 'for i in range(5000): open(str(i), \"w\")'; sleep 1000",
        "the build left more than its 1500 files",
    ),
    "deep folders": (
        f"cd /build/out; python3 -c 'import os; [({DEEP}) for _ in range(100)]'; sleep 1000",
        "the build made folders too deep to be looked into",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_who_takes_too_much_is_ended_and_told(bench, name):
    shell, exceeded = HOSTILE[name]
    found = bench.run(shell)
    assert found.exceeded == exceeded
    assert not found.done.timed_out


@pytest.mark.parametrize("each", ["sleep 1000", "setsid sh -c 'sleep 1000 & sleep 1000'"])
def test_processes_are_bounded(bench, each):
    found = bench.run(f"for i in $(seq 200); do {each} & done; wait; sleep 1000")
    # Where nobody but the user's own limit counts, the shell gives up before anybody looks.
    assert found.exceeded == PROCESSES or "Cannot fork" in bench.said()
    assert not found.done.ok
    assert not found.done.timed_out


def test_a_fork_bomb_is_bounded(bench):
    mark = f"{os.getpid()}.125"
    found = bench.run(f"b() {{ b | b & }}; b; sleep 4; exec sleep {mark}", timeout_s=8.0)
    # A shell that is refused its first process gives up before anybody has to end it.
    assert found.exceeded or not found.done.ok
    assert nothing_left(mark)


def test_memory_of_one_process_is_bounded(bench):
    found = bench.python("""
        kept = []
        while True:
            kept.append(bytearray(8 << 20))
    """)
    assert found.exceeded == MEMORY or "MemoryError" in bench.said()
    assert not found.done.ok


def test_shared_memory_is_bounded(bench):
    found = bench.python("""
        import mmap, time
        for _ in range(8):
            mmap.mmap(-1, 60 << 20).write(bytes(60 << 20))
            globals().setdefault("kept", []).append(mmap.mmap(-1, 40 << 20))
            kept[-1].write(bytes(40 << 20))
        time.sleep(1000)
    """)
    assert found.exceeded == MEMORY or "MemoryError" in bench.said()
    assert not found.done.ok


def test_one_file_is_bounded(bench):
    found = bench.run("yes > /build/out/big")
    assert not found.done.ok
    assert (bench.out / "big").stat().st_size == BOUNDS.file_bytes


def test_a_log_is_bounded(bench):
    found = bench.run("yes; exit 1")
    assert not found.done.ok
    # The shell that waits, which is ours, has a last word.
    assert bench.log.stat().st_size <= BOUNDS.file_bytes + 200


def test_tmp_is_bounded_and_its_end_is_the_tree_s(bench):
    found = bench.run("yes > /tmp/big; stat -c %s /tmp/big; exit 1")
    assert found.done.returncode == 1
    assert "No space left" in bench.said()
    assert str(BOUNDS.tmp_bytes) in bench.said()


def test_who_sleeps_for_ever_ends_with_the_timeout(bench):
    mark = f"{os.getpid()}.375"
    found = bench.run(f"trap '' TERM; setsid sleep {mark} & sleep {mark}", timeout_s=1.0)
    assert found.done.timed_out
    assert nothing_left(mark)


def test_nothing_is_left_of_a_group(bench):
    assert bench.run("true").done.ok
    for parents in cgroups._parents():
        for parent in parents.values():
            assert not list(parent.glob(f"rtbisect-{os.getpid()}-*"))


def test_a_link_out_of_the_tree_is_not_followed_when_counting(bench):
    (bench.root / "elsewhere").mkdir()
    (bench.root / "elsewhere/big").write_bytes(os.urandom(1 << 20))
    assert bench.run(f"ln -s {bench.root}/elsewhere /build/out/link; ln -s / /build/out/r").done.ok
    assert counting.on_disk([bench.out], 1000).files == 2
    assert counting.on_disk([bench.out], 1000).bytes < 1 << 20


def test_what_foreign_code_locks_away_hides_nothing_that_it_can_grow(bench):
    found = bench.run(
        "cd /build/out; mkdir d; for i in 1 2 3 4; do yes | head -c 15M > d/$i; done; chmod 0 d;"
        " sleep 1000"
    )
    assert found.exceeded == DISK


# --- system calls ---

CALLS = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for words in sys.argv[1:]:
    numbers = [int(word) for word in words.split(",")]
    ctypes.set_errno(0)
    libc.syscall(*map(ctypes.c_long, numbers), *[ctypes.c_long(0)] * (7 - len(numbers)))
    print(words, ctypes.get_errno())
"""


def answers(bench, calls):
    """The error of each system call, by its words: the number and arguments."""
    found = bench.argv(["python3", "-c", CALLS, *calls], LONG_S)
    assert found.done.ok, bench.said()
    return {words: int(error) for words, error in (x.split() for x in bench.said().splitlines())}


@pytest.fixture
def roomy(tmp_path):
    return Bench(
        tmp_path / "box", grouped=False, bounds=dataclasses.replace(BOUNDS, memory_bytes=1 << 30)
    )


def test_dangerous_system_calls_are_refused(roomy):
    refused = {str(number): errno.EPERM for number in seccomp.REFUSED.values()}
    absent = {str(number): errno.ENOSYS for number in seccomp.ABSENT.values()}
    newer = {str(number): errno.ENOSYS for number in (463, 467, 500, 1000, 0x40000000 + 39)}
    wanted = refused | absent | newer
    assert answers(roomy, wanted) == wanted


def test_calls_are_refused_by_their_arguments(roomy):
    wanted = {
        "56,268435456": errno.EPERM,  # clone, a user namespace
        "56,131072": errno.EPERM,  # clone, a mount namespace
        "16,0,21522": errno.EPERM,  # ioctl TIOCSTI
        "16,0,21532": errno.EPERM,  # ioctl TIOCLINUX
        "41,40,1": errno.EAFNOSUPPORT,  # socket AF_VSOCK
        "41,38,5": errno.EAFNOSUPPORT,  # socket AF_ALG
        "41,16,3": errno.EAFNOSUPPORT,  # socket AF_NETLINK
        "41,1,1": 0,  # socket AF_UNIX
        "39": 0,  # getpid
    }
    assert answers(roomy, wanted) == wanted


def test_the_calls_of_32_bit_programs_do_not_go_around_it(roomy):
    (roomy.root / "src/a.c").write_text(
        "#include <stdio.h>\nint main(void) { long told = 20; "
        'asm volatile("int $0x80" : "+a"(told)); printf("%d\\n", (int)told); return 0; }'
    )
    found = roomy.run("gcc -o /build/out/a /build/src/a.c && /build/out/a")
    # A kernel without 32-bit programs ends it.
    assert found.done.returncode in {0, 139}, roomy.said()
    if found.done.ok:
        assert roomy.said().strip() == str(-errno.ENOSYS)


def test_what_a_build_needs_is_there(roomy):
    shell = (
        "cd /build/out && mkfifo f && (echo x > f &) && cat f && printf 'int main(void){}' > a.c"
        " && gcc -flto -pthread -o a a.c && ./a; perl -e 'print 1' && python3 -c '"
        "import threading; t = threading.Thread(target=print, args=(2,)); t.start(); t.join()'"
    )
    found = roomy.run(shell)
    assert found.done.ok, roomy.said()
    assert roomy.said() == "x\n12\n"


# --- groups, as far as folders tell ---


def version_2(root: Path) -> tuple[Path, Path, Path]:
    """A machine with version 2 as files: our group, the mounts, and where the group lies."""
    mounted = root / "cgroup"
    (mounted / "a/b").mkdir(parents=True)
    (mounted / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (mounted / "a/cgroup.subtree_control").write_text("memory pids\n")
    (mounted / "a/b/cgroup.subtree_control").write_text("\n")
    (root / "groups").write_text("0::/a/b\n")
    (root / "mounts").write_text(f"30 23 0:26 / {mounted} rw,nosuid - cgroup2 cgroup2 rw\n")
    return root / "groups", root / "mounts", mounted


def test_a_group_of_version_2_is_made_beside_ours(tmp_path):
    groups, mounts, mounted = version_2(tmp_path)
    # Ours has processes, so groups below it could not be bounded.
    assert cgroups._parents(groups, mounts) == [dict.fromkeys(("memory", "pids"), mounted / "a")]


def test_version_1_has_a_folder_for_each_controller(tmp_path):
    (tmp_path / "groups").write_text("9:memory:/x/y\n8:cpu,pids:/\n0::/\n")
    (tmp_path / "mounts").write_text(
        "30 23 0:26 / /c/memory rw - cgroup cgroup rw,memory\n"
        "31 23 0:27 / /c/pids rw - cgroup cgroup rw,cpu,pids\n"
        "32 23 0:28 / /c/unified rw - cgroup2 cgroup2 rw\n"
    )
    found = cgroups._parents(tmp_path / "groups", tmp_path / "mounts")
    assert found == [{"memory": Path("/c/memory/x/y"), "pids": Path("/c/pids")}]


def test_a_machine_without_groups_has_none(tmp_path):
    assert cgroups._parents(tmp_path / "none", tmp_path / "none") == []


@pytest.mark.parametrize(
    ("counts", "what"),
    [
        ("memory.events low 0\nmemory.events max 9\nmemory.events oom_kill 0\n", ""),
        ("memory.events oom 1\nmemory.events oom_kill 1\npids.events max 1\n", "memory"),
        ("memory.oom_control oom_kill_disable 0\nmemory.oom_control oom_kill 2\n", "memory"),
        ("memory.events max 9\npids.events max 3\n", "processes"),
        ("", ""),
    ],
)
def test_the_kernel_s_counts_tell_what_was_exceeded(counts, what):
    assert cgroups._exceeded_bound(counts) == what


def test_a_scope_of_systemd_counts_before_it_is_gone(tmp_path, monkeypatch):
    """The shell of a scope, with `systemd-run` that only runs the command."""
    fake = tmp_path / "systemd-run"
    fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(cgroups, "systemd_works", lambda: True)
    bench = Bench(tmp_path / "box", grouped=True)
    assert bench.run("exit 3").done.returncode == 3
    assert bench.run("yes > /build/out/big").done.returncode == 128 + 25
    group = cgroups.make(BOUNDS, bench.root)
    assert isinstance(group, cgroups.Scope)
    words = group.words(["true"])
    assert {"MemoryMax=201326592", "MemorySwapMax=0", "TasksMax=60"} <= set(words)
    assert confined.command.run(words, cwd=tmp_path, timeout_s=LONG_S).ok
    assert group.report.is_file()
    group.close()
    # What systemd does when the kernel has killed one of them.
    group = cgroups.make(BOUNDS, bench.root)
    told = "kill -TERM $PPID; kill -TERM $$; sleep 1000"
    done = confined.command.run(
        group.words(["/bin/sh", "-c", told]), cwd=tmp_path, timeout_s=LONG_S
    )
    assert (done.timed_out, group.report.is_file()) == (False, True)
    group.close()
    assert not list(bench.root.glob(".rtbisect-*"))
