#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Apply the playbooks of LAVA server and worker to this machine: as a question, for real, and again,
# when nothing may change. For a machine that is thrown away: `make test-playbooks` makes one.
set -eu
cd "$(dirname "$0")/.."

make setup
ansible=$PWD/.ansible-venv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/inventory.yml" <<'EOF'
lava_servers: {hosts: {localhost: {ansible_connection: local}}}
lava_workers: {hosts: {localhost: {ansible_connection: local}}}
EOF
# A secret of one run, for a machine of one run.
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
cat >"$work/lab.yml" <<EOF
lava_server_database_password: "$password"
lava_server_devices:
  - name: rt01
    type: smt-server
    worker: lab1
    dictionary: |
      {% raw %}
      {% extends 'smt-server.jinja2' %}
      {% set bmc = '192.0.2.21' %}
      {% set bmc_user = 'admin' %}
      {% set bmc_password = '/etc/rtbisect/rt01.password' %}
      {% set mac = '52:54:00:aa:bb:01' %}
      {% endraw %}
EOF

play() { # <what for> [option ...]
    echo "test-playbooks: $1"
    shift
    ANSIBLE_CONFIG=ansible.cfg ANSIBLE_REMOTE_TEMP="$ansible/home/tmp" LC_ALL=C.UTF-8 \
        "$ansible/bin/ansible-playbook" -i "$work/inventory.yml" -e "@$work/lab.yml" "$@" \
        playbooks/lava_server.yml playbooks/lava_worker.yml </dev/null >"$work/log" 2>&1 || {
        tail -60 "$work/log" >&2
        exit 1
    }
    grep -A9 '^PLAY RECAP' "$work/log"
}

play "check mode, before anything is there" --check
play "for real"
play "again"
if grep -q 'changed=[1-9]' "$work/log"; then
    grep -B3 '^changed:' "$work/log" >&2
    echo "test-playbooks: the second run changed something" >&2
    exit 1
fi
play "check mode, again" --check
manage() { runuser -u lavaserver -- lava-server manage "$@"; }
manage devices list | grep -q rt01
manage migrate --check
test -s /etc/rtbisect/lava-server/rtbisect.token
cmp /etc/rtbisect/lava-server/lab1.worker-token /var/lib/lava/dispatcher/worker/token
if grep -q "$password" "$work/log"; then
    echo "test-playbooks: the password is in the log" >&2
    exit 1
fi
echo "test-playbooks: passed"
