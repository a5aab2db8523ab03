# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# The health of the machine: facts that tell a figure of one host from one of another, and counters
# that must not move while it is measured. What a kernel does not tell stays empty.

# health_facts: what does not change during a boot.
health_facts() {
    # Of an emulated or virtual CPU, by CPUID.
    if grep -q -m 1 '^flags.* hypervisor' /proc/cpuinfo; then
        echo hypervisor=1
    else
        echo hypervisor=0
    fi
    echo "microcode=$(sed -n '/^microcode/ { s/.*: *//p; q; }' /proc/cpuinfo)"
    echo "cpu_model=$(sed -n '/^model name/ { s/.*: *//p; q; }' /proc/cpuinfo)"
    _fact dmi_vendor /sys/class/dmi/id/sys_vendor
    _fact dmi_product /sys/class/dmi/id/product_name
    _fact bios_version /sys/class/dmi/id/bios_version
    _fact governor "$_CPU_DIR"/cpu0/cpufreq/scaling_governor
    _fact turbo_off "$_CPU_DIR"/intel_pstate/no_turbo
    _fact boost "$_CPU_DIR"/cpufreq/boost
    _fact cpuidle_driver "$_CPU_DIR"/cpuidle/current_driver
    _fact max_cstate /sys/module/intel_idle/parameters/max_cstate
}

# System management interrupts since power-on, of CPU 0 (MSR_SMI_COUNT, Intel SDM 4): they stop
# all CPUs, and no tracer of the kernel sees them. Nothing where the kernel has no msr device.
_smi_count() {
    [ -c /dev/cpu/0/msr ] || return 0
    dd if=/dev/cpu/0/msr bs=8 count=1 skip=52 iflag=skip_bytes 2>/dev/null | od -A n -t u8 | tr -d ' '
}

# health_counters before|after: events that disturb what is measured.
health_counters() {
    _sum=0 _hottest=
    for _file in "$_CPU_DIR"/cpu[0-9]*/thermal_throttle/*_throttle_count; do
        read_line "$_file"
        _sum=$((_sum + ${LINE:-0}))
    done
    for _file in /sys/class/thermal/thermal_zone[0-9]*/temp; do
        read_line "$_file"
        [ "${LINE:-0}" -le "${_hottest:-0}" ] || _hottest=$LINE
    done
    echo "throttled_$1=$_sum"
    echo "machine_checks_$1=$(awk '/^ *MCE:/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts)"
    echo "temperature_millicelsius_$1=$_hottest"
    echo "smi_$1=$(_smi_count)"
    # Read by single bytes, as the builtin does it, this file ends after the first digit.
    echo "tainted_$1=$(cat /proc/sys/kernel/tainted)"
}
