#!/bin/sh
# cat: what it has beside GNU's (tests/conform compares the rest): --explain, --stable, waiting, ways by name.
# shellcheck disable=SC2016 # the command lines are for another shell
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
unset GUSH_METHOD GUSH_STABLE GUSH_POLICY
ln -s "$gush" "$tmp/cat"
ours=$tmp/cat
seq 5000 > "$tmp/in"
: > "$tmp/empty"

# explained WANT_OUT COMMANDS REGEX...: output, and for each expression a line on standard error
explained() {
  want=$1 commands=$2
  shift 2
  run sh -c "$commands" sh "$ours" "$tmp"
  is "status of $commands" "$status" 0
  if cmp -s "$tmp/out" "$want"; then good; else bad "the output of $commands differs"; fi
  for regex; do
    if grep -q "^cat: $regex\$" "$tmp/err"; then good; else bad "$commands does not say $regex, but: $err"; fi
  done
}

begin explain
size=$(wc -c < "$tmp/in")
command cat -n "$tmp/in" > "$tmp/numbered"
explained "$tmp/in" '"$1" --explain "$2/in" > "$2/copy"; cat "$2/copy"' ".*/in: [a-z_-]*, $size bytes.*"
explained "$tmp/in" '"$1" --explain "$2/in" | cat' '.*/in: not copy_file_range: ..*'
explained "$tmp/in" 'cat "$2/in" | "$1" --explain | cat' "-: splice, $size bytes"
explained "$tmp/in" '"$1" --explain --stable "$2/in" | cat' '.*/in: not splice: .* a stable copy .*' \
  ".*/in: read-write, $size bytes"
explained "$tmp/numbered" '"$1" --explain -n "$2/in"' ".*/in: read and written, $size bytes: .*"
explained "$tmp/empty" '"$1" --explain "$2/empty"' '.*/empty: .*, 0 bytes.*'
run "$ours" --explain "$tmp/in" "$tmp/none"
is 'status with one missing' "$status" 1
matches 'stderr with one missing' "$(tail -n 1 "$tmp/err")" 'cat: .*/none: No such file or directory'
end

# The file changes when cat is done and the reader has not begun.
begin stable
changed() {
  rm -f "$tmp/done"
  head -c 30000 "$tmp/in" > "$tmp/file"
  {
    "$@" "$tmp/file"
    printf XXXX 1<> "$tmp/file"
    : > "$tmp/done"
  } | {
    while ! [ -e "$tmp/done" ]; do sleep 0.01; done
    command cat > "$tmp/out"
  }
  head -c 4 "$tmp/out" | tr '\n' ,
}
is 'what --stable gives' "$(changed "$ours" --stable)" 1,2,
is 'what GUSH_STABLE=1 gives' "$(changed env GUSH_STABLE=1 "$ours")" 1,2,
is 'what two pieces give' "$(changed "$ours" --stable "$tmp/empty")" 1,2,
if "$ours" --explain "$tmp/in" 2>&1 > "$tmp/out" | grep -q splice ||
  [ "$(changed "$ours")" = XXXX ]; then # else nothing was shared, and nothing shown
  good
fi
end

# What has come goes out before more is waited for; the writer waits for that here.
begin no_delay
for options in '' -n -A; do
  rm -f "$tmp/seen"
  # shellcheck disable=SC2086 # nothing or one word
  {
    printf 'one\n'
    i=0
    while ! [ -s "$tmp/seen" ] && [ $i -lt 300 ]; do
      sleep 0.01
      i=$((i + 1))
    done
    [ -s "$tmp/seen" ] || echo late
    echo two
  } | timeout 20 "$ours" $options | {
    read -r line
    echo "$line" > "$tmp/seen"
    read -r line
    echo "$line" > "$tmp/second"
  }
  matches "first line with '$options'" "$(command cat "$tmp/seen")" '.*one\$*'
  matches "second line with '$options'" "$(command cat "$tmp/second")" '.*two\$*'
done
end

begin flags_stay
for options in '' -n; do
  # shellcheck disable=SC2086
  command cat "$tmp/in" | "$helpers/nonblock" 0 "$helpers/fdflags" 0 "$tmp/flags" "$ours" $options > "$tmp/out"
  is "flags of standard input with '$options'" "$(command cat "$tmp/flags")" same
  # shellcheck disable=SC2086
  "$helpers/nonblock" 1 "$helpers/fdflags" 1 "$tmp/flags" "$ours" $options "$tmp/in" | {
    sleep 0.1
    command cat > "$tmp/out"
  }
  is "flags of standard output with '$options'" "$(command cat "$tmp/flags")" same
done
end

begin many_files
i=0 names=''
while [ $i -lt 500 ]; do
  names="$names $tmp/in $tmp/empty $tmp/none" i=$((i + 1))
done
for options in '' -n; do
  # shellcheck disable=SC2086,SC3045 # dash and bash have it
  count=$(ulimit -n 30 && "$ours" $options $names 2> "$tmp/err" | wc -l)
  is "lines with '$options'" "$count" 2500000
  is "messages with '$options'" "$(grep -c 'none: No such file' "$tmp/err")" 500
done
end

# Every way either does the same or says that it does not suit.
begin ways
for method in copy_file_range splice sendfile relay read-write; do
  for commands in '"$1" "$2/in" > "$2/copy"; s=$?; cat "$2/copy"; exit $s' \
    '{ "$1" "$2/in"; echo $? > "$2/s"; } | cat; exit $(cat "$2/s")' \
    'cat "$2/in" 2> "$2/feeder" | { "$1"; echo $? > "$2/s"; } | cat; exit $(cat "$2/s")'; do
    GUSH_METHOD=$method run sh -c "$commands" sh "$ours" "$tmp"
    case $status in
      0) cmp -s "$tmp/out" "$tmp/in" || bad "$method: $commands: other bytes" ;;
      1) matches "$method: stderr of $commands" "$err" 'cat: .*: the way that GUSH_METHOD names does not suit it.*' ;;
      *) bad "$method: $commands: status $status" ;;
    esac
    good
  done
done
end

begin pipe_into_itself
mkfifo "$tmp/fifo"
run timeout 10 sh -c 'exec 3<> "$2/fifo"; echo x >&3; "$1" <&3 >&3' sh "$ours" "$tmp"
is status "$status" 1
is stderr "$err" 'cat: -: input file is output file'
end

begin additions_are_whole
for option in --st --stabl --ex --explai; do
  run "$ours" "$option" "$tmp/in"
  is "status of $option" "$status" 1
  is "stderr of $option" "$err" "cat: unrecognized option '$option'
Try 'cat --help' for more information."
done
run "$ours" --stable --explain "$tmp/in"
is 'status of both' "$status" 0
end
finish
