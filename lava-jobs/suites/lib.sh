# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Shared by the scripts that run on the device. Source it; it only defines.

RTBISECT=/opt/rtbisect
RESULTS=/tmp/rtbisect
TRACING=/sys/kernel/tracing

# report_case NAME pass|fail [MEASUREMENT UNITS]
# LAVA's own command when this runs under LAVA, else a line that is easy to find.
report_case() {
    if command -v lava-test-case >/dev/null 2>&1; then
        if [ $# -ge 4 ]; then
            lava-test-case "$1" --result "$2" --measurement "$3" --units "$4"
        else
            lava-test-case "$1" --result "$2"
        fi
    else
        echo "CASE $*"
    fi
}

# The functions that answer in a variable do so because a fork is slow here.

# read_line FILE: its first line, or nothing, in LINE.
read_line() {
    LINE=
    # A file without newline at its end makes read fail although it read.
    { IFS= read -r LINE <"$1" || true; } 2>/dev/null
}

# expand_cpus 0-1,4: sets CPUS to "0 1 4".
expand_cpus() {
    CPUS=
    _rest=$1,
    while [ -n "$_rest" ]; do
        _part=${_rest%%,*}
        _rest=${_rest#*,}
        _cpu=${_part%-*}
        while [ -n "$_part" ] && [ "$_cpu" -le "${_part#*-}" ]; do
            CPUS=$CPUS${CPUS:+ }$_cpu
            _cpu=$((_cpu + 1))
        done
    done
}

# function_named preflight-nohz-full: sets FUNCTION to preflight_nohz_full.
function_named() {
    FUNCTION=
    _rest=$1-
    while [ -n "$_rest" ]; do
        FUNCTION=$FUNCTION${FUNCTION:+_}${_rest%%-*}
        _rest=${_rest#*-}
    done
}

# window_function osnoise-off: sets FUNCTION to window_osnoise_off. All windows of the suite reach have one.
window_function() {
    case $1 in
    reach-*) FUNCTION=reach_window ;;
    *) function_named "window-$1" ;;
    esac
}

# all_files FILE...: true when every file is there and not empty.
all_files() {
    for _file in "$@"; do
        [ -s "$_file" ] || return 1
    done
}

# lost_events: lines "overrun_cpu2 0" and "dropped_cpu2 0" of each watched CPU's trace buffer. Events
# that a full buffer has overwritten leave no mark in the text.
lost_events() {
    expand_cpus "$WATCH"
    for _cpu in $CPUS; do
        sed -n "s/^overrun: /overrun_cpu$_cpu /p; s/^dropped events: /dropped_cpu$_cpu /p" \
            "$TRACING/per_cpu/cpu$_cpu/stats"
    done
}

# start_reader WINDOW OPTION...: the perf and epoll reader on the housekeeping
# CPU; returns when it has everything open. Sets READER_PID.
start_reader() {
    _dir=$RESULTS/$1
    shift
    "$RTBISECT/bin/perf_epoll_reader" -k "$HOUSEKEEPING_CPU" -c "$WATCH" -d "$_dir/dose" "$@" \
        >"$_dir/reader.out" 2>"$_dir/reader.err" &
    READER_PID=$!
    await_ready "$READER_PID" 100 "$_dir/reader" "the reader"
}

# await_ready PID TRIES FILES WHAT: until the process has said "ready" in FILES.out, 20 ms a try; else FILES.err says that it
# did not.
await_ready() {
    _tries=$2
    until grep -q '^ready$' "$3.out" 2>/dev/null; do
        _tries=$((_tries - 1))
        if [ "$_tries" -le 0 ] || ! kill -0 "$1" 2>/dev/null; then
            echo "$4 did not get ready" >>"$3.err"
            return 1
        fi
        usleep 20000
    done
}

# stop_reader WINDOW: end it; its exit code goes to reader.exit. Keeps only what a parser reads.
stop_reader() {
    kill -TERM "-$READER_PID" 2>/dev/null || kill -TERM "$READER_PID" 2>/dev/null || true
    _exit=0
    wait "$READER_PID" || _exit=$?
    echo "$_exit" >"$RESULTS/$1/reader.exit"
    rm -f "$RESULTS/$1/dose" "$RESULTS/$1/reader.out"
    [ -s "$RESULTS/$1/reader.err" ] || rm -f "$RESULTS/$1/reader.err"
}

# reader_ok WINDOW: it ended because we said so.
reader_ok() {
    [ "$(cat "$RESULTS/$1/reader.exit" 2>/dev/null)" = 0 ]
}

# beside_reader WINDOW COMMAND READER_OPTION...: the command, which gets the name of the window, beside the reader.
# The reader goes first and last: opening and closing events is slow on CPUs that a tracer keeps busy.
beside_reader() {
    _window=$1 _command=$2
    shift 2
    _ok=0
    start_reader "$_window" "$@" && "$_command" "$_window" || _ok=1
    stop_reader "$_window"
    [ "$_ok" -eq 0 ] && reader_ok "$_window"
}

# The kernel's log, for modules that tell what they found in it. init lets none of it through to the console, where hundreds
# of lines would take longer than what they tell of.
KMSG=/dev/kmsg

# log_begin WHAT [LEVEL]: from here on; with a level such as <0> also on the console.
log_begin() {
    echo "${2:-}rtbisect: $1 begins" >"$KMSG"
}

# log_since WHAT: the lines since then.
log_since() {
    dmesg | sed -n "/rtbisect: $1 begins/,\$p"
}
