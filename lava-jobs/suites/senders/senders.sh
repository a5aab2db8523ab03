# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Who sends IPIs to the watched CPUs, and from where: the kernel's own tracepoints with a stack for each IPI.
# Nothing is measured here: the tracing costs time on the very CPUs that the other windows watch.

SENDERS_EVENTS="ipi_send_cpu ipi_send_cpumask"
# Of a window of this length a few thousand stacks come, which an emulated CPU folds in a second.
SENDERS_PERCENT=50

# Each window runs beside what its measured twin has: the tracer osnoise, the reader, or the busy children.
window_senders_off() {
    senders_traced senders-off
}

window_senders_clock() {
    # shellcheck disable=SC2086
    beside_reader senders-clock senders_traced $CLOCK_READER
}

window_senders_pf() {
    # shellcheck disable=SC2086
    beside_reader senders-pf senders_window $PF_READER
}

window_senders_sampled() {
    # shellcheck disable=SC2086
    beside_reader senders-sampled senders_window $SAMPLED_TOOL -c "$ISOLATED"
}

# senders_traced WINDOW: beside the tracer osnoise, too.
senders_traced() {
    senders_window "$1" osnoise
}

# senders_window WINDOW [TRACER]
senders_window() {
    _dir=$RESULTS/$1
    # x86 has these events since 6.4.
    [ -e "$TRACING/events/ipi/ipi_send_cpu" ] || {
        echo "no events" >"$_dir/senders.txt"
        return 0
    }
    senders_tasks >"$_dir/tasks.before"
    senders_start "${2:-nop}"
    _traced=0
    ipi_window "$1" "$WARM_UP_MS" $((WINDOW_MS * SENDERS_PERCENT / 100)) || _traced=1
    senders_stop "$1"
    [ "$_traced" -eq 0 ] && ipi_complete "$1" && all_files "$_dir/senders.txt" "$_dir/tracing.txt"
}

# senders_start TRACER
senders_start() {
    osnoise_settings
    expand_cpus "$WATCH"
    _filter=
    for _cpu in $CPUS; do
        _filter="$_filter${_filter:+ || }cpu == $_cpu"
    done
    echo "$_filter" >"$TRACING/events/ipi/ipi_send_cpu/filter"
    # The IPIs to a set of CPUs stay whole: that filter is younger than the event.
    for _event in $SENDERS_EVENTS; do
        echo 1 >"$TRACING/events/ipi/$_event/enable"
    done
    # Only a reschedule IPI needs the way to it; a function call tells its functions.
    echo "stacktrace if callback == 0 && ($_filter)" >"$TRACING/events/ipi/ipi_send_cpu/trigger"
    : >"$TRACING/trace"
    echo "$1" >"$TRACING/current_tracer"
    echo 1 >"$TRACING/tracing_on"
}

# senders_stop WINDOW: one line for each kind of event with the number of them, most frequent first.
senders_stop() {
    echo 0 >"$TRACING/tracing_on"
    echo '!stacktrace' >"$TRACING/events/ipi/ipi_send_cpu/trigger"
    for _event in $SENDERS_EVENTS; do
        echo 0 >"$TRACING/events/ipi/$_event/enable"
    done
    echo 0 >"$TRACING/events/ipi/ipi_send_cpu/filter"
    # Any CPU may send.
    for _stats in "$TRACING"/per_cpu/cpu[0-9]*/stats; do
        sed -n 's/^overrun: /overrun /p; s/^dropped events: /dropped /p' "$_stats"
    done >"$RESULTS/$1/tracing.txt"
    senders_tasks >"$RESULTS/$1/tasks.after"
    senders_fold "$RESULTS/$1/tasks.before" "$RESULTS/$1/tasks.after" <"$TRACING/trace" >"$RESULTS/$1/senders.txt"
    rm -f "$RESULTS/$1/tasks.before" "$RESULTS/$1/tasks.after"
    # Another tracer empties the buffer.
    echo nop >"$TRACING/current_tracer"
}

# senders_tasks [PROC]: "PID START NAME" of every thread. The start tells a task from another one that took over its pid.
senders_tasks() {
    # Tasks may end meanwhile.
    cat "${1:-/proc}"/[0-9]*/task/[0-9]*/stat 2>/dev/null | awk '
        {
            pid = name = rest = $0
            sub(/ .*/, "", pid)
            sub(/^[0-9]+ \(/, "", name)
            sub(/\) [^)]*$/, "", name)
            sub(/.*\) /, "", rest)
            split(rest, field, " ")
            print pid, field[20], name
        }'
}

# senders_fold BEFORE AFTER: "COUNT EVENT TARGET CALLBACK CALLSITE FRAME;FRAME;... TASK": the task is last, because its
# name may hold spaces. A stack comes after its event, with those of other CPUs between them. The kernel keeps no names of
# tasks while this traces (osnoise_settings says why), so a task that the trace does not name is one of the tasks at
# both ends of the window, and "gone" where its pid is of another task at the end.
senders_fold() {
    awk -v before="$1" -v after="$2" '
        function read(file, starts, line, pid, start) {
            while ((getline line <file) > 0) {
                pid = start = line
                sub(/ .*/, "", pid)
                sub(/^[0-9]+ /, "", start)
                sub(/ .*/, "", start)
                sub(/^[0-9]+ [0-9]+ /, "", line)
                taken[pid] = pid in first && first[pid] != start
                if (starts) first[pid] = start
                names[pid] = line
            }
            close(file)
        }
        BEGIN { read(before, 1); read(after, 0) }
        # `task` as the trace prints it, NAME-PID.
        function name(task, pid) {
            pid = task
            sub(/.*-/, "", pid)
            sub(/-[0-9]+$/, "", task)
            sub(/^ +/, "", task)
            pid += 0
            if (pid == 0) return "idle"
            if (task != "<...>" && task != "") return task
            return pid in names && !taken[pid] ? names[pid] : "gone"
        }
        function count(what) { if (what != "") found[what]++ }
        function end() { if (open) count(key " " (stack == "" ? "-" : stack) " " task); open = 0 }
        /^ => / {
            if (open && $2 !~ /^trace_/) stack = stack (stack == "" ? "" : ";") $2
            next
        }
        { end() }
        # The name of a task may look like a CPU, but not like one with flags and a time.
        !match($0, / \[[0-9]+\] +[^ ]+ +[0-9]+\.[0-9]+: /) { next }
        {
            cpu = substr($0, RSTART, RLENGTH)
            sub(/\].*/, "", cpu)
        }
        / <stack trace>$/ {
            if (cpu in keys) {
                open = 1; stack = ""; key = keys[cpu]; task = tasks[cpu]
                delete keys[cpu]
            }
            next
        }
        / ipi_send_cpu: cpu=| ipi_send_cpumask: cpumask=/ {
            if (cpu in keys) count(keys[cpu] " - " tasks[cpu])
            tasks[cpu] = name(substr($0, 1, RSTART - 1))
            event = $0 ~ / ipi_send_cpu: / ? "cpu" : "cpumask"
            target = callback = callsite = $0
            sub(/.* ipi_send_cpu(mask)?: cpu(mask)?=/, "", target)
            sub(/ .*/, "", target)
            sub(/.* callback=/, "", callback)
            sub(/\+.*/, "", callback)
            sub(/.* callsite=/, "", callsite)
            sub(/[+ ].*/, "", callsite)
            keys[cpu] = event " " target " " callback " " callsite
        }
        END {
            end()
            for (cpu in keys) count(keys[cpu] " - " tasks[cpu])
            for (each in found) print found[each], each
        }' | sort -rn
}
