#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tier.sh <name> <folder> ...: run pytest on those folders that hold tests. A tier without any
# test is told and passes; a folder with tests of which none is collected fails (pytest's 5). So does
# a test that is skipped: `make setup` installs what tests need.
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
    unit | integration) set -- --numprocesses auto --maxprocesses 4 --dist worksteal "$@" ;;
esac
exec .venv/bin/python -m pytest --no-skips "$@"
