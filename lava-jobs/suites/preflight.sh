# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# What machine this is, before the first window. A figure from a kernel that is
# not real time, or from CPUs that are not isolated, says nothing.
#
# facts.txt has key=value lines; cases.txt has "name pass|fail". On an emulated
# CPU each command costs tens of milliseconds, hence the builtins.

_CPU_DIR=/sys/devices/system/cpu
_CLOCKSOURCE=/sys/devices/system/clocksource/clocksource0/current_clocksource
# Numbers in /proc/sys end after their first digit where they are read by single bytes, as the builtin does it.
_TAINTED=/proc/sys/kernel/tainted

# boot_value NAME: the value of a boot parameter, or nothing, in LINE.
boot_value() {
    read_line /proc/cmdline
    _words=$LINE
    LINE=
    for _word in $_words; do
        case $_word in
        "$1"=*) LINE=${_word#*=} ;;
        esac
    done
}

_same_cpus() {
    [ -n "$1" ] || return 1
    expand_cpus "$1"
    _first=$CPUS
    expand_cpus "$2"
    [ "$_first" = "$CPUS" ]
}

_file_says() {
    read_line "$1"
    [ "$LINE" = "$2" ]
}

_file_has_cpus() {
    read_line "$1"
    _same_cpus "$LINE" "$2"
}

_parameter_has_cpus() {
    boot_value "$1"
    _same_cpus "$LINE" "$2"
}

# _within CPUS SET: every one of CPUS is in SET.
_within() {
    expand_cpus "$2"
    _set=" $CPUS "
    expand_cpus "$1"
    [ -n "$CPUS" ] || return 1
    for _cpu in $CPUS; do
        case $_set in
        *" $_cpu "*) ;;
        *) return 1 ;;
        esac
    done
}

# A function a case, by its name: true when the machine is as asked. The program lists the cases (values.sh).

# The kernel is real time, or it is not where that is asked for.
preflight_rt() {
    case $VERSION in
    *PREEMPT_RT*) [ "$RT" = yes ] ;;
    *) [ "$RT" = no ] ;;
    esac
}

preflight_smt() {
    _file_says $_CPU_DIR/smt/active "$SMT"
}

preflight_isolated() {
    _file_has_cpus $_CPU_DIR/isolated "$ISOLATED"
}

preflight_nohz_full() {
    _file_has_cpus $_CPU_DIR/nohz_full "$ISOLATED"
}

preflight_rcu_nocbs() {
    _parameter_has_cpus rcu_nocbs "$ISOLATED"
}

preflight_irq_affinity() {
    _parameter_has_cpus irqaffinity "$HOUSEKEEPING"
}

preflight_housekeeping() {
    _file_has_cpus $_CPU_DIR/online "$HOUSEKEEPING,$ISOLATED"
}

preflight_watch() {
    _within "$WATCH" "$ISOLATED"
}

# No core may have one thread isolated and the other at work.
preflight_whole_cores() {
    [ -n "$SIBLINGS" ] || return 1
    for _core in $SIBLINGS; do
        _within "${_core#*:}" "$ISOLATED" || _within "${_core#*:}" "$HOUSEKEEPING" || return 1
    done
}

# The instruments are files in the initramfs: nothing that could taint is loaded yet.
preflight_untainted() {
    _file_says "$_TAINTED" 0
}

# A kernel without lockup detector does not know nowatchdog, and needs none. LAVA adds lava_mac to the
# line of a machine that boots over the network, for the scripts of a root file system.
preflight_parameters() {
    for _word in $UNKNOWN_PARAMETERS; do
        case $_word in nowatchdog | lava_mac=*) ;; *) return 1 ;; esac
    done
}

# Jiffies start 300 s below 2^32, so how far they have come since boot gives HZ.
_measure_hz() {
    awk '/^now at/ { now = $3 / 1e9 }
         /^jiffies:/ {
             if (now > 250) exit
             hz = (4294967296 - $2) / (300 - now)
             n = split("100 250 300 1000", known)
             for (i = 1; i <= n; i++)
                 if (hz > known[i] * 0.97 && hz < known[i] * 1.03) print known[i]
             exit
         }' /proc/timer_list
}

# _fact KEY FILE
_fact() {
    read_line "$2"
    echo "$1=$LINE"
}

# A kernel keeps tsc-early until it has measured the rate of its TSC, a second after it has booted
# and later on a busy machine; windows are not begun under a clock that is about to change.
_await_clock() {
    _tries=100
    while read_line $_CLOCKSOURCE && [ "$LINE" = tsc-early ] && [ $_tries -gt 0 ]; do
        usleep 100000
        _tries=$((_tries - 1))
    done
}

# _build_id NOTES: the GNU build id of the kernel that runs (linker option --build-id=sha1), or nothing:
# a note of the name "GNU", type 3, with 20 bytes.
_build_id() {
    od -A n -t x1 -v "$1" 2>/dev/null | tr -d '\n' |
        sed -n 's/.*04 00 00 00 14 00 00 00 03 00 00 00 47 4e 55 00 \(\([0-9a-f][0-9a-f] \)\{19\}[0-9a-f][0-9a-f]\).*/\1/p' |
        tr -d ' '
}

_facts() {
    echo "uname_v=$VERSION"
    echo "build_id=$(_build_id /sys/kernel/notes)"
    _fact uname_r /proc/sys/kernel/osrelease
    _fact cmdline /proc/cmdline
    _fact online $_CPU_DIR/online
    _fact isolated $_CPU_DIR/isolated
    _fact nohz_full $_CPU_DIR/nohz_full
    boot_value rcu_nocbs
    echo "rcu_nocbs=$LINE"
    _fact smt_active $_CPU_DIR/smt/active
    for _core in $SIBLINGS; do
        echo "siblings_${_core%%:*}=${_core#*:}"
    done
    _fact clocksource $_CLOCKSOURCE
    echo "hz=$(_measure_hz)"
    _fact irq_default_affinity /proc/irq/default_smp_affinity
    echo "tainted=$(cat "$_TAINTED")"
    echo "unknown_parameters=$UNKNOWN_PARAMETERS"
    _fact rcu_jiffies_till_first_fqs /sys/module/rcutree/parameters/jiffies_till_first_fqs
    _fact rcu_jiffies_till_next_fqs /sys/module/rcutree/parameters/jiffies_till_next_fqs
    _fact rcu_jiffies_till_sched_qs /sys/module/rcutree/parameters/jiffies_till_sched_qs
    _fact rcu_normal_wake_from_gp /sys/module/rcutree/parameters/rcu_normal_wake_from_gp
    _fact rcu_expedited /sys/kernel/rcu_expedited
    _fact rcu_normal /sys/kernel/rcu_normal
    echo "housekeeping_asked=$HOUSEKEEPING"
    echo "isolated_asked=$ISOLATED"
    echo "watch_asked=$WATCH"
    health_facts
    health_counters before
}

_cases() {
    for _name in $PREFLIGHT_CASES; do
        case "$ISOLATES: $ISOLATION_CASES " in
        no:*" $_name "*) continue ;;
        esac
        function_named "$_name"
        if "$FUNCTION"; then
            echo "$_name pass"
        else
            echo "$_name fail"
        fi
    done
}

preflight_collect() {
    mkdir -p "$RESULTS/preflight"
    VERSION=$(uname -v)
    # "2:2-3 3:2-3 ...". These files give nothing to a read by single bytes, as the builtin does it.
    SIBLINGS=$(grep . "$_CPU_DIR"/cpu[0-9]*/topology/thread_siblings_list |
        sed 's,.*/cpu\([0-9]*\)/[^:]*,\1,')
    UNKNOWN_PARAMETERS=$(dmesg | sed -n 's/.*Unknown kernel command line parameters "\([^"]*\)".*/\1/p')
    _await_clock
    _facts >"$RESULTS/preflight/facts.txt"
    # On the console, too: a boot that hangs in a window has no block of files.
    sed -n 's/^build_id=\(..*\)/rtbisect: build id \1/p' "$RESULTS/preflight/facts.txt"
    _cases >"$RESULTS/preflight/cases.txt"
}

preflight_report() {
    # A clock that changed in a window is told by how it differs from the one before.
    {
        _fact clocksource_after $_CLOCKSOURCE
        health_counters after
    } >>"$RESULTS/preflight/facts.txt"
    while read -r _name _result; do
        report_case "$_name" "$_result"
    done <"$RESULTS/preflight/cases.txt"
}
