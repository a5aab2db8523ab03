#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Do what a new user does, on a machine that has nothing: a minimal Debian 12 made by debootstrap, no
# locale, no git identity, no package index. The committed state of this checkout is set up there,
# set up again without network, tested, and boots one kernel. With words after it, that command runs
# there instead, in the checkout: tools/test_fresh.sh make demo ARGS="--seed 7"
#   KEEP=1               leave the folder behind and say where it is
#   RTBISECT_TEST_CA     certificate bundle to trust inside (else PIP_CERT, SSL_CERT_FILE), for a
#                        network that has a certificate authority of its own
#   DEBIAN_MIRROR, DEBIAN_SECURITY_MIRROR
#   DEBIAN_SUITE         bookworm, or a later Debian with the LAVA of its backports: trixie-backports
#
# Root's mounts are never touched from here: bubblewrap makes a mount namespace before it mounts
# anything, and what it mounted ends with it. (A plain chroot would not do: the sandbox under test
# makes user namespaces, which the kernel refuses in a chroot.)
set -euo pipefail

# shellcheck source=tools/machine.sh
. "$(dirname "${BASH_SOURCE[0]}")/machine.sh"

make_machine() { # <folder>
    local root=$1 newest=${DEBIAN_SUITE:-bookworm} proxy="" suite
    local mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
    local security=${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
    local ca=${RTBISECT_TEST_CA:-${PIP_CERT:-${SSL_CERT_FILE:-}}}
    suite=${newest%-backports}
    minimal_debian "$root" "$suite"
    cat >"$root/etc/apt/sources.list" <<EOF
deb $mirror $suite main
deb $mirror $suite-updates main
deb $security $suite-security main
EOF
    if [[ $newest != "$suite" ]]; then
        echo "deb $mirror $newest main" >>"$root/etc/apt/sources.list"
        printf 'Package: src:lava src:python-django\nPin: release n=%s\nPin-Priority: 900\n' "$newest" \
            >"$root/etc/apt/preferences.d/lava"
    fi
    rm -rf "$root"/var/lib/apt/lists/*
    cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    [[ -z $proxy ]] || echo "Acquire::http::Proxy \"$proxy\";" >"$root/etc/apt/apt.conf.d/90proxy"
    if [[ -n $ca ]]; then
        mkdir -p "$root/usr/local/share/ca-certificates"
        cp "$ca" "$root/usr/local/share/ca-certificates/network.crt"
    fi
    git clone --quiet --no-hardlinks . "$root/root/rtbisect"
}

new_user() { # print the script that runs inside
    cat <<'EOF'
SECONDS=$BEGIN
say() { echo "test-fresh: $* (${SECONDS} s)"; }

# A /proc with nothing mounted over it: else the sandbox under test may not mount its own.
mount -t proc proc /proc

say "what the README asks for"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends make git ca-certificates >/dev/null
unset DEBIAN_FRONTEND
# An image often comes without its package index: setup has to notice.
rm -rf /var/lib/apt/lists/*

cd /root/rtbisect
if git config user.email; then
    echo "test-fresh: there is a git identity" >&2
    exit 1
fi
if [ $# -gt 0 ]; then
    say "$*"
    exec "$@"
fi
say "make setup"
make setup
say "make setup, again, without network"
unshare --net make setup
say "make test-unit"
make test-unit
if grep -rqs one_boot tests/road; then
    say "one boot"
    .venv/bin/python -m pytest tests/road -k one_boot
else
    say "tests/road has no test named one_boot"
fi
if [ -n "$(git status --porcelain)" ]; then
    git status --short
    echo "test-fresh: setup or tests left files that git sees" >&2
    exit 1
fi
EOF
}

enter() { # <folder> [command]: run the script inside, with nothing of the caller's environment but
    # the way to the network
    local root=$1 name
    shift
    local environment=(--clearenv --setenv HOME /root --setenv TERM dumb --setenv BEGIN "$SECONDS"
        --setenv PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY \
        PIP_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT; do
        [[ -z ${!name:-} ]] || environment+=(--setenv "$name" "${!name}")
    done
    new_user >"$root/new_user.sh"
    bwrap --bind "$root" / --dev-bind /dev /dev --ro-bind /sys /sys --dir /proc --perms 1777 --tmpfs /tmp \
        --unshare-pid --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent --cap-add ALL \
        "${environment[@]}" --chdir /root /bin/bash -eu /new_user.sh "$@" </dev/null
}

# Read whole before it runs: a change of this file cannot reach a run.
main() {
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    [[ $(id -u) -eq 0 ]] || give_up "debootstrap needs root; run: sudo make -C $PWD test-fresh"
    { command -v debootstrap && command -v bwrap; } >/dev/null ||
        give_up "run: apt-get install --no-install-recommends debootstrap bubblewrap"
    git rev-parse --quiet --verify HEAD >/dev/null || give_up "nothing is committed that could be tested"

    made=$(mktemp -d "${TMPDIR:-/var/tmp}/rtbisect-fresh.XXXXXX")
    trap clean EXIT
    chmod 755 "$made"
    say "debootstrap"
    make_machine "$made"
    enter "$made" "$@"
    say "passed"
}

{ main "$@"; exit; }
