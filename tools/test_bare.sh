#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a plain install is worth: in bare roots of Debian 12 and 13, made by debootstrap, a user
# without rights installs the committed state of this checkout with pipx, from a wheel, from a clone
# and from the address of a repository, and finds a commit with it.
#   KEEP=1               leave the folders behind and say where they are
#   DEBIAN_SUITES        instead of "bookworm trixie"
#   RTBISECT_TEST_CA     certificate bundle to trust inside (else PIP_CERT, SSL_CERT_FILE)
#   DEBIAN_MIRROR
# Needs root and the network. Root's mounts are never touched: see test_fresh.sh.
set -euo pipefail

# shellcheck source=tools/machine.sh
. "$(dirname "${BASH_SOURCE[0]}")/machine.sh"

make_machine() { # <folder> <suite>
    local root=$1 ca=${RTBISECT_TEST_CA:-${PIP_CERT:-${SSL_CERT_FILE:-}}}
    minimal_debian "$root" "$2" --include=ca-certificates,git,pipx,python3-venv
    cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
    # Where a package index has an authority of its own.
    [[ -z $ca ]] || cp "$ca" "$root/etc/ssl/certs/ca-certificates.crt"
    git clone --quiet --no-hardlinks . "$root/srv/rtbisect"
    echo "user:x:1000:1000::/home/user:/bin/bash" >>"$root/etc/passwd"
    echo "user:x:1000:" >>"$root/etc/group"
    mkdir "$root/home/user"
    chown -R 1000:1000 "$root/home/user" "$root/srv/rtbisect"
}

new_user() { # print the script that runs inside
    cat <<'EOF'
say() { echo "test-bare: $NAME: $* ($SECONDS s)"; }

PATH=$HOME/.local/bin:$PATH
cd
git config --global user.name "A User"
git config --global user.email user@example.org
git init --quiet --initial-branch main noisy
for number in 1 2 3 4 5 6 7 8; do
    echo "$number" >noisy/count
    echo $((number < 6 ? 100 : 150)) >noisy/figure
    git -C noisy add --all
    git -C noisy commit --quiet --message "change $number"
done

try() { # <what pipx installs>
    SECONDS=0
    pipx install --force "$1" >pipx.log 2>&1 || {
        cat pipx.log >&2
        exit 1
    }
    say "installed from ${1%%:*}"
    (cd noisy && rtbisect run --good HEAD~7 --bad HEAD --json -- \
        sh -c 'echo $(($(cat figure) * 1000 + $(od -An -N2 -tu2 /dev/urandom) % 2000))') >answer 2>progress ||
        { cat progress >&2; exit 1; }
    say "answered"
    grep -q '"outcome": "culprit"' answer
    grep -q '"subject": "change 6"' answer
    rtbisect status | grep -q culprit
    rtbisect rejudge "$CLONE/tests/data/bundles/format-1" >/dev/null
    rtbisect report lint "$CLONE/tests/golden/mails/public_regression.eml" >/dev/null
    if rtbisect demo 2>told; then exit 1; fi
    grep -q 'rtbisect\[demo\]' told
    rm -rf .local/state
}

CLONE=/srv/rtbisect
python3 -m venv build
build/bin/pip --quiet --disable-pip-version-check wheel --no-deps --wheel-dir wheels "$CLONE"
try "$(echo "$HOME"/wheels/*.whl)"
try "$CLONE"
# The address of docs/install.md. The pipx of Debian 12 takes none without a host, as file:///srv.
git config --global "url.file://$CLONE.insteadOf" https://git.example.org/rtbisect.git
try git+https://git.example.org/rtbisect.git
EOF
}

enter() { # <folder> <name>: run the script inside as the user, with nothing of the caller's
    # environment but the way to the network
    local root=$1 name
    local environment=(--clearenv --setenv HOME /home/user --setenv TERM dumb --setenv NAME "$2"
        --setenv LC_ALL C.UTF-8 --setenv PATH /usr/bin:/bin)
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY \
        PIP_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT; do
        [[ -z ${!name:-} ]] || environment+=(--setenv "$name" "${!name}")
    done
    [[ -z ${PIP_CERT:-} ]] ||
        environment+=(--setenv PIP_CERT /etc/ssl/certs/ca-certificates.crt)
    new_user >"$root/new_user.sh"
    bwrap --bind "$root" / --dev /dev --proc /proc --perms 1777 --tmpfs /tmp \
        --unshare-pid --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent \
        --cap-add CAP_SETUID --cap-add CAP_SETGID "${environment[@]}" --chdir /home/user \
        setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set=-all --no-new-privs \
        /bin/bash -eu /new_user.sh </dev/null
}

# Read whole before it runs: a change of this file cannot reach a run.
main() {
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    [[ $(id -u) -eq 0 ]] || give_up "debootstrap needs root; run: sudo make -C $PWD test-bare"
    { command -v debootstrap && command -v bwrap; } >/dev/null ||
        give_up "run: apt-get install --no-install-recommends debootstrap bubblewrap"
    local suite
    for suite in ${DEBIAN_SUITES:-bookworm trixie}; do
        made=$(mktemp -d "${TMPDIR:-/var/tmp}/rtbisect-bare.XXXXXX")
        trap clean EXIT
        chmod 755 "$made"
        say "debootstrap $suite"
        make_machine "$made" "$suite"
        enter "$made" "$suite"
        clean
    done
    trap - EXIT
    say "passed"
}

{ main "$@"; exit; }
