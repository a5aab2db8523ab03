#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Write requirements/*.lock anew: the newest versions, the hashes of every file; needs the package
# index. One name (build, python3.11, ansible, ...) as argument writes that lock alone.
set -eu
cd "$(dirname "$0")/.."

# uv resolves for another Python version than its own and takes the hashes from the index;
# pip-tools has to download every wheel of every platform for them.
UV=0.13.8
PYTHON=${PYTHON:-/usr/bin/python3}

# Settings of this machine must not show in a lock; mirrors and certificates may.
for name in $(env | sed -n 's/^\(UV_[A-Z_]*\)=.*/\1/p'); do
    case $name in
        UV_INDEX_URL | UV_DEFAULT_INDEX | UV_NATIVE_TLS | UV_SYSTEM_CERTS) ;;
        *) unset "$name" ;;
    esac
done
unset PIP_FIND_LINKS PYTHONPATH PYTHONHOME VIRTUAL_ENV
export UV_CUSTOM_COMPILE_COMMAND="make lock"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/rtbisect-lock.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$PYTHON" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "uv==$UV"

lock() { # <name> <python version> <source> [option ...]
    name=$1 version=$2 source=$3
    shift 3
    [ -z "$only" ] || [ "$only" = "$name" ] || return 0
    "$work/venv/bin/uv" pip compile --quiet --no-config --upgrade --generate-hashes \
        --python-version "$version" --python-platform x86_64-manylinux_2_28 \
        --no-emit-index-url --no-emit-find-links \
        --output-file "requirements/$name.lock" "$@" "$source"
    echo "requirements/$name.lock: $(grep -c '==' "requirements/$name.lock") packages"
}

only=${1:-}
lock build 3.11 requirements/build.in
lock python3.11 3.11 pyproject.toml --extra dev --extra lab --extra demo --extra kcidb
lock python3.13 3.13 pyproject.toml --extra dev --extra lab --extra demo --extra kcidb
lock ansible 3.11 requirements/ansible.in
lock lint 3.11 requirements/lint.in
lock lava 3.11 requirements/lava.in
