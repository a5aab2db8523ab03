# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# The tracer once more, through rtla: an instrument of other people. Every option is given, because
# defaults change between versions; rtla itself runs on housekeeping CPUs.

# A histogram in steps of this, up to 256 of them.
RTLA_BUCKET_US=1000

# rtla_osnoise top|hist OPTION...
rtla_osnoise() {
    _mode=$1
    shift
    _seconds=$(((WINDOW_MS + 999) / 1000))
    # Its own option for where it runs is newer than 6.1. Both runs end within the time that the job has for this window
    # (LENGTHS in suites/rtla.py): else LAVA's timeout would look like a kernel that hangs.
    TERM=dumb timeout -s INT $((_seconds * 2 + 10)) taskset -c "$HOUSEKEEPING_CPU" \
        rtla osnoise "$_mode" -c "$WATCH" -p "$OSNOISE_PERIOD_US" -r "$OSNOISE_RUNTIME_US" \
        -T 1 -d "${_seconds}s" "$@"
}

# rtla that is ended before its time leaves its tracers at work, in trace instances of their own.
rtla_clean() {
    for _instance in "$TRACING"/instances/osnoise_*; do
        [ -e "$_instance" ] || continue
        echo nop >"$_instance/current_tracer"
        rmdir "$_instance"
    done
}

window_rtla_off() {
    _dir=$RESULTS/rtla-off
    _ok=0
    # What a version of rtla does not know it leaves as another window had it.
    osnoise_settings
    rtla_osnoise top -q >"$_dir/top.txt" 2>"$_dir/rtla.err" &&
        rtla_osnoise hist -b "$RTLA_BUCKET_US" -E 256 >"$_dir/hist.txt" 2>>"$_dir/rtla.err" || _ok=1
    rtla_clean
    [ "$_ok" -eq 0 ] && all_files "$_dir/top.txt" "$_dir/hist.txt"
}
