# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Durations of synchronize_rcu(), by our own module, called from the
# housekeeping CPU.

RCU_MODULE=$RTBISECT/modules/rtbisect_rcu.ko

# rcu_window WINDOW CALLS
rcu_window() {
    taskset -c "$HOUSEKEEPING_CPU" insmod "$RCU_MODULE" "calls=$2" 2>"$RESULTS/$1/insmod.err" || return 1
    rm -f "$RESULTS/$1/insmod.err"
    cat /proc/rtbisect_rcu >"$RESULTS/$1/durations.txt"
    rmmod rtbisect_rcu
}

# rcu_complete WINDOW CALLS
rcu_complete() {
    all_files "$RESULTS/$1/durations.txt" && [ "$(wc -l <"$RESULTS/$1/durations.txt")" -eq "$2" ]
}
