# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# One window of /proc/interrupts. What runs beside it is the caller's business.

# ipi_window WINDOW WARM_UP_MS WINDOW_MS
ipi_window() {
    if [ -e "$RESULTS/$1/dose" ]; then
        set -- "$1" "$2" "$3" -d "$RESULTS/$1/dose"
    fi
    _dir=$RESULTS/$1 _warm=$2 _length=$3
    shift 3
    "$RTBISECT/bin/irqsnap" -k "$HOUSEKEEPING_CPU" -w "$_warm" -t "$_length" -o "$_dir" "$@" \
        2>"$_dir/irqsnap.err" || return 1
    rm -f "$_dir/irqsnap.err"
}

ipi_complete() {
    all_files "$RESULTS/$1/before.txt" "$RESULTS/$1/after.txt" "$RESULTS/$1/window.txt"
}

# counted_window WINDOW: a whole window of them, and nothing else.
counted_window() {
    ipi_window "$1" "$WARM_UP_MS" "$WINDOW_MS" && ipi_complete "$1"
}
