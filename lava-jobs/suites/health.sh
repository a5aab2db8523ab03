# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# The health of the machine: facts that tell a figure of one host from one of another, and counters
# that must not move while it is measured. What a kernel does not tell stays empty.

_MSR_DIR=/dev/cpu
_INTERRUPTS=/proc/interrupts

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
    _governors
    echo "governor=$LINE"
    _fact no_turbo "$_CPU_DIR"/intel_pstate/no_turbo
    _fact boost "$_CPU_DIR"/cpufreq/boost
    _fact cpuidle_driver "$_CPU_DIR"/cpuidle/current_driver
    _fact max_cstate /sys/module/intel_idle/parameters/max_cstate
}

# The governors of all CPUs, in LINE: one name where they have the same.
_governors() {
    _all=
    for _file in "$_CPU_DIR"/cpu[0-9]*/cpufreq/scaling_governor; do
        read_line "$_file"
        case ,$_all, in *,"$LINE",*) ;; *) _all=$_all${_all:+,}$LINE ;; esac
    done
    LINE=${_all%,}
}

# _sum_of FILE...: the sum of what they hold, in SUM; nothing where there is none, or one of them holds no number.
_sum_of() {
    SUM=
    for _file in "$@"; do
        read_line "$_file"
        case $LINE in '' | *[!0-9]*)
            SUM=
            return
            ;;
        esac
        SUM=$((${SUM:-0} + LINE))
    done
}

# System management interrupts since power-on, of all CPUs together (MSR_SMI_COUNT, Intel SDM 4): they stop CPUs, and no
# tracer of the kernel sees them. Nothing where the kernel has no msr device, or a CPU not this register.
_smi_count() {
    _wanted=0
    for _file in "$_MSR_DIR"/[0-9]*/msr; do
        [ ! -e "$_file" ] || _wanted=$((_wanted + 1))
    done
    [ "$_wanted" -gt 0 ] || return 0
    for _file in "$_MSR_DIR"/[0-9]*/msr; do
        dd if="$_file" bs=8 count=1 skip=52 iflag=skip_bytes 2>/dev/null || true
    done | od -A n -v -t u8 | awk -v wanted="$_wanted" '
        { for (i = 1; i <= NF; i++) { sum += $i; read++ } }
        END { if (read == wanted) printf "%.0f", sum }'
}

# Machine check exceptions of all CPUs; nothing where the kernel has no row of them (CONFIG_X86_MCE).
_machine_checks() {
    awk '/^ *MCE:/ { row = 1; for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { if (row) printf "%.0f", n }' "$_INTERRUPTS"
}

# health_counters before|after: events that disturb what is measured. A field is empty where nobody counts them: a 0
# says that there was none.
health_counters() {
    _hottest=
    _sum_of "$_CPU_DIR"/cpu[0-9]*/thermal_throttle/*_throttle_count
    for _file in /sys/class/thermal/thermal_zone[0-9]*/temp; do
        read_line "$_file"
        [ "${LINE:-0}" -le "${_hottest:-0}" ] || _hottest=$LINE
    done
    echo "throttled_$1=$SUM"
    echo "machine_checks_$1=$(_machine_checks)"
    echo "temperature_millicelsius_$1=$_hottest"
    echo "smi_$1=$(_smi_count)"
    # Read by single bytes, as the builtin does it, this file ends after the first digit.
    echo "tainted_$1=$(cat /proc/sys/kernel/tainted)"
}
