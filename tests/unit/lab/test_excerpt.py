# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of a console that go into a mail."""

from rtbisect.lab.classify import MOST_CHARS, MOST_LINES, excerpt

BLOCKED = (
    "[    1.000001] rtbisect: window stall begins",
    "[  124.301] INFO: task epollstall:412 blocked for more than 120 seconds.",
    "[  124.302]       Not tainted 6.12.0-rt #1",
    '[  124.303] "echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.',
    "[  124.304] task:epollstall      state:D stack:0     pid:412   tgid:412   ppid:398",
    "[  124.305] Call Trace:",
    "[  124.306]  <TASK>",
    "[  124.307]  __schedule+0x2e7/0x6a0",
    "[  124.308]  rt_spin_lock+0x3a/0x60",
    "[  124.309]  </TASK>",
    "[  124.310] RIP: 0033:0x4012ab",
    "[  124.311] RSP: 002b:00007ffd EFLAGS: 00000246",
    "[  124.312] Modules linked in: rtbisect_rcu",
)

FROZEN = (
    "<0>[    9.100000][  T412] rtbisect-symptom: frozen nr_periods",
    "[    9.100001] rtbisect-stack: writer: rt_spin_lock < ep_send_events < do_epoll_wait",
    "[    9.200000] sysrq: Trigger a crash",
    "[    9.200001] Kernel panic - not syncing: sysrq triggered crash",
    "[    9.200002] CPU: 1 PID: 412 Comm: epollstall",
)


def test_it_begins_where_the_kernel_says_so_and_has_the_stack():
    assert excerpt(BLOCKED) == (
        "INFO: task epollstall:412 blocked for more than 120 seconds.",
        "task:epollstall      state:D stack:0     pid:412   tgid:412   ppid:398",
        "__schedule+0x2e7/0x6a0",
        "rt_spin_lock+0x3a/0x60",
    )


def test_the_panic_of_a_suite_is_its_own():
    assert excerpt(FROZEN) == (
        "rtbisect-symptom: frozen nr_periods",
        "rtbisect-stack: writer: rt_spin_lock < ep_send_events < do_epoll_wait",
    )


def test_a_console_that_says_nothing_of_it_has_none():
    assert excerpt(()) == ()
    assert excerpt(["[ 1.0] Linux version 6.12.0-rt", "login:"]) == ()


def test_it_is_short_and_printable():
    lines = ["Kernel panic - not syncing: \x1b[31m\x00", *["x" * 10_000] * 100]
    found = excerpt(lines)
    assert len(found) == MOST_LINES
    assert max(map(len, found)) == MOST_CHARS
    assert found[0] == "Kernel panic - not syncing: ?[31m?"
