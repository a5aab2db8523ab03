# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# The osnoise tracer on the watched CPUs, through tracefs alone: rtla's columns
# change from version to version, these files do not.

OSNOISE_PERIOD_US=1000000
OSNOISE_RUNTIME_US=500000

# Every knob is written, so that no default of the kernel under test counts.
osnoise_start() {
    echo nop >"$TRACING/current_tracer"
    echo 0 >"$TRACING/tracing_on"
    # A sample's limits stay off: a stop in the middle would end the window.
    echo 0 >"$TRACING/osnoise/stop_tracing_us"
    echo 0 >"$TRACING/osnoise/stop_tracing_total_us"
    # Noise under 1 us is the cost of measuring.
    echo 1 >"$TRACING/tracing_thresh"
    # runtime <= period has to hold after each write, whatever was there.
    echo "$OSNOISE_PERIOD_US" >"$TRACING/osnoise/period_us"
    echo "$OSNOISE_RUNTIME_US" >"$TRACING/osnoise/runtime_us"
    echo "$WATCH" >"$TRACING/osnoise/cpus"
    if [ -e "$TRACING/osnoise/options" ]; then      # since 6.2
        echo DEFAULTS >"$TRACING/osnoise/options"
        echo OSNOISE_WORKLOAD >"$TRACING/osnoise/options"
    fi
    : >"$TRACING/trace"
    echo osnoise >"$TRACING/current_tracer"
    echo 1 >"$TRACING/tracing_on"
}

# osnoise_stop WINDOW: saves what was set, and the samples with the header that names their columns.
osnoise_stop() {
    echo 0 >"$TRACING/tracing_on"
    {
        for _knob in cpus period_us runtime_us stop_tracing_us stop_tracing_total_us options; do
            [ ! -e "$TRACING/osnoise/$_knob" ] || echo "$_knob $(cat "$TRACING/osnoise/$_knob")"
        done
        echo "tracing_thresh $(cat "$TRACING/tracing_thresh")"
    } >"$RESULTS/$1/osnoise.txt"
    cat "$TRACING/trace" >"$RESULTS/$1/trace.txt"
    echo nop >"$TRACING/current_tracer"
}
