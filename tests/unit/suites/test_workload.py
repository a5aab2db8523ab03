# SPDX-License-Identifier: GPL-2.0-or-later
"""Our workload's C source, compiled for this host with stand-ins for perf and epoll."""

import shutil
import subprocess
from pathlib import Path

import pytest

READER = Path(__file__).parents[3] / "lava-jobs/workloads/perf-epoll-reader/perf_epoll_reader.c"

#: Events that never stop: epoll has always one ready, and then it lets no signal in.
NEVER_AT_REST = """\
#define _GNU_SOURCE
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int always_ready(struct epoll_event *got)
{
	static int calls;

	if (++calls == 1000)
		kill(getpid(), SIGTERM);
	if (calls > 100000)
		_exit(9);
	got->data.u32 = 0;
	return 1;
}

static int empty_ring(void)
{
	int fd = memfd_create("ring", 0);

	return ftruncate(fd, 65 * sysconf(_SC_PAGESIZE)) ? -1 : fd;
}

#define epoll_pwait(epoll, got, most, timeout, mask) ((void)(mask), always_ready(got))
#define epoll_ctl(epoll, what, fd, event) ((void)(event), 0)
#define ioctl(...) 0
#define syscall(...) empty_ring()
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc, as the lab does")
def test_the_reader_ends_on_sigterm_although_its_events_never_stop(tmp_path):
    source, program = tmp_path / "reader.c", tmp_path / "reader"
    source.write_text(f'{NEVER_AT_REST}#include "{READER}"\n')
    subprocess.run(["gcc", "-O1", "-w", "-o", program, source], check=True)
    done = subprocess.run(
        [program, "-m", "clock", "-k", "0", "-c", "0", "-x", "1", "-p", "10"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "ready\n", "")
