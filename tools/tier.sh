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
# Real kernels are measured one at a time; all else may run beside itself.
case $name in
    unit | integration)
        # One more than there are processors: some tests wait, for a BMC or a server that is silent.
        workers=$(($(nproc) + 1))
        [ $workers -le 4 ] || workers=4
        set -- --numprocesses $workers --dist worksteal "$@"
        # There are as many of these as processors: threads of one would only wait for another's.
        export OPENBLAS_NUM_THREADS=1
        ;;
esac
# Its own folder goes at the end. pytest keeps those of three runs, and to take an older one away
# costs it up to a minute that nothing else uses.
made=$(mktemp -d "${TMPDIR:-/tmp}/rtb-XXXXXX")
trap 'rm -rf "$made"; exit 130' INT TERM
if .venv/bin/python -m pytest --no-skips --basetemp "$made/t" "$@"; then
    rm -rf "$made"
else
    code=$?
    echo "test-$name: what the tests left is in $made/t" >&2
    exit $code
fi
