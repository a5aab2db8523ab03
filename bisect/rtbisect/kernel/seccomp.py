# SPDX-License-Identifier: GPL-2.0-or-later
"""The system calls that foreign code does not get, as a program for the kernel's seccomp filter.

A deny list: compilers, make, shells and interpreters use most of the others, and what they use
changes with each release. Not on it is what the sandbox makes harmless by other means. A number
that is newer than the list is answered as if this kernel did not have it, which every library
expects.

Made by hand, because libseccomp's binding is a Debian package that a virtual environment does not
see. x86_64 only, like the kernels (numbers: arch/x86/entry/syscalls/syscall_64.tbl).
"""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from rtbisect.errors import ConfigError

#: Answered with EPERM: kernel parts that compilers never meet and attackers often do, and all that
#: makes or enters another namespace.
REFUSED = {
    "ptrace": 101, "syslog": 103, "uselib": 134, "modify_ldt": 154, "pivot_root": 155,
    "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166,
    "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171,
    "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179,
    "clock_settime": 227, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
    "migrate_pages": 256, "unshare": 272, "vmsplice": 278, "move_pages": 279,
    "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321,
    "userfaultfd": 323, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
    "fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "quotactl_fd": 443,
}  # fmt: skip

#: Answered with ENOSYS: libraries do without them. Memory that they take shows in no process (SysV
#: and POSIX queues, memfd), or they go past this filter (io_uring); flags of clone3 cannot be seen.
ABSENT = {
    "shmget": 29, "semget": 64, "msgget": 68, "io_setup": 206, "mq_open": 240, "memfd_create": 319,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435,
    "memfd_secret": 447,
}  # fmt: skip

#: The first number that was not looked at (setxattrat).
FIRST_UNKNOWN = 463

_CLONE, _SOCKET, _IOCTL = 56, 41, 16
#: CLONE_NEWTIME (only of clone3), NS, CGROUP, UTS, IPC, USER, PID, NET.
_NAMESPACES = 0x7E020000
#: AF_UNIX, AF_INET, AF_INET6; the network namespace has no interface.
_FAMILIES = (1, 2, 10)
#: Types into, or reads from, the terminal.
_TERMINAL = (0x5412, 0x541C)

_ARCH_X86_64 = 0xC000003E

#: struct seccomp_data: the number, the architecture, six arguments (low halves first).
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000

#: struct sock_filter: what to do, instructions to skip if that is true and if it is not, a value.
_INSTRUCTION = struct.Struct("<HBBI")


def program() -> bytes:
    """The filter (an array of struct sock_filter); ConfigError on another machine than x86_64."""
    if platform.machine() != "x86_64":
        raise ConfigError(
            f"the sandbox has no list of system calls for {platform.machine()}",
            "kernels are built on x86_64 only",
        )
    instructions = [_load(_ARCH), _INSTRUCTION.pack(_EQUAL, 1, 0, _ARCH_X86_64)]
    instructions += [_answer(errno.ENOSYS), _load(_NUMBER)]
    # The numbers of x32 are among them.
    instructions += [_INSTRUCTION.pack(_AT_LEAST, 0, 1, FIRST_UNKNOWN), _answer(errno.ENOSYS)]
    for numbers, error in ((REFUSED, errno.EPERM), (ABSENT, errno.ENOSYS)):
        for number in numbers.values():
            instructions += [_INSTRUCTION.pack(_EQUAL, 0, 1, number), _answer(error)]
    refuse = _answer(errno.EPERM)
    instructions += _for_call(_CLONE, 0, [_INSTRUCTION.pack(_ANY_BIT, 0, 1, _NAMESPACES), refuse])
    is_terminal_request = [_INSTRUCTION.pack(_EQUAL, 0, 1, word) for word in _TERMINAL]
    instructions += _for_call(
        _IOCTL, 1, [part for word in is_terminal_request for part in (word, refuse)]
    )
    is_known_family = [
        _INSTRUCTION.pack(_EQUAL, len(_FAMILIES) - at, 0, family)
        for at, family in enumerate(_FAMILIES)
    ]
    instructions += _for_call(_SOCKET, 0, [*is_known_family, _answer(errno.EAFNOSUPPORT)])
    return b"".join([*instructions, _INSTRUCTION.pack(_RETURN, 0, 0, _ALLOW)])


@contextmanager
def descriptor() -> Iterator[int]:
    """A descriptor from which bubblewrap reads the filter, once."""
    handle = os.memfd_create("seccomp")
    try:
        os.write(handle, program())
        os.lseek(handle, 0, os.SEEK_SET)
        yield handle
    finally:
        os.close(handle)


def _load(offset: int) -> bytes:
    return _INSTRUCTION.pack(_LOAD, 0, 0, offset)


def _answer(error: int) -> bytes:
    return _INSTRUCTION.pack(_RETURN, 0, 0, _ERRNO | error)


def _for_call(number: int, argument: int, instructions: list[bytes]) -> list[bytes]:
    """`instructions` look at half of an argument of one call; behind them the number is loaded
    again.
    """
    inside = [_load(_ARGUMENTS + 8 * argument), *instructions, _load(_NUMBER)]
    return [_INSTRUCTION.pack(_EQUAL, 0, len(inside), number), *inside]
