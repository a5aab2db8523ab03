#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tier.sh <name> <folder> ...: run pytest on those folders that hold tests. A tier without any
# test is told and passes; a folder with tests of which none is collected fails (pytest's 5). So does
# a test that is skipped: `make setup` installs what tests need. `make test-night` gives pytest
# another depth by PYTEST_ADDOPTS (tests/conftest.py).
set -eu
cd "$(dirname "$0")/.."

name=$1
shift
for folder in "$@"; do
    shift
    [ -z "$(find "$folder" -name 'test_*.py' -print -quit 2>/dev/null)" ] || set -- "$@" "$folder"
done
if [ $# -eq 0 ]; then
    echo "test-$name: no tests in this tier"
    exit 0
fi
echo "test-$name: $*"
# Whether this machine has 4 GiB of memory to spare, and 2 of them for files that may run.
spare_memory() {
    free=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    files=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
    [ "${free:-0}" -ge 4194304 ] && [ "${files:-0}" -ge 2097152 ] || return 1
    case $(findmnt -n -o OPTIONS -T /dev/shm) in *noexec*) return 1 ;; esac
}

memory=
# Real kernels are measured one at a time; all else may run beside itself.
case $name in
    unit | integration)
        # One more than there are processors: some tests wait, for a BMC or a server that is silent.
        workers=$(($(nproc) + 1))
        [ $workers -le 4 ] || workers=4
        set -- --numprocesses $workers --dist worksteal "$@"
        # There are as many of these as processors: threads of one would only wait for another's.
        export OPENBLAS_NUM_THREADS=1
        # Hundreds of small databases, each written to the disk at every step: a fifth of the time.
        if [ "$name" = unit ] && [ -z "${TMPDIR:-}" ] && spare_memory; then
            memory=/dev/shm
        fi
        ;;
esac
# Its own folder goes at the end. pytest keeps those of three runs, and to take an older one away
# costs it up to a minute that nothing else uses.
made=$(mktemp -d "${memory:-${TMPDIR:-/tmp}}/rtb-XXXXXX")
trap 'rm -rf "$made"; exit 130' INT TERM
if .venv/bin/python -m pytest --no-skips --basetemp "$made/t" "$@"; then
    rm -rf "$made"
else
    code=$?
    if [ -n "$memory" ]; then # Nobody would look for what is missing there.
        kept=$(mktemp -d /tmp/rtb-XXXXXX)
        mv "$made" "$kept"
        made=$kept/${made##*/}
    fi
    echo "test-$name: what the tests left is in $made/t" >&2
    exit $code
fi
