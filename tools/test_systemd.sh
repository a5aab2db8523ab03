#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile code in the sandbox where systemd owns the control groups (version 2): a minimal Debian 12
# with systemd as process 1, made by debootstrap and booted in QEMU with Debian's own kernel. The
# checkout and its .venv are copied there. The tests run twice: in scopes of systemd, and in groups
# that are made as folders.
#   KEEP=1               leave the folder behind and say where it is
#   DEBIAN_MIRROR        http://deb.debian.org/debian
set -euo pipefail

# shellcheck source=tools/machine.sh
. "$(dirname "${BASH_SOURCE[0]}")/machine.sh"

in_the_guest() { # print what runs there, in the checkout
    cat <<'EOF'
export LC_ALL=C.UTF-8 HOME=/root
mkdir /tmp/plain
cat >/tmp/plain/plain.py <<'PLUGIN'
from rtbisect.kernel import cgroups

cgroups.systemd_works = lambda: False
PLUGIN
failed=0
tests() { # <plugin option ...>
    .venv/bin/python -m pytest --no-skips "$@" tests/integration/kernel/test_hostile_code.py || failed=1
}
.venv/bin/python -c 'import sys
from rtbisect.kernel import cgroups
sys.exit(not cgroups.systemd_works())' || failed=1
tests
PYTHONPATH=/tmp/plain tests -p plain
left=$(find /sys/fs/cgroup -maxdepth 2 -name 'rtbisect-*' | wc -l)
[ "$left" = 0 ] || failed=1
echo "guest: $left groups left, failed=$failed"
systemctl poweroff
EOF
}

make_disk() { # <folder>: root below it becomes the disk image beside it
    local root=$1/root packages=systemd,systemd-sysv,dbus,python3,bubblewrap,gcc,libc6-dev,perl,procps
    minimal_debian "$root" bookworm \
        --include="$packages,initramfs-tools,linux-image-cloud-amd64"
    mkdir -p "$root$PWD"
    git archive HEAD | tar -x -C "$root$PWD"
    cp -a .venv "$root$PWD/"
    in_the_guest >"$root/in_the_guest.sh"
    cat >"$root/etc/systemd/system/walk.service" <<EOF
[Service]
Delegate=yes
WorkingDirectory=$PWD
ExecStart=/bin/bash /in_the_guest.sh
StandardOutput=file:/dev/ttyS0
StandardError=file:/dev/ttyS0
[Install]
WantedBy=multi-user.target
EOF
    mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
    ln -s ../walk.service "$root/etc/systemd/system/multi-user.target.wants/"
    # A login prompt would hang the console up.
    ln -s /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service"
    echo "/dev/vda / ext4 defaults 0 1" >"$root/etc/fstab"
    mke2fs -q -F -t ext4 -d "$root" "$1/disk.img" 4G
}

boot() { # <folder>
    local images=("$1"/root/boot/vmlinuz-* "$1"/root/boot/initrd.img-*)
    local accelerators
    mapfile -t accelerators < <(.venv/bin/python -c 'from rtbisect.lab.qemu_host import accelerators
for name in accelerators():
    print("-accel", name, sep="\n")')
    timeout 3600 qemu-system-x86_64 -machine q35 "${accelerators[@]}" -cpu qemu64 -smp 2 -m 3072 -nographic \
        -no-reboot -net none -kernel "${images[0]}" -initrd "${images[1]}" \
        -append "root=/dev/vda rw console=ttyS0 systemd.show_status=0 quiet" \
        -drive "file=$1/disk.img,format=raw,if=virtio,cache=unsafe" </dev/null | tee "$1/console.log"
}

main() {
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    [[ $(id -u) -eq 0 ]] || give_up "debootstrap needs root; run: sudo make -C $PWD test-systemd"
    { command -v debootstrap && command -v mke2fs; } >/dev/null ||
        give_up "run: apt-get install --no-install-recommends debootstrap e2fsprogs"
    made=$(mktemp -d "${TMPDIR:-/var/tmp}/rtbisect-systemd.XXXXXX")
    trap clean EXIT
    say "a machine with systemd"
    make_disk "$made"
    say "booting it"
    boot "$made"
    grep -q "guest: 0 groups left, failed=0" "$made/console.log" || give_up "failed, see above"
    say "passed"
}

main "$@"
