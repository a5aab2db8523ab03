# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Noise with interrupts off: what is left is the hardware's, or the hypervisor's. A control for
# every other figure of the same boot. The option is there since 6.2.

window_hwnoise_off() {
    grep -q OSNOISE_IRQ_DISABLE "$TRACING/osnoise/options" || return 1
    osnoise_start OSNOISE_IRQ_DISABLE
    usleep $((WINDOW_MS * 1000))
    osnoise_stop hwnoise-off
    osnoise_settings
    osnoise_complete hwnoise-off
}
