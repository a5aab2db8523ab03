# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Is RCU still right? The kernel's own rcutorture (kernel/rcu/rcutorture.c), RCUTORTURE_SECONDS for each flavour. It says
# in the log how it ended when it is removed.

window_rcutorture_rcu() {
    rcutorture_window rcutorture-rcu rcu
}

window_rcutorture_srcu() {
    rcutorture_window rcutorture-srcu srcu
}

# rcutorture_window WINDOW FLAVOUR
rcutorture_window() {
    _dir=$RESULTS/$1
    log_begin "$1"
    _ok=0
    # Few readers: an emulator that shares two cores among all of them would see stalls of its own.
    insmod "$RTBISECT/modules/torture.ko" 2>>"$_dir/insmod.err" &&
        insmod "$RTBISECT/modules/rcutorture.ko" "torture_type=$2" nreaders=2 nfakewriters=1 \
            stat_interval=15 2>>"$_dir/insmod.err" || _ok=1
    [ "$_ok" -ne 0 ] || {
        sleep "$RCUTORTURE_SECONDS"
        rmmod rcutorture || _ok=1
    }
    rmmod torture || _ok=1
    [ "$_ok" -eq 0 ] || return 1
    rm -f "$_dir/insmod.err"
    {
        echo "seconds $RCUTORTURE_SECONDS"
        log_since "$1" | sed -n 's/.*torture:.* End of test: \([A-Z_]*\).*/end \1/p'
    } >"$_dir/torture.txt"
    all_files "$_dir/torture.txt"
}
