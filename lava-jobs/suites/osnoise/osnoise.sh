# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# The osnoise tracer on the watched CPUs, through tracefs alone: rtla's columns
# change from version to version, these files do not.

OSNOISE_EVENTS="irq_noise softirq_noise thread_noise nmi_noise"

# osnoise_settings [OPTION]: every knob is written, so that no default of the kernel under test counts.
osnoise_settings() {
    # With names of tasks each event would also change the code of every wake-up: noise of our own, and an
    # emulator may trip over it.
    echo 0 >"$TRACING/options/record-cmd"
    echo nop >"$TRACING/current_tracer"
    echo 0 >"$TRACING/tracing_on"
    # A sample's limits stay off: a stop in the middle would end the window.
    echo 0 >"$TRACING/osnoise/stop_tracing_us"
    echo 0 >"$TRACING/osnoise/stop_tracing_total_us"
    echo "$OSNOISE_THRESHOLD_US" >"$TRACING/tracing_thresh"
    # runtime <= period has to hold after each write, whatever was there.
    echo "$OSNOISE_PERIOD_US" >"$TRACING/osnoise/period_us"
    echo "$OSNOISE_RUNTIME_US" >"$TRACING/osnoise/runtime_us"
    echo "$WATCH" >"$TRACING/osnoise/cpus"
    if [ -e "$TRACING/osnoise/options" ]; then      # since 6.2
        echo DEFAULTS >"$TRACING/osnoise/options"
        echo OSNOISE_WORKLOAD >"$TRACING/osnoise/options"
        [ $# -eq 0 ] || echo "$1" >"$TRACING/osnoise/options"
    fi
}

# osnoise_start [OPTION]: a window whose threads did not get their priority is not complete.
osnoise_start() {
    OSNOISE_FAILED=
    osnoise_settings "$@"
    # How long each interference took, and what it was.
    for _event in $OSNOISE_EVENTS; do
        echo 1 >"$TRACING/events/osnoise/$_event/enable"
    done
    : >"$TRACING/trace"
    echo osnoise >"$TRACING/current_tracer"
    echo 1 >"$TRACING/tracing_on"
    # What is above its threads in priority is what they see as noise.
    [ "$FIFO" -eq 0 ] || "$RTBISECT/bin/fifo" "$FIFO" osnoise/ || OSNOISE_FAILED=fifo
}

# osnoise_stop WINDOW: saves what was set, and the samples with the header that names their columns.
osnoise_stop() {
    echo 0 >"$TRACING/tracing_on"
    {
        for _knob in cpus period_us runtime_us stop_tracing_us stop_tracing_total_us options; do
            [ ! -e "$TRACING/osnoise/$_knob" ] || echo "$_knob $(cat "$TRACING/osnoise/$_knob")"
        done
        echo "tracing_thresh $(cat "$TRACING/tracing_thresh")"
        lost_events
    } >"$RESULTS/$1/osnoise.txt"
    "$RTBISECT/bin/noisefold" -o "$RESULTS/$1" <"$TRACING/trace" 2>"$RESULTS/$1/noisefold.err" &&
        rm -f "$RESULTS/$1/noisefold.err"
    for _event in $OSNOISE_EVENTS; do
        echo 0 >"$TRACING/events/osnoise/$_event/enable"
    done
    echo nop >"$TRACING/current_tracer"
}

osnoise_complete() {
    [ -z "$OSNOISE_FAILED" ] && all_files "$RESULTS/$1/osnoise.txt" "$RESULTS/$1/trace.txt" "$RESULTS/$1/noise.txt"
}
