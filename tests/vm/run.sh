#!/bin/sh
# Another kernel under qemu's emulation: gush probe's answers there must be that kernel's, and the test programs that
# tests/vm/programs lists must pass. For make check-vm, which builds them static in $O/vm/static and runs this by tests/run.
# KERNEL=vmlinuz names the kernel; else tests/vm/kernel.sh gets one. Modules (*.ko) that lie beside it are loaded.
set -u
O=${O:-build}
static=$O/vm/static
skip() { echo "skip vm: $*"; exit 77; }
for program in qemu-system-x86_64 cpio jq; do
  command -v "$program" > /dev/null || skip "no $program"
done
if [ -n "${KERNEL:-}" ]; then
  kernel=$KERNEL
else
  kernel=$(sh tests/vm/kernel.sh)
  status=$?
  [ $status -ne 77 ] || skip "$kernel"
  [ $status -eq 0 ] || exit 1
fi
[ -r "$kernel" ] || skip "$kernel cannot be read"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0
bad() { echo "not ok vm_$*"; failed=1; }

# add NAME FILE [ARGUMENT]...: a program of the machine, and a line of its list (see init.c)
add() {
  name=$1 file=${2#"$static"}
  mkdir -p "$tmp/root${file%/*}"
  cp "$2" "$tmp/root$file" || exit 1
  shift 2
  echo "$name $file $*" >> "$tmp/root/commands"
}

# boot: leaves what the programs said in $tmp/output
boot() {
  (cd "$tmp/root" && find . | cpio -o -H newc 2> /dev/null) > "$tmp/initrd"
  timeout -k 10 "${VM_TIMEOUT:-900}" qemu-system-x86_64 -m 1024 -display none -no-reboot -nic none -monitor none \
    -serial "file:$tmp/console" -serial "file:$tmp/output" -kernel "$kernel" -initrd "$tmp/initrd" \
    -append 'console=ttyS0 quiet panic=-1' < /dev/null > "$tmp/qemu" 2>&1
  release=$(sed -n 's/^KERNEL //p' "$tmp/output" 2> /dev/null)
  if [ -z "$release" ]; then
    cat "$tmp/qemu"
    tail -n 20 "$tmp/console"
    bad "boot: no word from $kernel"
    exit 1
  fi
  echo "$release here"
}

# said NAME: what it said, and its status
said() {
  sed -n "\|^BEGIN $1\$|,\|^END $1 |p" "$tmp/output" | sed 1d
}

check_probe() {
  said probe | sed '/^END /d' > "$tmp/json"
  jq -e . "$tmp/json" > /dev/null 2>&1 || { said probe; bad "probe: no answer"; return; }
  jq -c '{vmsplice, vmsplice_to_memory, barrier, calls, pipe}' "$tmp/json"
  [ "$(jq -r .vmsplice "$tmp/json")" = alias ] || { bad "probe: vmsplice does not alias there"; return; }
  [ "$(jq '[.ways[] | select(.way == null)] | length' "$tmp/json")" = 0 ] || { bad "probe: pairs without a way"; return; }
  # Pipes take RWF_NOWAIT since 6.5: before, the probe must say that they do not.
  [ "$(printf '%s\n' 6.5 "$release" | sort -V | head -n 1)" = 6.5 ] && wanted=ok || wanted=EOPNOTSUPP
  got=$(jq -r '.calls["preadv2-nowait"]' "$tmp/json")
  [ "$got" = "$wanted" ] || { bad "probe: RWF_NOWAIT of a pipe is $got, not $wanted"; return; }
  echo "ok vm_probe"
}

# check_program NAME: passes its lines on, and a line of its own if it did not end as they say
check_program() {
  said "$1" > "$tmp/lines"
  status=$(sed -n "s|^END $1 ||p" "$tmp/lines")
  sed '/^END /d; /^$/d; s/^ok /&vm_/; s/^not ok /&vm_/; s/^skip /&vm_/' "$tmp/lines"
  if grep -q '^not ok ' "$tmp/lines"; then
    failed=1
  elif [ "$status" != 0 ] && [ "$status" != 77 ]; then
    bad "$1: exit status ${status:-none}"
    tail -n 20 "$tmp/console"
  elif ! grep -q -e '^ok ' -e '^skip ' "$tmp/lines"; then
    bad "$1: it checked nothing"
  fi
}

mkdir -p "$tmp/root/modules"
cp "${kernel%/*}"/*.ko "$tmp/root/modules" 2> /dev/null
cp "$static/tests/vm/init" "$tmp/root/init" || exit 1
add probe "$static/gush" probe --json
programs=$(sed 's/#.*//' tests/vm/programs)
for program in $programs; do
  add "$program" "$static/tests/$program"
done
boot
check_probe
for program in $programs; do
  check_program "$program"
done
exit $failed
