#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# conf.sh MODE KCONFIG CONFIG: tinyconfig starts from the defaults, olddefconfig keeps what
# Kconfig knows and whose dependency is met, and silently drops everything else.
set -e
mode=$1 kconfig=$2 config=$3
case $mode in
tinyconfig) old=/dev/null ;;
olddefconfig) old=$config ;;
*) echo "*** Can't find default configuration \"$mode\"!" >&2; exit 1 ;;
esac
awk -v old="$old" '
BEGIN {
	while ((getline line < old) > 0)
		if (match(line, /^CONFIG_[A-Za-z0-9_]+=/)) {
			name = substr(line, 8, RLENGTH - 8)
			have[name] = substr(line, RLENGTH + 1)
		} else if (line ~ /^# CONFIG_.* is not set$/) {
			split(line, word, " "); have[substr(word[2], 8)] = "n"
		}
}
/^config / { name = $2; order[++count] = name; next }
/^[ \t]+default / { value[name] = $2; next }
/^[ \t]+depends on / { needs[name] = $3; next }
/^#|^$/ { next }
{ printf "%s:%d: syntax error\n", FILENAME, FNR > "/dev/stderr"; bad = 1; exit 1 }
END {
	if (bad) exit 1
	for (i = 1; i <= count; i++) {
		name = order[i]
		if (name in have) value[name] = have[name]
	}
	for (i = 1; i <= count; i++) {
		name = order[i]
		if (name in needs && value[needs[name]] != "y") continue
		if (value[name] == "n") print "# CONFIG_" name " is not set"
		else print "CONFIG_" name "=" value[name]
	}
}' "$kconfig" > "$config.new"
mv "$config.new" "$config"
