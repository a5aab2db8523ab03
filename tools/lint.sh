#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every gate in turn, to the end; exit 1 and the names when some failed.
set -eu
cd "$(dirname "$0")/.."

ansible=.ansible-venv
failed=""

gate() { # <name> <command> [argument ...]
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed${failed:+,} $name"
}

# ansible-lint and shellcheck are not part of the setup: only who changes the playbooks needs them.
wanted=$(sha256sum requirements/lint.lock)
if [ "$(cat "$ansible/.lint-lock" 2>/dev/null)" != "$wanted" ]; then
    "$ansible/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
        --only-binary :all: --requirement requirements/lint.lock
    echo "$wanted" >"$ansible/.lint-lock"
fi

scripts=$(find .ci tools lava-jobs tests -type f \( -name '*.sh' -o -name init -o -name run \
    -o -path '*/vmetal/chassis' -o -path '*/vmetal/qemu' \))

# No cache: the order of imports depends on which files there are, and the cache does not see those.
gate "ruff check" .venv/bin/ruff check --no-cache
gate "ruff format" .venv/bin/ruff format --check
gate mypy .venv/bin/mypy
gate "unused code" .venv/bin/python tools/unused.py
gate "findings" .venv/bin/python tools/findings.py
gate import-linter .venv/bin/lint-imports --no-logo
gate codespell .venv/bin/codespell
gate yamllint .venv/bin/yamllint --strict .
gate ansible-lint env PATH="$PWD/$ansible/bin:$PATH" LC_ALL=C.UTF-8 \
    ANSIBLE_HOME="$PWD/$ansible/home" "$ansible/bin/ansible-lint" -q
# The device's scripts source each other by a path that is known only there, and share variables so.
# shellcheck disable=SC2086  # file names of this project have no spaces
gate shellcheck "$ansible/bin/shellcheck" --exclude=SC1091,SC2034 $scripts

if [ -n "$failed" ]; then
    echo "lint: failed:$failed" >&2
    exit 1
fi
echo "lint: every gate passed"
