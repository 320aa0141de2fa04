#!/bin/sh
# Every function has a manual page, every page of section 3 an example, and every example compiles and runs.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
root=$here/../..
unset GUSH_METHOD GUSH_STABLE GUSH_POLICY

begin every_function_has_a_page
sed -n 's/^\.Nm \(gush_[a-z_]*\).*/\1/p' "$root"/man/*.3 | sort > "$tmp/pages"
sed -n 's/^	\(gush_[a-z_]*\);$/\1/p' "$root/src/libgush.map" | sort > "$tmp/map"
[ -s "$tmp/map" ] || bad 'the map names nothing'
for name in $(comm -3 "$tmp/pages" "$tmp/map"); do bad "$name is in the pages or in the map, not in both"; done
good
end

# The prototypes of the header and of the SYNOPSIS sections, without white space, names or pointers.
begin synopsis
while read -r name; do
  tr '\n\t' '  ' < "$root/include/gush.h" | sed "s/.*[ *]$name(\([^)]*\)).*/\1/; s/ *, */,/g; s/  */ /g; s/^ //" \
    > "$tmp/want"
  page=$(grep -l "^\.Nm $name\( \|\$\)" "$root"/man/*.3)
  awk -v name="$name" '
    $1 == ".Fo" && $2 == name { inside = 1; next }
    $1 == ".Fc" && inside { inside = 0; print line; exit }
    inside { sub(/^\.Fa /, ""); gsub(/"/, ""); line = line (line ? "," : "") $0 }
    $1 == ".Fn" && $2 == name && NF > 2 {
      sub(/^\.Fn [a-z_]* /, ""); gsub(/" "/, ","); gsub(/"/, ""); print; exit
    }' "$page" | sed 's/^ *//' > "$tmp/got"
  is "arguments of $name" "$(cat "$tmp/got")" "$(cat "$tmp/want")"
done < "$tmp/map"
end

# Programs out of the literal blocks that begin with #include: $tmp/PAGE-1.c, ...
extract() {
  awk -v stem="$tmp/$(basename "$1" .3)" '
    /^\.Bd -literal/ { block = 1; file = ""; next }
    /^\.Ed/ { block = 0 }
    block && /^#include/ && !file { file = stem "-" ++n ".c" }
    block && file { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > file }' "$1"
}

if ! have "${CC:-cc}"; then
  skip examples 'no C compiler'
  finish
fi
begin examples_compile
for page in "$root"/man/*.3; do
  extract "$page"
  page=$(basename "$page" .3)
  [ -f "$tmp/$page-1.c" ] || bad "$page(3) has no example"
  for program in "$tmp/$page"-*.c; do
    # shellcheck disable=SC2086 # CC may have arguments
    if ${CC:-cc} -std=gnu17 -Wall -Wextra -Wpedantic -Werror ${SAN:+-fsanitize=$SAN} -I"$root/include" -pthread \
      -o "${program%.c}" "$program" "$O/libgush.a" 2> "$tmp/err"; then
      good
    else
      bad "$(basename "$program"): $(head -n 3 "$tmp/err")"
    fi
  done
done
end

# A few MiB that cannot be mistaken for anything else.
awk 'BEGIN { for (i = 0; i < 400000; i++) printf "%d ", i }' > "$tmp/data"

begin examples_run
"$tmp/gush-1" > "$tmp/got"
matches 'gush-1' "$(cat "$tmp/got")" 'libgush [0-9.]*, ways: copy_file_range .* read-write'
for program in gush_copy-1 gush_transfer_open-1 gush_transfer_open-2 gush_fanout_open-1 gush_fanout_open-2 \
  gush_report_entry-1; do
  # shellcheck disable=SC2002 # from a pipe, to a pipe
  cat "$tmp/data" | "$tmp/$program" 2> "$tmp/err" | cat > "$tmp/got"
  cmp -s "$tmp/data" "$tmp/got" || bad "$program: pipe to pipe"
  "$tmp/$program" < "$tmp/data" > "$tmp/got" 2> "$tmp/err"
  cmp -s "$tmp/data" "$tmp/got" || bad "$program: file to file"
  good
done
for program in gush_fanout_open-1 gush_fanout_open-2; do
  "$tmp/$program" < "$tmp/data" 2> "$tmp/err" > /dev/full
  head -c "$(wc -c < "$tmp/data")" "$tmp/err" | cmp -s - "$tmp/data" || bad "$program: standard error"
done
is 'the longest line' "$(printf 'a\n\nlongest\nb' | "$tmp/gush_consumer_open-1")" 7
is 'the longest line, without its end' "$(printf 'a\nlong' | "$tmp/gush_consumer_open-1")" 4
is packets "$({ printf '\0\003one\0\0\0'; sleep 0.1; printf '\005three'; } | "$tmp/gush_consumer_open-2")" "one

three"
printf '\0\003on' | "$tmp/gush_consumer_open-2" > "$tmp/got" && bad 'half a packet goes unnoticed'
rm -f "$tmp/got"
"$tmp/gush_copy-2" "$tmp/data" "$tmp/got" || bad 'gush_copy-2 failed'
cmp -s "$tmp/data" "$tmp/got" || bad 'gush_copy-2: contents'
"$tmp/gush_report_entry-1" < "$tmp/data" 2>&1 > "$tmp/got" | grep -q '^copy_file_range  *used  *[1-9]' ||
  bad 'gush_report_entry-1: no way is reported'
awk 'BEGIN { for (i = 1; i <= 200000; i++) print i }' > "$tmp/lines"
"$tmp/gush_producer_open-1" 200000 | cmp -s - "$tmp/lines" || bad 'gush_producer_open-1: pipe'
"$tmp/gush_producer_open-1" 200000 > "$tmp/got" || bad 'gush_producer_open-1 failed'
cmp -s "$tmp/lines" "$tmp/got" || bad 'gush_producer_open-1: file'
"$tmp/gush_producer_open-1" > /dev/full 2> "$tmp/err" && bad 'gush_producer_open-1: a full disk goes unnoticed'
is 'error of gush_producer_open-1' "$(cat "$tmp/err")" 'after 0 bytes: No space left on device'
awk 'BEGIN { for (i = 0; i < 1000000; i++) print "yes" }' > "$tmp/lines"
"$tmp/gush_producer_open-2" 2> "$tmp/err" | cmp -s - "$tmp/lines" || bad 'gush_producer_open-2: contents'
grep -q '^[a-z-]*: [1-9][0-9]* bytes$' "$tmp/err" || bad 'gush_producer_open-2: no way is reported'
"$tmp/gush_transfer_open-1" < "$tmp/data" > /dev/full 2> "$tmp/err" && bad 'a full disk goes unnoticed'
grep -q '^writing: No space left on device' "$tmp/err" || bad 'the side is not told'
end

finish
