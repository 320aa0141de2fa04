#!/bin/sh
# What a program sees of the library: exported names, struct layouts, the header under several compilers and
# standards, and an installed copy found by pkg-config, linked both ways.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/../cli/lib.inc"
root=$here/../..
cc=${CC:-cc} so=$O/libgush.so
version=$(sed -n 's/^VERSION = //p' "$root/config.mk")
sanitizers=${SAN:+-fsanitize=$SAN}

# ---- names ----

exported() {
  nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
}

names() {
  exported "$1" > "$tmp/exported"
  sed -n '/^global:/,/^local:/s/^	\([a-z_]*\);$/\1/p' "$2" | sort > "$tmp/map"
  [ -s "$tmp/exported" ] || echo 'nothing is exported'
  for name in $(comm -3 "$tmp/exported" "$tmp/map"); do echo "$name: map and library differ"; done
  for name in $(comm -3 "$tmp/exported" "$here/names.golden"); do echo "$name: library and golden list differ"; done
}

if have nm; then
  begin exported_names
  names "$so" "$root/src/libgush.map" > "$tmp/wrong"
  is 'what is wrong' "$(cat "$tmp/wrong")" ''
  grep -v gush_copy "$root/src/libgush.map" > "$tmp/planted"
  is 'a planted fault' "$(names "$so" "$tmp/planted")" 'gush_copy: map and library differ'
  nm -D "$so" | grep -q ' gush_copy@@GUSH_0\.2$' || bad 'gush_copy has no version GUSH_0.2'
  nm -D "$so" | grep -q ' gush_consumer_next@@GUSH_0\.3$' || bad 'gush_consumer_next has no version GUSH_0.3'
  end
else
  skip exported_names 'no nm'
fi

if have readelf; then
  begin soname
  readelf -d "$so" > "$tmp/dynamic"
  is SONAME "$(sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p' "$tmp/dynamic")" libgush.so.0
  [ -n "$sanitizers" ] || is needed "$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$tmp/dynamic" |
    grep -v '^lib\(c\|pthread\)\.\|^ld-')" ''
  end
else
  skip soname 'no readelf'
fi

# ---- the header ----

# compiles NAME COMPILER STANDARD FILE
compiles() {
  begin "$1"
  if "$2" -x "$5" -std="$3" -Wall -Wextra -Wpedantic -Werror -I"$root/include" -c -o "$tmp/o" "$4" 2> "$tmp/err"; then
    good
  else
    bad "$(head -n 3 "$tmp/err")"
  fi
  end
}

echo '#include <gush.h>' > "$tmp/alone.c"
for standard in c11 c17; do
  compiles "header_alone_$standard" "$cc" $standard "$tmp/alone.c" c
  compiles "header_used_$standard" "$cc" $standard "$here/use.c" c
done
case $(getconf LONG_BIT) in
  64) compiles layout "$cc" c11 "$here/layout.c" c ;;
  *) skip layout 'no 64-bit machine' ;;
esac
begin layout_notices
sed 's/uint64_t limit_bytes/uint32_t limit_bytes/' "$root/include/gush.h" > "$tmp/gush.h"
"$cc" -std=c11 -I"$tmp" -c -o "$tmp/o" "$here/layout.c" 2> "$tmp/err" && bad 'a changed field goes unnoticed'
grep -q 'gush_transfer_options.limit_bytes has another size' "$tmp/err" || bad 'another complaint'
rm "$tmp/gush.h"
good
end
for compiler in g++ clang++; do
  if have "$compiler" && echo 'int main() {}' | "$compiler" -x c++ -c -o "$tmp/o" - 2> "$tmp/err"; then
    compiles "header_used_$compiler" "$compiler" c++17 "$here/use.c" c++
  else
    skip "header_used_$compiler" "no $compiler"
  fi
done

# Types whose size depends on the compiler, its options or the language do not belong into what programs share.
odd_types() {
  awk '/^struct [a-z_]* \{/ { inside = 1 } inside && /^}/ { inside = 0 }
    inside { sub(/\/\*.*/, ""); if (/(^|[ \t])(bool|_Bool|enum|off_t|long|time_t)[ \t]/) print }' "$1"
}

begin field_types
is 'odd types' "$(odd_types "$root/include/gush.h")" ''
sed 's/int64_t drop_after_ns/off_t drop_after_ns/' "$root/include/gush.h" > "$tmp/planted.h"
[ -n "$(odd_types "$tmp/planted.h")" ] || bad 'a planted off_t goes unnoticed'
is 'sizes first' "$(grep -A 1 '^struct gush_.* {' "$root/include/gush.h" | grep -c 'size_t size;')" 5
end

# ---- an installed copy ----

# With the prefix and flags of the build that is tested: others would build it anew.
make_it() {
  make -s -C "$root" O="$O" SAN="${SAN:-}" CC="$cc" DESTDIR="$tmp/root" "$1" > "$tmp/make" 2>&1 ||
    bad "make $1: $(cat "$tmp/make")"
}

if ! have make || ! have pkg-config; then
  skip installed 'no make or no pkg-config'
  finish
fi
begin installed
make_it install
PKG_CONFIG_PATH=$(dirname "$(find "$tmp/root" -name gush.pc)") PKG_CONFIG_SYSROOT_DIR=$tmp/root
libdir=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
is modversion "$(pkg-config --modversion gush)" "$version"
is 'links that lead nowhere' "$(find -L "$tmp/root" -type l)" ''
[ -n "$(find "$tmp/root" -path '*/man3/gush_transfer_step.3')" ] || bad 'gush_transfer_step.3 is not installed'
echo 'forty-two bytes are what is copied by it.' > "$tmp/data"
# shellcheck disable=SC2046,SC2086 # words
{
  "$cc" $sanitizers -o "$tmp/shared" "$here/use.c" $(pkg-config --cflags --libs gush) 2> "$tmp/err" ||
    bad "shared: $(head -n 3 "$tmp/err")"
  "$cc" $sanitizers -o "$tmp/static" "$here/use.c" $(pkg-config --cflags gush) \
    -Wl,-Bstatic $(pkg-config --libs-only-L --libs-only-l gush) -Wl,-Bdynamic -pthread 2> "$tmp/err" ||
    bad "static: $(head -n 3 "$tmp/err")"
}
for kind in shared static; do
  LD_LIBRARY_PATH=$libdir "$tmp/$kind" < "$tmp/data" > "$tmp/out" 2> "$tmp/err" || bad "$kind: status $?"
  cmp -s "$tmp/data" "$tmp/out" || bad "$kind: contents"
  is "what $kind prints" "$(cat "$tmp/err")" "$version 34 42 32 40 32"
done
is 'the static program without the library' "$("$tmp/static" < "$tmp/data" 2> "$tmp/err")" "$(cat "$tmp/data")"
"$tmp/shared" < "$tmp/data" > "$tmp/out" 2> "$tmp/err" && bad 'the shared program runs without the library'
end

begin fully_static
# shellcheck disable=SC2046,SC2086
if [ -n "$sanitizers" ] || ! echo 'int main(void) {}' | "$cc" -static -x c -o "$tmp/s" - 2> "$tmp/err"; then
  skip fully_static 'no static libc, or sanitizers'
else
  "$cc" -static -o "$tmp/static" "$here/use.c" $(pkg-config --static --cflags --libs gush) 2> "$tmp/err" ||
    bad "$(head -n 3 "$tmp/err")"
  "$tmp/static" < "$tmp/data" > "$tmp/out" 2> "$tmp/err" || bad "status $?"
  cmp -s "$tmp/data" "$tmp/out" || bad contents
  good
  end
fi

begin uninstalled
make_it uninstall
is 'what is left' "$(find "$tmp/root" ! -type d)" ''
end

finish
