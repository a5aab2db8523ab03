#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# merge_config.sh -m -O DIR BASE FRAGMENT...: later files win, nothing is checked.
set -e
[ "$1" = -m ] && [ "$2" = -O ] || { echo "usage: -m -O DIR BASE FRAGMENT..." >&2; exit 1; }
out=$3
shift 3
cat "$@" > "$out/.merged"
mv "$out/.merged" "$out/.config"
