# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Which functions run while a window measures: a kprobe on each of PROBES, and the window's own function once more.
# Nothing is measured here, since every hit of a probe costs time. What the window leaves behind is thrown away.

REACH_PROBES=/tmp/rtbisect-probes

# reach_window reach-WINDOW
reach_window() {
    _reach=$RESULTS/$1
    [ -e "$TRACING/kprobe_events" ] || {
        echo "no kprobes" >"$_reach/reach.txt"
        return 0
    }
    [ -e "$REACH_PROBES" ] || reach_register
    reach_counts >"$_reach/before.txt"
    read_line /proc/uptime
    _since=${LINE%% *}
    _twin=${1#reach-}
    _ran=pass
    window_function "$_twin"
    mkdir "$_reach/$_twin"
    # In a shell of its own: nothing that the window sets stays, and its figures are no second ones.
    (
        # shellcheck disable=SC2329
        report_case() { :; }
        RESULTS=$_reach
        "$FUNCTION" "$_twin"
    ) || _ran=fail
    read_line /proc/uptime
    rm -rf "${_reach:?}/$_twin"
    reach_counts >"$_reach/after.txt"
    {
        echo "window $_ran $_since ${LINE%% *}"
        reach_fold "$REACH_PROBES" "$_reach/before.txt" "$_reach/after.txt"
    } >"$_reach/reach.txt"
    rm -f "$_reach/before.txt" "$_reach/after.txt"
    [ "$_ran" = pass ]
}

# The probes stay: taking a breakpoint back is a change of running code that an emulator may trip over, and so is the
# jump that a kernel puts in its place. Their events go to a buffer of their own, which is off.
reach_register() {
    osnoise_settings
    echo 0 2>/dev/null >/proc/sys/debug/kprobes-optimization || true
    _number=0
    for _probe in $PROBES; do
        _number=$((_number + 1))
        if echo "p:rtbisect/f$_number $_probe" 2>/dev/null >>"$TRACING/kprobe_events"; then
            echo "f$_number $_probe"
        else
            echo "- $_probe"
        fi
    done >"$REACH_PROBES"
    _own=$TRACING/instances/rtbisect
    mkdir -p "$_own"
    echo 0 >"$_own/tracing_on"
    ! [ -e "$_own/events/rtbisect/enable" ] || echo 1 >"$_own/events/rtbisect/enable"
}

# reach_counts: "f1 HITS MISSED" of each probe.
reach_counts() {
    sed -n 's/^ *\(f[0-9]*\) *\([0-9]*\) *\([0-9]*\) *$/\1 \2 \3/p' "$TRACING/kprobe_profile"
}

# reach_fold PROBES BEFORE AFTER: "ran HITS FUNCTION", or "refused FUNCTION" where no probe is possible. A miss is a
# hit in the middle of another one.
reach_fold() {
    awk '
        FILENAME == ARGV[1] { if ($1 == "-") print "refused", $2; else name[$1] = $2; next }
        FILENAME == ARGV[2] { before[$1] = $2 + $3; next }
        { after[$1] = $2 + $3; seen[$1] = 1 }
        END { for (each in name) if (each in seen) print "ran", after[each] - before[each], name[each]; else print "refused", name[each] }
    ' "$@"
}
