# SPDX-License-Identifier: GPL-2.0-or-later
"""The sandbox of foreign code: a bubblewrap command line, and nothing else. `confined.py` runs it.

The code under test sees the compiler (/usr, read only), its source (read only), and
three folders to write to. It has no network, no home, no /sys, no environment of ours,
no capability, a process namespace that ends with it, only the system calls that
`seccomp.py` leaves it, and bounds (docs/bounds.md).

Who it is: bubblewrap's `--unshare-user --uid 65534` only *names* the user 65534. Run by
root, that user is uid 0 outside, owns whatever root owns, and can write /proc/sys (seen
with bubblewrap 0.8: a write to vm/swappiness succeeds). So root starts the sandbox
without a user namespace, and `setpriv` turns to a real uid inside it. That one belongs to
the folder that is built in and to nobody else, so that a limit of its processes counts
them alone. A service user has no such power to lose: there the user namespace is used, and
the code runs as the service user outside, able to write only what is bound; processes are
then counted for each user namespace (Linux 5.14).

Process 1 of the namespace (`--as-pid-1`) is the program, or the shell that waits for it:
when it ends the kernel kills whatever was left behind before bubblewrap returns, so
nobody changes files while we read them.
That shell can also hold a lock which the program must not reach (`held`): the descriptor is
closed for the program, and the program may not trace the shell, which is root's or keeps a
capability that the program has lost. So a lock outlives us until the sandbox ends.
The paths inside are always the same, so neither images nor ccache depend on ours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rtbisect.kernel.bounds import Bounds
from rtbisect.kernel.settings import BUILD_UID

SRC = "/build/src"
OUT = "/build/out"
MOD = "/build/mod"
FRAGMENTS = "/build/fragments"
CCACHE = "/build/ccache"

#: Read only, where they exist: what compilers and Debian's alternatives need of /etc.
_ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf")

#: Open files of one process; each may hold memory of the kernel.
_OPEN_FILES = 4096

#: The kernel ends foreign code first when the whole machine is short of memory.
_FIRST_TO_END = ("choom", "-n", "1000", "--")

#: A history that is hidden; nothing is written there.
_HIDDEN_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """What foreign code sees, and what it may take."""

    #: The tree, read only.
    source: Path
    #: O=, our own modules: written to.
    out: Path
    modules: Path
    #: Read only.
    fragments: Path
    ccache: Path
    #: Beside what every command in it has.
    env: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds.of_machine)
    #: Who the foreign code is where root starts bubblewrap.
    uid: int = BUILD_UID
    #: Bubblewrap is started by root.
    as_root: bool = field(default_factory=lambda: os.geteuid() == 0)

    @property
    def writable(self) -> tuple[Path, ...]:
        """The folders that foreign code writes to."""
        return (self.out, self.modules, self.ccache)

    def argv(
        self, command: Sequence[str], *, rules: int, counted: bool, held: int | None = None
    ) -> list[str]:
        """The command line that runs `command` in the O= directory. `rules` is a descriptor with
        the filter of system calls; `counted`: no control group holds the memory. `held` is a
        descriptor that bubblewrap inherits: the sandbox keeps it open to its end, and `command`
        does not get it.
        """
        return [
            "bwrap",
            *("--seccomp", str(rules)),
            *self._namespaces(keeps=held is not None),
            *self._system(),
            *self._folders(),
            *self._environment(),
            "--chdir",
            OUT,
            "--",
            *self._drop(held),
            *_FIRST_TO_END,
            *self._limits(counted=counted),
            *command,
        ]

    def _limits(self, *, counted: bool) -> list[str]:
        """Of each process; of all, the number of processes. Without a control group one process
        alone does not outrun those that count.
        """
        bounds = self.bounds
        words = [f"--fsize={bounds.file_bytes}", f"--nproc={bounds.processes}"]
        words += [f"--nofile={_OPEN_FILES}", "--core=0", "--msgqueue=0"]
        words += [f"--data={bounds.memory_bytes}"] if counted else []
        return ["prlimit", *words, "--"]

    def _namespaces(self, *, keeps: bool) -> list[str]:
        words = ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        words += ["--hostname", "rtbisect", "--die-with-parent", "--new-session", "--as-pid-1"]
        if not self.as_root:
            words += ["--unshare-user", "--uid", str(BUILD_UID), "--gid", str(BUILD_UID)]
            # What sets the shell apart from the program; it has no meaning outside.
            return [*words, "--cap-add", "CAP_SETPCAP"] if keeps else words
        words += ["--cap-drop", "ALL"]
        for name in ("SETUID", "SETGID", "SETPCAP"):
            words += ["--cap-add", f"CAP_{name}"]
        return words

    def _drop(self, held: int | None) -> list[str]:
        """Become nobody, behind a shell of root's that is process 1 and only waits; a service user
        is nobody already, and needs the shell to keep `held` only.

        The signal that --die-with-parent asks for is cleared by a change of user, and not
        delivered to another user's process: without the shell a killed rtbisect would
        leave its make behind.
        """
        if not self.as_root and held is None:
            return []
        user = [f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"]
        caps = ["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"]
        # Only bash closes descriptors above 9; two commands, so that it waits.
        without = "" if held is None else f" {held}<&-"
        wait = ["/bin/bash", "-c", f'"$@"{without}; exit $?', "bash"]
        return [*wait, "setpriv", *(user if self.as_root else []), *caps, "--no-new-privs", "--"]

    def _system(self) -> list[str]:
        words = ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            words += ["--symlink", f"usr/{name}", f"/{name}"]
        # Parents that bubblewrap makes unasked are closed to everybody but root.
        words += ["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl"]
        for path in _ETC:
            words += ["--ro-bind-try", path, path]
        words += ["--dev", "/dev", "--proc", "/proc"]
        for folder in ("/root", "/home"):
            words += ["--perms", "0755", "--dir", folder]
        size = str(self.bounds.tmp_bytes)
        return [*words, "--perms", "1777", "--size", size, "--tmpfs", "/tmp"]  # noqa: S108  (inside)

    def _folders(self) -> list[str]:
        words = ["--perms", "0755", "--dir", "/build"]
        words += ["--ro-bind", str(self.source), SRC]
        # The history is nobody's business in there; its configuration may hold passwords.
        git = self.source / ".git"
        if git.is_dir():
            words += ["--perms", "0755", "--size", str(_HIDDEN_BYTES), "--tmpfs", f"{SRC}/.git"]
        elif git.exists():
            words += ["--ro-bind", "/dev/null", f"{SRC}/.git"]
        words += ["--ro-bind", str(self.fragments), FRAGMENTS]
        for ours, theirs in zip(self.writable, (OUT, MOD, CCACHE), strict=True):
            words += ["--bind", str(ours), theirs]
        # What bubblewrap made up around the folders is nobody's to write to.
        return [*words, "--remount-ro", "/dev", "--remount-ro", "/"]

    def _environment(self) -> list[str]:
        words = ["--clearenv"]
        fixed = {
            "PATH": "/usr/bin:/usr/sbin:/bin:/sbin",
            "HOME": "/tmp",  # noqa: S108
            "TMPDIR": "/tmp",  # noqa: S108
            "LC_ALL": "C",
            "TZ": "UTC",
        }
        for name, value in sorted((fixed | dict(self.env)).items()):
            words += ["--setenv", name, value]
        return words
