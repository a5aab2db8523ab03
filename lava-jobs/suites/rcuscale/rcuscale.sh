# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Durations of synchronize_rcu() by the kernel's own module rcuscale (kernel/rcu/rcuscale.c): a second instrument
# beside the module of the suite rcu. It tells each duration in the log when it is removed.

# It stops by itself after 100 calls.
RCUSCALE_TRIES=300

window_rcuscale() {
    log_begin rcuscale
    rcuscale_run "$RESULTS/rcuscale" && all_files "$RESULTS/rcuscale/durations.txt"
}

# rcuscale_run FOLDER
rcuscale_run() {
    insmod "$RTBISECT/modules/torture.ko" 2>>"$1/insmod.err" &&
        taskset -c "$HOUSEKEEPING_CPU" insmod "$RTBISECT/modules/rcuscale.ko" \
            nwriters=1 nreaders=0 holdoff=1 2>>"$1/insmod.err" || return 1
    rm -f "$1/insmod.err"
    _tries=$RCUSCALE_TRIES
    until log_since rcuscale | grep -q 'rcu_scale_writer .*has .*measurements'; do
        _tries=$((_tries - 1))
        [ "$_tries" -gt 0 ] || break
        usleep 200000
    done
    rmmod rcuscale
    rmmod torture
    [ "$_tries" -gt 0 ] || return 1
    log_since rcuscale | sed -n 's/.* writer-duration: *[0-9]* \([0-9]*\)$/\1/p' >"$1/durations.txt"
}
