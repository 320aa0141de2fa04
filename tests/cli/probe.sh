#!/bin/sh
# gush probe: the matrix, the list and the JSON say the same, fit the terminal, and tell of a sandbox.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
unset GUSH_METHOD GUSH_STABLE COLUMNS

# "source sink way" for each pair, out of a matrix (short names spelled out), a list, and JSON
of_matrix() {
  sed -n '/^ways, from/,/^refused/p' "$1" | awk '
    NR == 2 { for (i = 1; i <= NF; i++) sink[i] = $i }
    NR > 2 && NF > 4 && !/:/ {
      for (i = 2; i <= NF; i++) {
        way = $i == "r/w" ? "read-write" : $i == "copy-range" ? "copy_file_range" : $i
        print $1, sink[i - 1], way
      }
    }'
}
of_list() {
  sed -n '/^ways, by/,/^refused/p' "$1" | awk '/^  / && $2 != "to" { print $1, $2, $3 }'
}
of_json() {
  awk -F '"' '$2 == "source" { s = $4 } $2 == "sink" { k = $4 } $2 == "way" { print s, k, $4 }' "$1"
}

widest() {
  awk 'length > most { most = length } END { print most + 0 }' "$1"
}

begin same_ways
"$gush" probe --json > "$tmp/json" || bad "--json: exit status $?"
of_json "$tmp/json" > "$tmp/want"
is pairs "$(wc -l < "$tmp/want")" 49
matches 'file to file' "$(head -n 1 "$tmp/want")" 'file file copy_file_range'
for columns in 80 98 97 200; do
  COLUMNS=$columns "$gush" probe > "$tmp/text"
  of_matrix "$tmp/text" > "$tmp/got"
  cmp -s "$tmp/want" "$tmp/got" || bad "the matrix of $columns columns differs from the JSON"
  [ "$(widest "$tmp/text")" -le "$columns" ] || bad "wider than $columns"
done
for columns in 20 60 79; do
  COLUMNS=$columns "$gush" probe > "$tmp/text"
  of_list "$tmp/text" > "$tmp/got"
  cmp -s "$tmp/want" "$tmp/got" || bad "the list for $columns columns differs from the JSON"
done
"$gush" probe --verbose > "$tmp/text"
of_list "$tmp/text" > "$tmp/got"
cmp -s "$tmp/want" "$tmp/got" || bad 'the list of --verbose differs from the JSON'
end

begin default_width
"$gush" probe > "$tmp/text"
[ "$(widest "$tmp/text")" -le 80 ] || bad 'wider than 80'
grep -q 'copy-range: copy_file_range, r/w: read-write' "$tmp/text" || bad 'short names are not explained'
grep -q ' $' "$tmp/text" && bad 'blanks at the end of a line'
grep -q '^  /proc to pipe: splice EINVAL$' "$tmp/text" || bad 'no note on what the kernel refuses of /proc'
grep -q 'not from this kind' "$tmp/text" && bad 'reasons that are not the kernel'\''s'
good
end

begin stable
"$gush" probe --stable --json > "$tmp/json"
of_json "$tmp/json" > "$tmp/got"
is 'file to pipe' "$(sed -n 's/^file pipe //p' "$tmp/got")" read-write
is 'file to file' "$(sed -n 's/^file file //p' "$tmp/got")" copy_file_range
is 'pipe to pipe' "$(sed -n 's/^pipe pipe //p' "$tmp/got")" splice
end

begin environment
GUSH_METHOD=read-write "$gush" probe --json > "$tmp/json"
is ways "$(of_json "$tmp/json" | awk '{ print $3 }' | sort -u)" read-write
end

begin sandbox
"$helpers/deny" splice EPERM "$gush" probe --json > "$tmp/json" 2> "$tmp/err"
if [ $? -eq 77 ]; then
  skip sandbox 'no seccomp filter can be installed here'
else
  grep -q '"splice": "EPERM"' "$tmp/json" || bad 'JSON: splice is not EPERM'
  of_json "$tmp/json" | grep -q 'splice\|relay' && bad 'a way that is forbidden'
  "$helpers/deny" splice EPERM "$gush" probe > "$tmp/text" || bad "exit status $?"
  grep -q '^  splice  *Operation not permitted$' "$tmp/text" || bad 'text: splice is not refused'
  grep -q '^  file to pipe: splice EPERM$' "$tmp/text" || bad 'no note on file to pipe'
  grep -q '^  pipe to file, pipe, tcp, unix, /dev/null: splice EPERM$' "$tmp/text" || bad 'notes are not grouped'
  "$helpers/deny" vmsplice ENOSYS "$gush" probe --json > "$tmp/json"
  grep -q '"vmsplice": "fail"' "$tmp/json" || bad 'vmsplice does not fail'
  grep -q '"vmsplice_to_memory": "ENOSYS"' "$tmp/json" || bad 'vmsplice to memory does not fail'
  grep -q '"small": false' "$tmp/json" || bad 'the barrier protects without vmsplice'
  good
  end
fi

begin few_pipes
"$helpers/as_nobody" "$gush" probe --json > "$tmp/json" 2> "$tmp/err"
if [ $? -eq 77 ]; then
  skip few_pipes 'not root'
else
  left=$(sed -n 's/.*"full_size_left": \([0-9]*\).*/\1/p' "$tmp/json")
  if [ "${left:-0}" -ge 1 ] && [ "$left" -le 64 ]; then good; else bad "full_size_left is \"$left\""; fi
  end
fi

begin usage
run "$gush" probe operand
is status "$status" 2
is stderr "$err" "gush probe: 'operand': takes no operands; see 'gush probe --help'"
run "$gush" probe --nosuch
is status "$status" 2
for option in '' --json --verbose; do
  # shellcheck disable=SC2086 # nothing or one word
  "$gush" probe $option > /dev/full 2> "$tmp/err"
  is "status of a full disk" $? 1
  is stderr "$(cat "$tmp/err")" 'gush probe: standard output: No space left on device'
done
# What is open before is all that is open behind: a child of the same shell sees no more of them.
run "$gush" probe
is 'stderr' "$err" ''
end

finish
