# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=ash
# A workload of the site's own: a program or script of its site file, at this place on the device.

# 20 ms each: five seconds to get ready, and as many to end.
SITE_TRIES=250

window_siteload_off() {
    counted_window siteload-off
}

# It runs in a session of its own, so that its children end with it, and has to live from "ready" to our signal.
window_siteload_on() {
    _dir=$RESULTS/siteload-on
    _ok=0
    HOUSEKEEPING=$HOUSEKEEPING ISOLATED=$ISOLATED WATCH=$WATCH \
        setsid "$RTBISECT/bin/site-workload" </dev/null >"$_dir/workload.out" 2>"$_dir/workload.err" &
    _load=$!
    await_ready "$_load" "$SITE_TRIES" "$_dir/workload" "the workload" && counted_window siteload-on && kill -0 "$_load" 2>/dev/null || _ok=1
    siteload_stop
    [ "$_ok" -eq 0 ] || return 1
    rm -f "$_dir/workload.out" "$_dir/workload.err"
}

siteload_stop() {
    kill -TERM "-$_load" 2>/dev/null || true
    _tries=$SITE_TRIES
    while [ "$_tries" -gt 0 ] && kill -0 "$_load" 2>/dev/null; do
        _tries=$((_tries - 1))
        usleep 20000
    done
    kill -KILL "-$_load" 2>/dev/null || true
    wait "$_load" 2>/dev/null || true
}
