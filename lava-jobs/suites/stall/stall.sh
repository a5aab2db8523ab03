# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# A task that runs out of CFS bandwidth while others need a lock of the epoll instance that it holds. A kernel
# that does not get out of that ends in a panic of our own, whose first line names the symptom (epollstall.c).

STALL_SECONDS=6
STALL_STILL_MS=1500
STALL_QUOTA_US=2000
STALL_PERIOD_US=20000
STALL_LOCKDEP="possible (circular|recursive) locking|possible irq lock inversion|inconsistent lock state"
# With a detector of blocked tasks: long before the job ends.
STALL_BLOCKED_SECONDS=10
STALL_CGROUPS=/sys/fs/cgroup
STALL_GROUP=$STALL_CGROUPS/rtbisect
STALL_PROC=/proc
STALL_SUPPRESS=/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress

window_stall() {
    _dir=$RESULTS/stall
    # Read whole: by single bytes such a file ends after its first digit.
    _panic=$(cat "$STALL_PROC/sys/kernel/panic")
    _printk=$(cat "$STALL_PROC/sys/kernel/printk")
    _blocked=$(cat "$STALL_PROC/sys/kernel/hung_task_timeout_secs" 2>/dev/null) || _blocked=
    stall_sees >"$_dir/sees.txt"
    _ok=0
    stall_begin && stall_run || _ok=1
    stall_end || _ok=1
    [ "$_ok" -eq 0 ] || return 1
    rm -f "$_dir/stall.err"
    # A lock that is taken in a wrong order is told and goes on, where the kernel looks for that (PROVE_LOCKING).
    {
        echo "lockdep $(log_since "window stall" | grep -c -E "$STALL_LOCKDEP" || true)"
        cat "$_dir/sees.txt"
    } >>"$_dir/stall.txt"
    rm -f "$_dir/sees.txt"
    all_files "$_dir/stall.txt"
}

# _is_one FILE...: each of them says 1.
_is_one() {
    for _file in "$@"; do
        read_line "$_file"
        [ "$LINE" = 1 ] || return 1
    done
}

# stall_sees: "sees_SYMPTOM 1" of each symptom that this kernel would tell, else 0. A detector may not be built in, and be
# off although it is (nowatchdog).
stall_sees() {
    _rcu=0 _blocks=0 _soft=0 _locks=0
    read_line "$STALL_SUPPRESS"
    [ "$LINE" != 0 ] || _rcu=1
    # After so many warnings it is silent; by single bytes only the first digit or sign is read, which is enough.
    read_line "$STALL_PROC/sys/kernel/hung_task_warnings"
    [ -z "$_blocked" ] || [ -z "$LINE" ] || [ "$LINE" = 0 ] || _blocks=1
    ! _is_one "$STALL_PROC/sys/kernel/watchdog" "$STALL_PROC/sys/kernel/soft_watchdog" || _soft=1
    # It looks no more once it has found something.
    ! [ -e "$STALL_PROC/lockdep_chains" ] || ! grep -q '^ *debug_locks: *1$' "$STALL_PROC/lockdep_stats" || _locks=1
    printf 'sees_rcu_stall %s\nsees_blocked_task %s\nsees_soft_lockup %s\nsees_lockdep %s\n' \
        "$_rcu" "$_blocks" "$_soft" "$_locks"
}

stall_begin() {
    mount -t cgroup2 cgroup2 "$STALL_CGROUPS" 2>"$_dir/stall.err" &&
        echo +cpu >"$STALL_CGROUPS/cgroup.subtree_control" &&
        mkdir "$STALL_GROUP" || return 1
    [ -z "$_blocked" ] || echo "$STALL_BLOCKED_SECONDS" >"$STALL_PROC/sys/kernel/hung_task_timeout_secs"
    # Of a boot that hangs nothing but the console comes back, and another window may hang, too. Stalls of RCU and blocked
    # tasks are told as errors.
    dmesg -n 4
    # After a panic of our own the machine resets, and nobody waits for the timeout of the job.
    echo 1 >"$STALL_PROC/sys/kernel/panic"
}

stall_run() {
    # The writer and its timers on the first housekeeping CPU, the reader and who watches on the second.
    expand_cpus "$HOUSEKEEPING"
    _second=${CPUS#* }
    log_begin "window stall" "<0>"
    _ran=0
    "$RTBISECT/bin/epollstall" -g "$STALL_GROUP" -w "$HOUSEKEEPING_CPU" -r "${_second%% *}" \
        -q "$STALL_QUOTA_US" -p "$STALL_PERIOD_US" -s "$STALL_STILL_MS" -t "$STALL_SECONDS" \
        >"$_dir/stall.txt" 2>"$_dir/stall.err" || _ran=1
    echo "<0>rtbisect: window stall ends" >"$KMSG"
    return "$_ran"
}

# stall_end: everything as it was; not all of it may have been done.
stall_end() {
    echo "$_panic" >"$STALL_PROC/sys/kernel/panic"
    echo "$_printk" >"$STALL_PROC/sys/kernel/printk"
    [ -z "$_blocked" ] || echo "$_blocked" >"$STALL_PROC/sys/kernel/hung_task_timeout_secs"
    if [ -d "$STALL_GROUP" ]; then
        # The group goes without its bandwidth: else the kernel would go on counting for it.
        echo max >"$STALL_GROUP/cpu.max"
        rmdir "$STALL_GROUP" || return 1
    fi
    if [ -e "$STALL_CGROUPS/cgroup.subtree_control" ]; then
        echo -cpu >"$STALL_CGROUPS/cgroup.subtree_control"
        umount "$STALL_CGROUPS"
    fi
}
