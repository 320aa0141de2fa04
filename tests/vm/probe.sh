#!/bin/sh
# By hand: make check-vm KERNEL=vmlinuz
# gush probe on another kernel, under qemu's emulation: its answers are that kernel's, not this one's.
# Needs qemu-system-x86_64, cpio, jq and a static build (musl-gcc) in $O.
set -u
O=${O:-build}
kernel=${KERNEL:-}
for program in qemu-system-x86_64 cpio jq; do
  command -v "$program" > /dev/null || { echo "skip vm_probe: no $program"; exit 77; }
done
[ -r "$kernel" ] || { echo "skip vm_probe: KERNEL=vmlinuz names no kernel"; exit 77; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad() { echo "not ok vm_probe: $*"; exit 1; }

mkdir "$tmp/root"
cp "$O/tests/vm/init" "$tmp/root/init"
cp "$O/gush" "$tmp/root/gush"
(cd "$tmp/root" && find . | cpio -o -H newc 2> /dev/null) > "$tmp/initrd"
timeout 200 qemu-system-x86_64 -m 512 -nographic -no-reboot -nic none -kernel "$kernel" -initrd "$tmp/initrd" \
  -append 'console=ttyS0 quiet panic=-1' < /dev/null > "$tmp/console" 2>&1
tr -d '\r' < "$tmp/console" | sed -n '/BEGIN$/,/^END$/p' | sed '1d;$d' > "$tmp/json"
jq -e . "$tmp/json" > /dev/null || { tail -20 "$tmp/console"; bad "no answer"; }
"$O/gush" probe --json > "$tmp/here" || bad "no answer here"
jq -c '{vmsplice, vmsplice_to_memory, barrier, calls, pipe}' "$tmp/json"
[ "$(jq -r .vmsplice "$tmp/json")" = alias ] || bad "vmsplice does not alias there"
[ "$(jq '[.ways[] | select(.way == null)] | length' "$tmp/json")" = 0 ] || bad "pairs without a way"
# Pipes take RWF_NOWAIT since 6.5: before, the probe must say that it does not.
if [ "$(jq -S .calls "$tmp/json")" = "$(jq -S .calls "$tmp/here")" ]; then
  bad "the other kernel's calls are answered as this one's"
fi
echo "ok vm_probe"
