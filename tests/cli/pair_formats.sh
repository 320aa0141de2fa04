#!/bin/sh
# gush write and gush read: what is printed, and how they take every kind of descriptor and every kind of end.
# shellcheck disable=SC2016 # `ends` evaluates its two texts itself
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
died='the writer has died or stopped early'

begin human_line
ends '"$gush" write' '"$gush" read --bytes-to-pipe=16M'
is 'status of write' "$wstatus" 0
is 'stderr of write' "$werr" ''
is 'status of read' "$rstatus" 0
is 'stderr of read' "$rerr" ''
matches figure "$rout" "$(figure 256KiB 64 16MiB)"
end

# Exact, in the largest unit that divides it; iterations are whole buffers.
begin sizes_text
while read -r buf bytes text iterations piped; do
  ends '"$gush" write' '"$gush" read --buf-size="$buf" --bytes-to-pipe="$bytes"'
  is "status of $buf $bytes" "$rstatus" 0
  matches "figure of $buf $bytes" "$rout" "$(figure "$text" "$iterations" "$piped")"
done << 'LIST'
4097 1M 4097B 255 1MiB
1000 1000000 1000B 1000 1000000B
1024 1KB 1KiB 0 1000B
1000K 4000K 1000KiB 4 4000KiB
3M 12M 3MiB 4 12MiB
2MB 5MiB 2000000B 2 5MiB
1 1 1B 1 1B
1M 1025K 1MiB 1 1025KiB
LIST
end

# The article's default, at the article's best setting.
begin default_10GiB
ends '"$gush" write --write_with_vmsplice --buf_size=1M' '"$gush" read --read_with_splice --buf_size=1M'
is 'status of write' "$wstatus" 0
is 'status of read' "$rstatus" 0
matches figure "$rout" "$(figure 1MiB 10240 10GiB)"
end

# 14 columns: the figure, three sizes, ten flags, in this order; whatever the end they mean something at.
begin csv
columns='busy-loop poll huge-page check-huge-page write-with-vmsplice read-with-splice gift lock-memory
  dont-touch-pages same-buffer'
csv_of() {
  ends '"$gush" write' '"$gush" read --csv --bytes-to-pipe=1M $flags'
  is "status of $flags" "$rstatus" 0
  is "stderr of $flags" "$rerr" ''
  matches "figure of $flags" "${rout%%,*}" '[0-9][0-9]*\.[0-9]\{6\}'
}
flags=''
csv_of
is 'no flags' "${rout#*,}" 1048576,262144,0,0,0,0,0,0,0,0,0,0,0
flags='--buf-size=4097 --pipe-size=8K'
csv_of
is sizes "${rout#*,}" 1048576,4097,8192,0,0,0,0,0,0,0,0,0,0
for flag in $columns; do
  flags=--$flag want=''
  for column in $columns; do
    [ "$column" = "$flag" ] && want=$want,1 || want=$want,0
  done
  if [ "$flag" = check-huge-page ]; then
    have_huge_pages || continue
    flags='--huge-page --check-huge-page' want=,0,0,1,1,0,0,0,0,0,0
  fi
  csv_of
  is "$flags" "${rout#*,}" "1048576,262144,0$want"
done
end

begin verbose
ends '"$gush" write -v' '"$gush" read --verbose --bytes-to-pipe=1M --gift'
for text in "$werr" "$rerr"; do
  for name in busy_loop poll huge_page check_huge_page buf_size write_with_vmsplice read_with_splice gift \
    lock_memory dont_touch_pages same_buffer csv bytes_to_pipe pipe_size; do
    is "lines of $name" "$(echo "$text" | grep -c "^$name  *[a-zA-Z0-9]")" 1
  done
  is 'lines of use' "$(echo "$text" | grep -c '^page faults: [0-9]\|^CPU seconds: [0-9]\|^context sw.*: [0-9]')" 3
done
is gift "$(echo "$rerr" | grep '^gift')" 'gift                 true'
matches figure "$rout" "$(figure 256KiB 4 1MiB)"
end

begin stdout_of_read
for options in '' --csv --read-with-splice --busy-loop; do
  ends '"$gush" write' '"$gush" read --bytes-to-pipe=64K $options >&-'
  is "status, closed, $options" "$rstatus" 1
  is "stderr, closed, $options" "$rerr" 'gush read: standard output is closed'
  ends '"$gush" write' '"$gush" read --bytes-to-pipe=64K $options > /dev/full'
  is "status, full, $options" "$rstatus" 1
  is "stderr, full, $options" "$rerr" 'gush read: standard output: No space left on device'
done
end

begin stderr_closed
"$gush" write 2>&- | "$gush" read --read-with-splice --bytes-to-pipe=64K 2>&- > "$tmp/out"
is status $? 0
matches figure "$(cat "$tmp/out")" "$(figure 256KiB 0 64KiB)"
"$gush" read --bytes-to-pipe=64K 2>&- < /dev/null > "$tmp/out"
is 'status when it has something to say' $? 1
is stdout "$(cat "$tmp/out")" ''
end

begin descriptors_closed
for options in '' --read-with-splice --busy-loop --poll --csv; do
  # shellcheck disable=SC2086
  run "$gush" read $options <&-
  is "status of read $options" "$status" 1
  is "stderr of read $options" "$err" 'gush read: standard input is closed'
  is "stdout of read $options" "$out" ''
done
for options in '' --write-with-vmsplice --busy-loop --pipe-size=64K; do
  # shellcheck disable=SC2086
  "$gush" write $options >&- 2> "$tmp/err"
  is "status of write $options" $? 1
  is "stderr of write $options" "$(cat "$tmp/err")" 'gush write: standard output is closed'
done
# What an end does not use may be closed.
"$gush" write --bytes-to-pipe=100000 --huge-page <&- | "$helpers/drain" X > "$tmp/out"
is 'write without input' "$(cat "$tmp/out")" '100000 bytes, 0 bad'
end

begin read_from_file
"$helpers/fill" 1000000 > "$tmp/file"
for options in '' --poll --busy-loop '--poll --busy-loop'; do
  # shellcheck disable=SC2086
  run "$gush" read $options --bytes-to-pipe=1000000 < "$tmp/file"
  is "status $options" "$status" 0
  matches "figure $options" "$out" "$(figure 256KiB 3 1000000B)"
  # shellcheck disable=SC2086
  run "$gush" read $options --bytes-to-pipe=2000000 < "$tmp/file"
  is "status past the end $options" "$status" 1
  is "stderr past the end $options" "$err" "gush read: the input ended after 1000000 of 2000000 bytes: $died"
  is "stdout past the end $options" "$out" ''
done
end

# splice needs a pipe on one side.
begin splice_from_no_pipe
while read -r path kind; do
  run "$gush" read --read-with-splice --bytes-to-pipe=1K < "$path"
  is "status of $path" "$status" 1
  is "stderr of $path" "$err" \
    "gush read: splice from standard input ($kind) is not possible; leave out --read-with-splice"
  is "stdout of $path" "$out" ''
done << LIST
$tmp/file regular file
/dev/zero character device
/dev/null /dev/null
LIST
end

begin read_from_devices
run "$gush" read --bytes-to-pipe=3M --buf-size=100K < /dev/zero
is 'status of /dev/zero' "$status" 0
matches 'figure of /dev/zero' "$out" "$(figure 100KiB 30 3MiB)"
run "$gush" read < /dev/null
is 'status of /dev/null' "$status" 1
is 'stderr of /dev/null' "$err" "gush read: the input ended after 0 of 10737418240 bytes: $died"
run "$gush" read < /
is 'status of a folder' "$status" 1
is 'stderr of a folder' "$err" 'gush read: read from standard input (directory): Is a directory'
run "$gush" read 0> "$tmp/write-only"
is 'status, not open for reading' "$status" 1
is 'stderr, not open for reading' "$err" \
  'gush read: read from standard input (regular file): Bad file descriptor'
end

begin sockets
for family in unix tcp; do
  for options in '' --poll --busy-loop '--busy-loop --poll'; do
    # shellcheck disable=SC2086
    "$helpers/fill" 3000000 | "$helpers/by_socket" $family in "$gush" read $options --bytes-to-pipe=3000000 \
      > "$tmp/out" 2> "$tmp/err"
    is "status of read $family $options" $? 0
    matches "read $family $options" "$(cat "$tmp/out")" "$(figure 256KiB 11 3000000B)"
    is "stderr of read $family $options" "$(cat "$tmp/err")" ''
    # shellcheck disable=SC2086
    "$helpers/by_socket" $family out "$gush" write $options --bytes-to-pipe=3000000 < /dev/null 2> "$tmp/err" |
      "$helpers/drain" X > "$tmp/out"
    is "write $family $options" "$(cat "$tmp/out")" '3000000 bytes, 0 bad'
    is "stderr of write $family $options" "$(cat "$tmp/err")" ''
  done
done
end

# The bytes are typed, and so is the end.
if have script; then
  begin terminal
  for options in '' --poll --busy-loop '--busy-loop --poll'; do
    printf 'abc\n' | timeout 20 script -qec "'$gush' read $options --bytes-to-pipe=4; echo status=\$?" /dev/null \
      > "$tmp/out" 2>&1
    matches "read $options" "$(tr -d '\r' < "$tmp/out" | grep GiB)" "$(figure 256KiB 0 4B)"
    is "status of read $options" "$(tr -d '\r' < "$tmp/out" | grep -c '^status=0$')" 1
    timeout 20 script -qec "'$gush' write $options --bytes-to-pipe=1000; echo; echo status=\$?" /dev/null \
      > "$tmp/out" 2>&1 < /dev/null
    is "bytes of write $options" "$(tr -cd X < "$tmp/out" | wc -c)" 1000
    is "status of write $options" "$(tr -d '\r' < "$tmp/out" | grep -c '^status=0$')" 1
  done
  printf 'abc\n\004' | timeout 20 script -qec "'$gush' read --bytes-to-pipe=1M" /dev/null > "$tmp/out" 2>&1
  is 'end typed: status' $? 1
  is 'end typed' "$(tr -d '\r' < "$tmp/out" | grep -o 'gush read:.*')" \
    "gush read: the input ended after 4 of 1048576 bytes: $died"
  end
else
  skip terminal 'no script(1)'
fi

begin write_to_file
for options in '' --poll --busy-loop '--poll --busy-loop'; do
  # shellcheck disable=SC2086
  "$gush" write $options --bytes-to-pipe=700001 > "$tmp/file" 2> "$tmp/err"
  is "status $options" $? 0
  is "stderr $options" "$(cat "$tmp/err")" ''
  is "bytes $options" "$("$helpers/drain" X < "$tmp/file")" '700001 bytes, 0 bad'
done
"$gush" write --bytes-to-pipe=5 >> "$tmp/file"
is appended "$("$helpers/drain" X < "$tmp/file")" '700006 bytes, 0 bad'
"$gush" write --bytes-to-pipe=700001 1<> "$tmp/file"
is 'overwritten in place' "$("$helpers/drain" X < "$tmp/file")" '700006 bytes, 0 bad'
"$gush" write --bytes-to-pipe=5 --dont-touch-pages > "$tmp/file"
is zeros "$("$helpers/drain" 0 < "$tmp/file")" '5 bytes, 0 bad'
end

begin write_to_bad_places
for options in '' --poll --busy-loop --bytes-to-pipe=1M; do
  # shellcheck disable=SC2086
  "$gush" write $options > /dev/full 2> "$tmp/err"
  is "status of /dev/full $options" $? 1
  is "stderr of /dev/full $options" "$(cat "$tmp/err")" \
    'gush write: write to standard output (character device): No space left on device'
done
"$gush" write 1< /dev/zero 2> "$tmp/err"
is 'status, not open for writing' $? 1
is 'stderr, not open for writing' "$(cat "$tmp/err")" \
  'gush write: write to standard output (character device): Bad file descriptor'
(
  ulimit -f 8
  trap '' XFSZ # else the signal is the message
  "$gush" write > "$tmp/limited" 2> "$tmp/err"
)
is 'status past the file size limit' $? 1
is 'stderr past the file size limit' "$(cat "$tmp/err")" \
  'gush write: write to standard output (regular file): File too large'
for options in --write-with-vmsplice --pipe-size=64K; do
  for path in "$tmp/file" /dev/null /dev/full; do
    "$gush" write $options --bytes-to-pipe=1M > "$path" 2> "$tmp/err"
    is "status of $options to $path" $? 1
    is "stderr of $options to $path" "$(cat "$tmp/err")" "gush write: standard output is not a pipe, so it has \
no size to set and takes no vmsplice; try '| gush read'"
  done
done
end

# Each refusal of a pipe size says why.
begin pipe_sizes
most=$(cat /proc/sys/fs/pipe-max-size)
while read -r bytes text; do
  ends '"$gush" write --pipe-size="$bytes"' '"$helpers/drain" X 3000000'
  is "status of $bytes" "$wstatus" 1
  is "stderr of $bytes" "$werr" "gush write: $text"
  is "bytes of $bytes" "$rout" '0 bytes, 0 bad'
done << 'LIST'
5000 the kernel rounds a pipe of 5000B to another size; ask for a power of two of at least a page
1 the kernel rounds a pipe of 1B to another size; ask for a power of two of at least a page
4G setting the pipe to 4GiB: Invalid argument
LIST
ends '"$gush" write --write-with-vmsplice --buf-size=100K' '"$helpers/drain" X 3000000'
is 'stderr of half of 100K' "$werr" "gush write: the kernel rounds a pipe of 50KiB to another size; ask for a \
power of two of at least a page, in --buf-size for twice that"
for bytes in $(($(getconf PAGESIZE) * 2)) 65536 "$most"; do
  ends '"$gush" write --pipe-size="$bytes"' '"$helpers/drain" X 3000000'
  is "status of $bytes" "$wstatus" 0
  is "stderr of $bytes" "$werr" ''
  is "bytes of $bytes" "$rout" '3000000 bytes, 0 bad'
done
end

# A reader whose writer has gone says so, prints no figure, and does not wait.
begin early_death_of_the_writer
for options in '' --csv --poll --busy-loop '--poll --busy-loop' --read-with-splice '--read-with-splice --poll' \
  '--read-with-splice --busy-loop'; do
  ends '"$gush" write --bytes-to-pipe=1M' '"$gush" read --bytes-to-pipe=1G $options'
  is "status of read $options" "$rstatus" 1
  is "stderr of read $options" "$rerr" "gush read: the input ended after 1048576 of 1073741824 bytes: $died"
  is "stdout of read $options" "$rout" ''
  is "status of write, $options" "$wstatus" 0
  ends 'timeout -s KILL 0.1 "$gush" write' '"$gush" read --bytes-to-pipe=1P $options'
  is "killed: status of read $options" "$rstatus" 1
  matches "killed: stderr of read $options" "$rerr" "gush read: the input ended after .* of 1125899906842624 bytes: $died"
  is "killed: stdout of read $options" "$rout" ''
done
end

# A writer whose reader has gone stops: that is its usual end, or an error if it was to write so much.
begin early_death_of_the_reader
for options in '' --poll --busy-loop '--poll --busy-loop' --write-with-vmsplice '--write-with-vmsplice --poll' \
  '--write-with-vmsplice --busy-loop' '--write-with-vmsplice --gift --poll --busy-loop'; do
  ends '"$gush" write $options' '"$helpers/drain" X 100000'
  is "status $options" "$wstatus" 0
  is "stderr $options" "$werr" ''
  is "bytes $options" "$rout" '100000 bytes, 0 bad'
  ends '"$gush" write --bytes-to-pipe=64M $options' '"$helpers/drain" X 100000'
  is "status with --bytes-to-pipe $options" "$wstatus" 1
  matches "stderr with --bytes-to-pipe $options" "$werr" \
    'gush write: the reader has gone after [0-9]* of 67108864 bytes'
done
# SIGPIPE as inherited, ignored or not, makes no difference.
(
  trap '' PIPE
  ends '"$gush" write' '"$helpers/drain" X 1'
  echo "$wstatus$werr" > "$tmp/out"
)
is 'SIGPIPE ignored' "$(cat "$tmp/out")" 0
end

# With --bytes-to-pipe a writer stops there, to the byte.
begin exact_counts
for bytes in 1 2 4095 4096 4097 65535 65536 65537 262143 262144 262145 524287 524288 524289 1000003; do
  for options in '' --busy-loop --poll --write-with-vmsplice '--write-with-vmsplice --same-buffer' \
    '--write-with-vmsplice --busy-loop --poll'; do
    ends '"$gush" write --bytes-to-pipe=$bytes $options' '"$helpers/drain" X'
    is "$bytes $options" "$wstatus$werr $rout" "0 $bytes bytes, 0 bad"
  done
done
end
finish
