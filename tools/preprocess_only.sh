#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A compiler for kbuild that reads and does not compile: an object holds nothing but the hash of the
# text and of the options that the compiler would have seen, so that equal objects are equal kernels.
# What the build itself runs or links is compiled. See bench_silent.py.
real=${REAL_CC:-gcc}
out='' object='' whole='' prev=''
for word; do
    if [ "$prev" = -o ]; then out=$word; fi
    case $word in
    -c) object=1 ;;
    -S | -E | - | /dev/null) whole=1 ;;
    esac
    prev=$word
done
case $out in
'' | /dev/null | /tmp/* | *.tmp | *entry/vdso/* | *realmode/* | *purgatory/* | scripts/*) whole=1 ;;
esac
if [ -z "$object" ] || [ -n "$whole" ]; then exec "$real" "$@"; fi

# The same command without "-c" and "-o object".
for word; do
    shift
    case $word in
    -c) ;;
    -o) skip=1 ;;
    *) if [ -n "$skip" ]; then skip=''; else set -- "$@" "$word"; fi ;;
    esac
done
"$real" -E -P "$@" -o "$out.text" || exit
hash=$({ printf '%s\n' "$@" && cat "$out.text"; } | sha256sum)
rm -f "$out.text"
printf '.section .rtbisect,"a"\n.ascii "%s"\n' "${hash%% *}" | as --64 -o "$out" -
