#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# All windows of one boot, in the order that the caller drew, then their raw
# files as one hashed block. Nothing is printed while a window measures.
#
# A suite that has a window of its own brings a function for it in its script:
# window_<name> with the dashes of the name as underscores. These are shared:
#
#   window       reader            tracer   what it gives
#   osnoise-off  none              osnoise  IPIs and noise of a quiet machine
#   clock-on     clock (form A)    osnoise  the same beside the reader
#   pf-off       none              none     IPIs beside busy children alone
#   pf-on        pf (form C)       none     the same beside the reader
#   rcu-off      none              none     synchronize_rcu()
#   rcu-on       clock             none     the same beside the reader
set +x
set -eu

here=${0%/*}
# What the program knows too: it writes that file into the ramdisk (bisect/rtbisect/lab/initramfs.py).
. "$here/../values.sh"
. "$here/lib.sh"
# shellcheck source=/dev/null
for _script in "$here"/*.sh; do
    case ${_script##*/} in
    lib.sh | run-windows.sh) ;;
    *) . "$_script" ;;
    esac
done

# Until the tracer's threads and the reader have settled.
WARM_UP_MS=300
# The pf windows last 3/5 of the others: their figure is the ratio RES/IWI,
# which has a thousand counts in that time and is the steadier one.
PF_WINDOW_PERCENT=60

usage() {
    echo "run-windows.sh: $1" >&2
    echo "usage: --housekeeping CPUS --isolated CPUS --watch CPUS --window-ms N --rcu-calls N --order WINDOWS [--probes FUNCTIONS] \
[--rt yes|no] [--isolates yes|no] [--smt 0|1] [--fifo PRIORITY] [--ends yes|no]" >&2
    exit 2
}

parse_options() {
    HOUSEKEEPING='' ISOLATED='' WATCH='' WINDOW_MS='' RCU_CALLS='' ORDER='' PROBES=''
    RT=yes ISOLATES=yes SMT=1 FIFO=0 ENDS=no
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
        --housekeeping) HOUSEKEEPING=$2 ;;
        --isolated) ISOLATED=$2 ;;
        --watch) WATCH=$2 ;;
        --window-ms) WINDOW_MS=$2 ;;
        --rcu-calls) RCU_CALLS=$2 ;;
        --order) ORDER=$2 ;;
        --probes) PROBES=$2 ;;
        --rt) RT=$2 ;;
        --isolates) ISOLATES=$2 ;;
        --smt) SMT=$2 ;;
        --fifo) FIFO=$2 ;;
        --ends) ENDS=$2 ;;
        *) usage "unknown option $1" ;;
        esac
        shift 2
    done
    for _value in "$HOUSEKEEPING" "$ISOLATED" "$WATCH" "$WINDOW_MS" "$RCU_CALLS" "$ORDER"; do
        [ -n "$_value" ] || usage "an option is missing"
    done
    for _window in $ORDER; do
        window_function "${_window#reach-}"
        type "$FUNCTION" >/dev/null 2>&1 || usage "unknown window $_window"
    done
    HOUSEKEEPING_CPU=${HOUSEKEEPING%%[-,]*}
}

# One function a window: run it, and say by the exit code whether its files are complete.

window_osnoise_off() {
    traced_window osnoise-off && osnoise_complete osnoise-off
}

window_clock_on() {
    # shellcheck disable=SC2086
    beside_reader clock-on traced_window $CLOCK_READER && osnoise_complete clock-on
}

window_clock_quarter() {
    # shellcheck disable=SC2086
    beside_reader clock-quarter traced_window $CLOCK_QUARTER_READER
}

window_clock_bpf() {
    # shellcheck disable=SC2086
    beside_reader clock-bpf traced_window -b $CLOCK_READER
}

# traced_window WINDOW: /proc/interrupts while the tracer osnoise runs.
traced_window() {
    _traced=0
    osnoise_start
    ipi_window "$1" "$WARM_UP_MS" "$WINDOW_MS" || _traced=1
    osnoise_stop "$1"
    [ "$_traced" -eq 0 ] && ipi_complete "$1"
}

window_pf_off() {
    # shellcheck disable=SC2086
    beside_reader pf-off pf_window -n $PF_READER
}

window_pf_on() {
    # shellcheck disable=SC2086
    beside_reader pf-on pf_window $PF_READER
}

window_pf_quarter() {
    # shellcheck disable=SC2086
    beside_reader pf-quarter pf_window $PF_QUARTER_READER
}

window_pf_bpf() {
    # shellcheck disable=SC2086
    beside_reader pf-bpf pf_window -b $PF_READER
}

pf_window() {
    ipi_window "$1" "$WARM_UP_MS" $((WINDOW_MS * PF_WINDOW_PERCENT / 100)) && ipi_complete "$1"
}

window_rcu_off() {
    rcu_calls_window rcu-off
}

window_rcu_on() {
    # shellcheck disable=SC2086
    beside_reader rcu-on rcu_calls_window $CLOCK_READER
}

rcu_calls_window() {
    rcu_window "$1" "$RCU_CALLS" && rcu_complete "$1" "$RCU_CALLS"
}

# windows.txt has a line a window: name, pass or fail, begin and end in seconds since boot.
run_window() {
    mkdir -p "$RESULTS/$1"
    read_line /proc/uptime
    _begin=${LINE%% *}
    _result=fail
    window_function "$1"
    # The windows stand alone: none may end the others, and none may leave anything to them.
    state_same "$1" && "$FUNCTION" "$1" && _result=pass || true
    read_line /proc/uptime
    echo "$1 $_result $_begin ${LINE%% *}" >>"$RESULTS/windows.txt"
}

report_windows() {
    while read -r _name _result _times; do
        report_case "$_name" "$_result"
    done <"$RESULTS/windows.txt"
}

# The raw files: everything that the program parses comes from here.
print_block() {
    _gz=/tmp/rtbisect.tar.gz
    tar -C "$RESULTS" -cf - . | gzip -9 >"$_gz"
    _sha=$(sha256sum "$_gz" | cut -d ' ' -f 1)
    echo "RTBISECT-BLOCK-BEGIN v1 sha256=$_sha bytes=$(wc -c <"$_gz")"
    base64 -w 76 "$_gz"
    echo "RTBISECT-BLOCK-END v1"
}

parse_options "$@"
rm -rf "$RESULTS"
mkdir -p "$RESULTS"
echo "$ORDER" >"$RESULTS/order.txt"
preflight_collect
state_begin
for _next in $ORDER; do
    run_window "$_next"
done
preflight_report
report_windows
print_block
echo RTBISECT-DONE
# For the prompt of init: nobody needs this machine any more.
[ "$ENDS" = no ] || : >/tmp/rtbisect-ended
