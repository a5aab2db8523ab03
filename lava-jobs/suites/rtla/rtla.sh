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
    # Its own option for where it runs is newer than 6.1.
    TERM=dumb timeout $((_seconds * 3 + 10)) taskset -c "$HOUSEKEEPING_CPU" \
        rtla osnoise "$_mode" -c "$WATCH" -p "$OSNOISE_PERIOD_US" -r "$OSNOISE_RUNTIME_US" \
        -T 1 -d "${_seconds}s" "$@"
}

window_rtla_off() {
    _dir=$RESULTS/rtla-off
    # What a version of rtla does not know it leaves as another window had it.
    osnoise_settings
    rtla_osnoise top -q >"$_dir/top.txt" 2>"$_dir/rtla.err" &&
        rtla_osnoise hist -b "$RTLA_BUCKET_US" -E 256 >"$_dir/hist.txt" 2>>"$_dir/rtla.err" || return 1
    all_files "$_dir/top.txt" "$_dir/hist.txt"
}
