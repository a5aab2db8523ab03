#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Make this Debian 12 machine ready for rtbisect; called by `make setup`.
#   setup.sh refusal   print one line when setup is needed and cannot run; change nothing
#   setup.sh           bootstrap Ansible, run playbooks/local.yml, remember that it is done
# A second run that finds nothing to do reads a few files and ends.
set -eu
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-/usr/bin/python3}
if [ -z "${RTBISECT_STATE:-}" ]; then
    # As config/paths.py has it: a relative one counts for nothing.
    case ${XDG_STATE_HOME:-} in
        /*) RTBISECT_STATE=$XDG_STATE_HOME/rtbisect ;;
        *) RTBISECT_STATE=${HOME:-/root}/.local/state/rtbisect ;;
    esac
fi
# python3-venv and python3-apt are what Ansible stands on; pip of Debian trusts ca-certificates.
BOOTSTRAP="python3 python3-venv python3-apt ca-certificates"
# Waits for another apt or dpkg (unattended upgrades) instead of giving up.
APT_GET="apt-get -o DPkg::Lock::Timeout=600"
stamp=.venv/.setup-stamp

export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
export PYTHON RTBISECT_STATE
# Ansible keeps its module files in the home of the user otherwise.
export ANSIBLE_REMOTE_TEMP="$PWD/.ansible-venv/home/tmp"

say() { echo "setup: $*"; }
give_up() {
    echo "setup: $*" >&2
    exit 2
}

python_version() { "$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

# What the machine was made ready with: whatever changes here makes setup run again.
key() {
    {
        echo "$PWD $RTBISECT_STATE $(python_version)"
        find playbooks ansible.cfg pyproject.toml tools/setup.sh requirements/build.lock \
            requirements/ansible.lock requirements/lava.lock \
            "requirements/python$(python_version).lock" -type f -print0 |
            sort -z | xargs -0 sha256sum
    } 2>/dev/null | sha256sum | cut -d' ' -f1
}

packages() { # the list has one home: the role that installs it
    sed -n '/^debian_packages_names:/,/^[a-z]/s/^  - \([a-z0-9.+-]*\).*/\1/p' \
        playbooks/roles/debian_packages/defaults/main.yml
}

all_installed() { # <package> ...
    states=$(dpkg-query --show --showformat '${db:Status-Status}\n' "$@" 2>/dev/null) || return 1
    ! echo "$states" | grep -qvx installed
}

# shellcheck disable=SC2046  # one word a package
ready() {
    [ -z "${AGAIN:-}" ] && [ -x .venv/bin/rtbisect ] &&
        [ -x "$RTBISECT_STATE/lava/venv/bin/python" ] && [ -x "$PYTHON" ] &&
        [ "$(cat "$stamp" 2>/dev/null)" = "$(key)" ] && all_installed $(packages)
}

refusal() {
    if [ "$(id -u)" -ne 0 ]; then
        command="make -C $PWD ${RTBISECT_GOALS:-setup}"
        case $(command -v sudo) in
            "") echo "setup installs packages and needs root; run: su -c '$command'" ;;
            *) echo "setup installs packages and needs root; run: sudo $command" ;;
        esac
    elif ! command -v apt-get >/dev/null; then
        echo "setup prepares Debian 12 (bookworm), and apt-get is not here; use such a machine or chroot"
    elif [ -x "$PYTHON" ] && [ ! -f "requirements/python$(python_version).lock" ]; then
        echo "$PYTHON is Python $(python_version), for which there is no requirements/python$(python_version).lock; leave PYTHON unset for Debian's own"
    elif [ ! -x "$PYTHON" ] && [ "$PYTHON" != /usr/bin/python3 ]; then
        echo "PYTHON=$PYTHON is not there; leave it unset for Debian's own"
    fi
}

has_candidates() { # <package> ...: does apt know a version of each?
    policy=$(apt-cache policy "$@")
    [ "$(echo "$policy" | grep -c '^  Candidate:')" -eq $# ] &&
        ! echo "$policy" | grep -q '^  Candidate: (none)'
}

bootstrap_packages() {
    # shellcheck disable=SC2086  # one word a package
    if all_installed $BOOTSTRAP; then return; fi
    say "installing $BOOTSTRAP"
    # One broken source makes the update fail, and need not be the one that we need: the
    # installation decides.
    # shellcheck disable=SC2086
    has_candidates $BOOTSTRAP || $APT_GET update -qq || true
    for attempt in 1 2 3; do
        # shellcheck disable=SC2086
        if $APT_GET install -y -qq --no-install-recommends $BOOTSTRAP </dev/null >/dev/null; then
            return
        fi
        # A package that is gone from the mirror: the index is old.
        sleep $((attempt * 5))
        $APT_GET update -qq || true
    done
    give_up "apt-get cannot install $BOOTSTRAP; check /etc/apt/sources.list and the network"
}

bootstrap_ansible() {
    # The scripts in there name the checkout and the interpreter.
    wanted=$(
        echo "$PWD $PYTHON $(python_version)"
        sha256sum requirements/build.lock requirements/ansible.lock
    )
    [ "$(cat .ansible-venv/.locks 2>/dev/null)" != "$wanted" ] || return 0
    say "installing Ansible into .ansible-venv"
    "$PYTHON" -m venv --clear .ansible-venv
    for lock in build ansible; do
        .ansible-venv/bin/pip install --quiet --disable-pip-version-check --no-input \
            --require-hashes --no-build-isolation --requirement "requirements/$lock.lock" ||
            give_up "pip cannot install requirements/$lock.lock; check the network (PIP_INDEX_URL, PIP_CERT)"
    done
    echo "$wanted" >.ansible-venv/.locks
}

case ${1:-} in
    refusal)
        ready || refusal
        exit 0
        ;;
    "") ;;
    *) give_up "unknown argument $1" ;;
esac

if ready; then
    say "ready"
    exit 0
fi
why=$(refusal)
[ -z "$why" ] || give_up "$why"

# One setup at a time: apt, the virtual environments and LAVA's folder are shared.
mkdir -p "$RTBISECT_STATE"
exec 9>"$RTBISECT_STATE/setup.lock"
flock --nonblock 9 || {
    say "another setup runs; waiting for it"
    flock 9
}
rm -f "$stamp"
bootstrap_packages
why=$(refusal)
[ -z "$why" ] || give_up "$why"
bootstrap_ansible
ANSIBLE_CONFIG=ansible.cfg .ansible-venv/bin/ansible-playbook playbooks/local.yml </dev/null 9>&- ||
    give_up "the playbook stopped; the task above says why; then run make setup again"
key >"$stamp"
say "ready; state in $RTBISECT_STATE"
