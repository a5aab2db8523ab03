# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154  # who sources it has set `here`
# Shared by boot.sh and measure.sh: where consoles are kept, and what makes figures of them.

# new_console FOLDER KERNEL: a name for the next console of a kernel, in CONSOLE.
new_console() {
    mkdir -p "$here/$1"
    _number=1
    while [ -e "$here/$1/$2.$_number.log" ]; do
        _number=$((_number + 1))
    done
    CONSOLE=$here/$1/$2.$_number.log
}

# figures FOLDER: of all consoles in it, by the program.
figures() {
    _program=$here/venv/bin/rtbisect
    [ -x "$_program" ] || _program=$(command -v rtbisect) || {
        echo "the consoles are in $here/$1; \`rtbisect figures $here $here/$1/*.log\` makes figures of them"
        return 0
    }
    "$_program" figures "$here" "$here/$1"/*.log
}
