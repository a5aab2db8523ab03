# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# The timerlat tracer on the watched CPUs, through tracefs alone: how late a periodic timer's
# interrupt came, and how late the thread that it wakes.

TIMERLAT_PERIOD_US=5000

window_timerlat_off() {
    _dir=$RESULTS/timerlat-off
    echo nop >"$TRACING/current_tracer"
    echo 0 >"$TRACING/tracing_on"
    echo 0 >"$TRACING/osnoise/stop_tracing_us"
    echo 0 >"$TRACING/osnoise/stop_tracing_total_us"
    # A stack of each late interrupt would be part of what is measured.
    echo 0 >"$TRACING/osnoise/print_stack"
    echo "$TIMERLAT_PERIOD_US" >"$TRACING/osnoise/timerlat_period_us"
    echo "$WATCH" >"$TRACING/osnoise/cpus"
    if [ -e "$TRACING/osnoise/options" ]; then
        echo DEFAULTS >"$TRACING/osnoise/options"
        echo OSNOISE_WORKLOAD >"$TRACING/osnoise/options"
    fi
    : >"$TRACING/trace"
    echo timerlat >"$TRACING/current_tracer"
    echo 1 >"$TRACING/tracing_on"
    read_line /proc/uptime
    _start=${LINE%% *}
    usleep $((WINDOW_MS * 1000))
    echo 0 >"$TRACING/tracing_on"
    read_line /proc/uptime
    {
        echo "start_s $_start"
        echo "end_s ${LINE%% *}"
        echo "timerlat_period_us $(cat "$TRACING/osnoise/timerlat_period_us")"
        echo "cpus $(cat "$TRACING/osnoise/cpus")"
        lost_events
    } >"$_dir/timerlat.txt"
    "$RTBISECT/bin/latfold" -o "$_dir" <"$TRACING/trace" 2>"$_dir/latfold.err" &&
        rm -f "$_dir/latfold.err"
    echo nop >"$TRACING/current_tracer"
    all_files "$_dir/timerlat.txt" "$_dir/latency.txt"
}
