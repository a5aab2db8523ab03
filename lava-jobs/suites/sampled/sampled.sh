# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Interrupts of the watched CPUs while a profiler samples every isolated CPU and takes its buffers by epoll: what a
# tool of that kind sees, and in part makes. The other window has the kernel's own counters alone.

# Sixteen sampling timers a CPU, 20 ms each.
SAMPLED_TOOL="-m clock -p 20000 -x 16"

window_sampled_off() {
    ipi_window sampled-off "$WARM_UP_MS" "$WINDOW_MS" && ipi_complete sampled-off
}

window_sampled_on() {
    _ok=0
    # shellcheck disable=SC2086
    start_reader sampled-on $SAMPLED_TOOL -c "$ISOLATED" &&
        ipi_window sampled-on "$WARM_UP_MS" "$WINDOW_MS" || _ok=1
    stop_reader sampled-on
    [ "$_ok" -eq 0 ] && reader_ok sampled-on && ipi_complete sampled-on
}
