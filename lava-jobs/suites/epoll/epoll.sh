# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# Events a millisecond through one epoll instance, against the number of producers. All CPUs take part, and the
# watched ones are no quiet CPUs here: this is what a change of a lock costs or gains those who use it.

EPOLL_THREADS="1 2 4 8 16"
# Together: enough for a tenth of a second on the slowest emulated CPU.
EPOLL_EVENTS=8000

window_epoll_throughput() {
    _dir=$RESULTS/epoll-throughput
    for _threads in $EPOLL_THREADS; do
        "$RTBISECT/bin/epolltput" -k "$HOUSEKEEPING_CPU" -c "$ISOLATED" -n "$_threads" \
            -e $((EPOLL_EVENTS / _threads)) >>"$_dir/epoll.txt" 2>>"$_dir/epoll.err" || return 1
    done
    rm -f "$_dir/epoll.err"
    all_files "$_dir/epoll.txt"
}
