#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every window of the campaign once, on this machine; then the figures of all such runs so far. Run it in each kernel of build.sh,
# booted with the words of the file cmdline.
#   sh measure.sh [--housekeeping CPUS --isolated CPUS --watch CPUS --smt 0]   where the machine has other CPUs than the campaign's
# Programs and scripts are those of the campaign's ramdisk, unpacked into a file system of its own that is gone at the end.
# Needs cpio, and root, for which it asks sudo.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/consoles.sh"

release=$(uname -r)
kernel=${release##*-}
ramdisk=$here/built/$kernel/initramfs.cpio.gz
[ -f "$here/built/$kernel/complete" ] || {
    echo "measure.sh: $release is no kernel of build.sh; boot one of $(cd "$here/kernels" && echo *)" >&2
    exit 2
}
running=" $(cat /proc/cmdline) " lacks=''
read -r wanted <"$here/cmdline"
for word in $wanted; do
    case $word in console=* | panic=*) continue ;; esac
    case $running in *" $word "*) ;; *) lacks="$lacks $word" ;; esac
done
[ -z "$lacks" ] || echo "measure.sh: note: the campaign booted with$lacks, this machine did not" >&2
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
new_console measured "$kernel"
echo "measure.sh: measures $kernel (${CONSOLE#"$here/"})"
echo "rtbisect: measured by hand" >"$CONSOLE"
# shellcheck disable=SC2016,SC2086  # the inner shell expands; as_root is a word or none
$as_root unshare --mount sh -euc '
    ramdisk=$1
    shift
    mount -t tmpfs -o mode=755 tmpfs /mnt
    cd /mnt
    # Archives stand one behind the other; cpio reads one at a time, and fails behind the last.
    zcat "$ramdisk" | { while cpio --quiet -idm 2>/dev/null; do :; done; }
    for folder in proc sys dev; do mount --rbind /$folder $folder; done
    [ -d sys/kernel/tracing/events ] || mount -t tracefs trace sys/kernel/tracing || true
    exec chroot . /bin/env PATH=/bin:/sbin:/usr/bin:/usr/sbin /opt/rtbisect/once "$@"
' measure.sh "$ramdisk" "$@" >>"$CONSOLE" || echo "measure.sh: it did not end well; see $CONSOLE" >&2
figures measured
