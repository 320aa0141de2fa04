#!/bin/sh
# gush bench: what it prints and writes; bad input. One round: figures are not looked at.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"

begin bench_usage
run "$gush" bench
is status "$status" 2
is stderr "$err" "gush bench: what? there are: transfers, producers, tools; see 'gush bench --help'"
run "$gush" bench pipes
is 'status of pipes' "$status" 2
is 'stderr of pipes' "$err" "gush bench: 'pipes' is nothing to measure; there are: transfers, producers, tools; see 'gush bench --help'"
run "$gush" bench transfers --rounds=0
is 'status of 0 rounds' "$status" 2
run "$gush" bench transfers --cpus=x
is 'status of no CPUs' "$status" 2
run "$gush" bench transfers x
is 'status of an operand' "$status" 2
run "$gush" bench tools x=/bin/cat
is 'status of no tool' "$status" 2
is 'stderr of no tool' "$err" "gush bench: 'x=/bin/cat' is not TOOL=PATH, with a tool that is measured; see 'gush bench --help'"
run "$gush" bench tools cat="$tmp/none"
is 'status of no program' "$status" 1
is 'stderr of no program' "$err" "gush bench: $tmp/none: No such file or directory"
run "$gush" bench transfers --json="$tmp/none/f"
is 'status of a bad path' "$status" 1
is 'stderr of a bad path' "$err" "gush bench: $tmp/none/f: No such file or directory"
end

# has REGEX: a line of the table that is like it
has() {
  if grep -q -- "$1" "$tmp/out"; then good; else bad "no line like $1"; fi
}

begin bench_transfers
run "$gush" bench transfers --rounds=1 --json="$tmp/json"
is status "$status" 0
is stderr "$err" ''
has '^pipe  *pipe  *chosen  .*splice$'
has '^file  *file  *chosen  .*copy_file_range$'
has '^file  *tcp  *chosen  .*sendfile$'
if grep -q failed "$tmp/out"; then bad 'a pair failed'; else good; fi
if command -v jq > "$tmp/lib.err"; then
  is 'pairs with rates' "$(jq '[.transfers[] | select(.gib_per_s.median > 0)] | length' "$tmp/json")" 36
  is schema "$(jq .schema "$tmp/json")" 1
fi
end

begin bench_producers
run "$gush" bench producers --rounds=1 --json="$tmp/json"
is status "$status" 0
is stderr "$err" ''
has '^counter  *splice  *write loop .*write$'
has '^counter  *read  *copy .*write$'
has '^counter  *splice  *unsafe ring .*vmsplice$'
if grep -q failed "$tmp/out"; then bad 'a row failed'; else good; fi
if command -v jq > "$tmp/lib.err"; then
  is 'rows with rates' "$(jq '[.producers[] | select(.gib_per_s.median > 0)] | length' "$tmp/json")" 14
fi
end

begin bench_tools
if cd "$tmp"; then good; else bad 'no folder to go to'; fi
run "$gush" bench tools --rounds=1 --json="$tmp/json" cat=/bin/cat cat=/bin/false
is status "$status" 0
is stderr "$err" ''
has '^yes  *file here  *gush .*[0-9]x'
has '^cat file  *null  */bin/cat .*[0-9]x'
has '^cat file  *null  */bin/false  *failed: '
has '^cat file  *file here  */bin/false  *failed: '
if grep -v /bin/false "$tmp/out" | grep -q failed; then bad 'a row failed'; else good; fi
if command -v jq > "$tmp/lib.err"; then
  is 'rows with rates' "$(jq '[.tools[] | select(.way == "gush" and .gib_per_s.median > 0)] | length' "$tmp/json")" 16
fi
end
finish
