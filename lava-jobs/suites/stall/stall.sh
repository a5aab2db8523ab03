# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# A task that runs out of CFS bandwidth while others need a lock of the epoll instance that it holds. A kernel
# that does not get out of that ends in a panic of our own, whose first line names the symptom (epollstall.c).

STALL_SECONDS=6
STALL_STILL_MS=1500
STALL_QUOTA_US=2000
STALL_PERIOD_US=20000
STALL_LOCKDEP="possible (circular|recursive) locking|possible irq lock inversion|inconsistent lock state"
STALL_GROUP=/sys/fs/cgroup/rtbisect

window_stall() {
    _dir=$RESULTS/stall
    [ -d "$STALL_GROUP" ] || {
        mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>"$_dir/stall.err" &&
            echo +cpu >/sys/fs/cgroup/cgroup.subtree_control &&
            mkdir "$STALL_GROUP" || return 1
    }
    # The writer and its timers on the first housekeeping CPU, the reader and who watches on the second.
    expand_cpus "$HOUSEKEEPING"
    _second=${CPUS#* }
    # Of a boot that hangs nothing but the console comes back, and another window may hang, too. Stalls of RCU and blocked
    # tasks are told as errors.
    dmesg -n 4
    log_begin "window stall" "<0>"
    # After that panic the machine resets, and nobody waits for the timeout of the job.
    echo 1 >/proc/sys/kernel/panic
    _ok=0
    "$RTBISECT/bin/epollstall" -g "$STALL_GROUP" -w "$HOUSEKEEPING_CPU" -r "${_second%% *}" \
        -q "$STALL_QUOTA_US" -p "$STALL_PERIOD_US" -s "$STALL_STILL_MS" -t "$STALL_SECONDS" \
        >"$_dir/stall.txt" 2>"$_dir/stall.err" || _ok=1
    echo 0 >/proc/sys/kernel/panic
    echo "<0>rtbisect: window stall ends" >"$KMSG"
    dmesg -n 1
    [ "$_ok" -eq 0 ] || return 1
    rm -f "$_dir/stall.err"
    # A lock that is taken in a wrong order is told and goes on, where the kernel looks for that (PROVE_LOCKING).
    echo "lockdep $(log_since "window stall" | grep -c -E "$STALL_LOCKDEP" || true)" >>"$_dir/stall.txt"
    all_files "$_dir/stall.txt"
}
