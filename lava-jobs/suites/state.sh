# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# What a window may change on the machine, and has to put back: the order of windows is drawn, so that what one of them
# leaves behind would be a figure of another. Before each window it has to be what it was before the first one. (The tracer's
# knobs are written by every window that uses them, and the probes of reach stay behind all that measure.)

STATE_PROC=/proc

# state_begin: remembers it in STATE_FIRST.
state_begin() {
    # The threads that carry timers, interrupts and RCU live as long as the kernel.
    STATE_THREADS=$(cat "$STATE_PROC"/[0-9]*/stat 2>/dev/null |
        awk -v proc="$STATE_PROC" '/^[0-9]+ \((ksoftirqd|ktimers|irq_work|rcu[a-z_]*)/ { print proc "/" $1 "/stat" }')
    state_now
    STATE_FIRST=$STATE
}

# state_now: lines of WHAT NAME VALUE in STATE.
state_now() {
    set --
    for _file in $STATE_THREADS "$STATE_PROC/modules" "$STATE_PROC/mounts" "$TRACING/current_tracer" "$TRACING/set_event" \
        "$STATE_PROC"/sys/kernel/panic "$STATE_PROC"/sys/kernel/printk "$STATE_PROC"/sys/kernel/hung_task_timeout_secs; do
        [ ! -e "$_file" ] || set -- "$@" "$_file"
    done
    STATE=$(awk '
        FILENAME ~ /\/stat$/ {
            name = rest = $0
            sub(/^[0-9]+ \(/, "", name)
            sub(/\) [^)]*$/, "", name)
            sub(/.*\) /, "", rest)
            split(rest, field, " ")
            print "priority", name, field[39], field[38]
            next
        }
        FILENAME ~ /\/modules$/ { print "module", $1; next }
        FILENAME ~ /\/mounts$/ { if ($3 ~ /^cgroup/) print "mount", $2; next }
        { file = FILENAME; sub(/.*\//, "", file); print "setting", file, $0 }' "$@")
    # The one of reach stays, and is off.
    for _file in "$TRACING"/instances/*; do
        [ ! -e "$_file" ] || [ "${_file##*/}" = rtbisect ] || STATE="$STATE
instance ${_file##*/}"
    done
}

# state_same WINDOW: nothing is left behind; else a line "left_behind_WINDOW=..." in the facts says what is.
state_same() {
    state_now
    [ "$STATE" != "$STATE_FIRST" ] || return 0
    _left=$(echo "$STATE" | awk -v first="$STATE_FIRST" '
        BEGIN { n = split(first, line, "\n"); for (i = 1; i <= n; i++) was[line[i]] = 1 }
        { if (!($0 in was)) said = said (said ? "; " : "") $0; delete was[$0] }
        END { for (each in was) said = said (said ? "; " : "") "no " each; print substr(said, 1, 300) }')
    echo "left_behind_$1=$_left" >>"$RESULTS/preflight/facts.txt"
    return 1
}
