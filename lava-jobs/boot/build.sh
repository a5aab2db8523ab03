#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernels of this folder from their source, each with the configuration that it had, into built/<commit>.
#   sh build.sh TREE [FRAGMENT...]   TREE: a clone with these commits, which are checked out there
# A FRAGMENT is a file with more options, such as the drivers of your machine.
# Needs gcc, make, bc, bison, flex, cpio, and the headers of libelf and libssl.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(git -C "${1:-/nowhere}" rev-parse --show-toplevel 2>/dev/null) || {
    echo "build.sh: ${1:-TREE} is no git clone; sh build.sh TREE [FRAGMENT...]" >&2
    exit 2
}
shift

shown() {
    echo "+ $*" >&2
    "$@"
}

# kmake TARGET...: make for one kernel. The name of the commit in `uname -r` tells measure.sh which kernel runs.
kmake() {
    shown make -s -C "$tree" O="$out" LOCALVERSION="-$commit" -j"$(nproc)" "$@"
}

for folder in "$here"/kernels/*/; do
    commit=$(basename "$folder")
    out=$here/built/$commit
    rm -rf "$out/suite" "$out/root" "$out/complete"
    mkdir -p "$out/suite" "$out/root/opt/rtbisect/modules"
    shown git -C "$tree" checkout --quiet --detach "$commit"
    cp "$folder/config" "$out/.config"
    if [ $# -gt 0 ]; then
        shown "$tree/scripts/kconfig/merge_config.sh" -m -O "$out" "$out/.config" "$@"
    fi
    kmake olddefconfig
    kmake bzImage
    if grep -q '^CONFIG_MODULES=y' "$out/.config"; then
        kmake modules
        # Modules of the suites (this folder's modules) are built against the same kernel.
        if [ -d "$here/modules" ]; then
            cp "$here"/modules/* "$out/suite"
            kmake M="$out/suite" modules
        fi
    fi
    # The ramdisk of the campaign, and behind it these modules in the place of its own.
    cp "$folder/initramfs.cpio.gz" "$out"
    find "$out" -path "$out/root" -prune -o -name '*.ko' -exec cp {} "$out/root/opt/rtbisect/modules" \;
    (cd "$out/root" && find opt | cpio --quiet -o -H newc | gzip >>"$out/initramfs.cpio.gz")
    cp "$out/arch/x86/boot/bzImage" "$out"
    touch "$out/complete"
    echo "build.sh: built/$commit; to boot it on this machine: sudo make -C $tree O=$out LOCALVERSION=-$commit modules_install install"
done
echo "build.sh: the boot line of the campaign is in $here/cmdline"
