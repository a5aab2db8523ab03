# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Interrupts of the watched CPUs while a profiler samples every isolated CPU and takes its buffers by epoll: what a
# tool of that kind sees, and in part makes. The other window has the kernel's own counters alone.

window_sampled_off() {
    counted_window sampled-off
}

window_sampled_on() {
    # shellcheck disable=SC2086
    beside_reader sampled-on counted_window $SAMPLED_TOOL -c "$ISOLATED"
}
