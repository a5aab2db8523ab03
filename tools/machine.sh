# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What scripts share that make a minimal Debian to test in; sourced by them. Their folder is $made.

me=${0##*/}
me=${me%.sh}
me=${me//_/-}

say() { echo "$me: $* (${SECONDS} s)"; }
give_up() {
    echo "$me: $*" >&2
    exit 2
}

clean() { # for a trap
    # shellcheck disable=SC2154  # set by who sources this
    if [[ -n ${KEEP:-} ]]; then
        say "left behind: $made"
    else
        rm -rf --one-file-system "$made"
    fi
}

minimal_debian() { # <folder> <suite> [debootstrap's option ...]
    local root=$1 suite=$2
    shift 2
    debootstrap --variant=minbase "$@" "$suite" "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" \
        >"$made.log" 2>&1 || {
        tail -5 "$made.log" >&2
        give_up "debootstrap failed; its log is $made.log"
    }
    rm -f "$made.log"
}
