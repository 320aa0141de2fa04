#!/bin/sh
# The programs of examples/ build against an installed copy, with nothing but what pkg-config says, and do what
# their first lines promise.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
root=$here/../..
cc=${CC:-cc}
unset GUSH_METHOD GUSH_STABLE GUSH_POLICY

if ! have "$cc" || ! have make || ! have pkg-config; then
  skip examples 'no C compiler, no make or no pkg-config'
  finish
fi
chmod 755 "$tmp" # for those who are nobody

begin build
make -s -C "$root" O="$O" SAN="${SAN:-}" CC="$cc" DESTDIR="$tmp/root" install > "$tmp/make" 2>&1 ||
  bad "make install: $(cat "$tmp/make")"
PKG_CONFIG_PATH=$(dirname "$(find "$tmp/root" -name gush.pc)") PKG_CONFIG_SYSROOT_DIR=$tmp/root
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
for source in "$root"/examples/*.c; do
  name=$(basename "$source" .c)
  # shellcheck disable=SC2046 # words
  if "$cc" -Wall -Wextra -Werror ${SAN:+-fsanitize=$SAN} -pthread -o "$tmp/$name" "$source" \
    $(pkg-config --cflags --libs gush) 2> "$tmp/err"; then
    good
  else
    bad "$name: $(head -n 3 "$tmp/err")"
  fi
  [ -f "$tmp/$name" ] || cp /bin/false "$tmp/$name"
done
end

# 20 MB of numbers, no two pages alike
awk 'BEGIN { for (i = 0; i < 2600000; i++) printf "%d ", i }' > "$tmp/big"
echo short > "$tmp/short"
: > "$tmp/empty"

begin copy
for file in big short empty; do
  "$tmp/copy" "$tmp/$file" > "$tmp/got" || bad "$file to a file: status $?"
  cmp -s "$tmp/$file" "$tmp/got" || bad "$file to a file"
  "$tmp/copy" < "$tmp/$file" | cat > "$tmp/got"
  cmp -s "$tmp/$file" "$tmp/got" || bad "$file to a pipe"
  # shellcheck disable=SC2002 # from a pipe
  cat "$tmp/$file" | "$tmp/copy" > "$tmp/got" || bad "$file from a pipe: status $?"
  cmp -s "$tmp/$file" "$tmp/got" || bad "$file from a pipe"
  # shellcheck disable=SC2002
  cat "$tmp/$file" | "$tmp/copy" | "$tmp/copy" | cat > "$tmp/got"
  cmp -s "$tmp/$file" "$tmp/got" || bad "$file through pipes"
  good
done
: > "$tmp/got"
"$tmp/copy" "$tmp/big" >> "$tmp/got" && "$tmp/copy" "$tmp/short" >> "$tmp/got"
cat "$tmp/big" "$tmp/short" | cmp -s - "$tmp/got" || bad 'append mode'
"$tmp/copy" /proc/self/status > "$tmp/got" || bad '/proc'
grep -q '^Name:	copy$' "$tmp/got" || bad '/proc: contents'
run "$tmp/copy" "$tmp/no/such/file"
is status "$status" 1
is stderr "$err" "copy: $tmp/no/such/file: No such file or directory"
"$tmp/copy" "$tmp/big" > /dev/full 2> "$tmp/err"
is status $? 1
is stderr "$(cat "$tmp/err")" 'copy: after 0 bytes: No space left on device'
end

begin tee
"$tmp/tee" "$tmp/t1" "$tmp/t2" /dev/null < "$tmp/big" > "$tmp/t3" || bad "from a file: status $?"
for i in 1 2 3; do cmp -s "$tmp/big" "$tmp/t$i" || bad "from a file: $i"; done
# shellcheck disable=SC2002
cat "$tmp/big" | "$tmp/tee" "$tmp/t1" "$tmp/t2" "$tmp/t1.again" | cat > "$tmp/t3"
for i in 1 2 3 1.again; do cmp -s "$tmp/big" "$tmp/t$i" || bad "between pipes: $i"; done
"$tmp/tee" "$tmp/t1" < "$tmp/empty" > "$tmp/t2" || bad "of nothing: status $?"
is 'size of nothing' "$(cat "$tmp/t1" "$tmp/t2")" ''
"$tmp/tee" < "$tmp/big" | { sleep 1 && cat; } > "$tmp/t1"
cmp -s "$tmp/big" "$tmp/t1" || bad 'a late reader'
# shellcheck disable=SC2002
cat "$tmp/big" | "$tmp/tee" /dev/full "$tmp/t1" "$tmp/no/such" > "$tmp/t2" 2> "$tmp/err"
is 'status of a full disk' $? 1
is stderr "$(cat "$tmp/err")" "tee: /dev/full: No space left on device
tee: $tmp/no/such: No such file or directory"
for i in 1 2; do cmp -s "$tmp/big" "$tmp/t$i" || bad "beside a full disk: $i"; done
{
  "$tmp/tee" "$tmp/t1" "$tmp/t2" < "$tmp/big" 2> "$tmp/err"
  echo $? > "$tmp/status"
} | true
is 'status of a dead reader' "$(cat "$tmp/status")" 1
is stderr "$(cat "$tmp/err")" 'tee: standard output: Broken pipe'
for i in 1 2; do cmp -s "$tmp/big" "$tmp/t$i" || bad "beside a dead reader: $i"; done
"$tmp/tee" /dev/full < /dev/zero > /dev/full 2> "$tmp/err"
is 'status when no sink is left' $? 1
is 'lines of stderr' "$(wc -l < "$tmp/err")" 2
end

# 79 MB: pages are shared after 16 MiB, and used again after 32 more. Behind readers that pass pages on, the last of
# them late, what trust-reader changes shows, more often than not; a missing barrier does not, since fewer bytes are in
# flight here than the ring holds.
begin generator
lines=10000000
awk -v lines=$lines 'BEGIN { for (i = 1; i <= lines; i++) print i }' > "$tmp/lines"
for policy in copy protect give; do
  "$tmp/generator" $policy $lines > "$tmp/got" || bad "$policy to a file: status $?"
  cmp -s "$tmp/lines" "$tmp/got" || bad "$policy to a file"
  "$tmp/generator" $policy $lines | cat > "$tmp/got"
  cmp -s "$tmp/lines" "$tmp/got" || bad "$policy to a pipe"
  "$tmp/generator" $policy $lines | "$tmp/copy" | "$tmp/copy" | "$tmp/copy" | "$tmp/copy" | { sleep 0.2 && cat; } \
    > "$tmp/got"
  cmp -s "$tmp/lines" "$tmp/got" || bad "$policy through other pipes"
  GUSH_POLICY=copy "$tmp/generator" $policy $lines | cmp -s - "$tmp/lines" || bad "$policy, and GUSH_POLICY=copy"
  good
done
"$tmp/generator" trust-reader $lines | cmp -s - "$tmp/lines" || bad 'trust-reader, to a reader that copies'
for policy in copy protect give trust-reader; do
  is "nothing, $policy" "$("$tmp/generator" $policy 0)" ''
  ends "\"$tmp/generator\" $policy" 'head -n 2'
  is "$policy to a reader that goes" "$rout, $wstatus" '1
2, 141'
done
run "$tmp/generator" share
is status "$status" 2
"$tmp/generator" protect 100 > /dev/full 2> "$tmp/err"
is 'status of a full disk' $? 1
is stderr "$(cat "$tmp/err")" 'generator: No space left on device'
end

# Each line tells its source, its number and its length; some are longer than a pipe takes in one piece. 80 MB of them
# all, so that pages are shared, and used again.
# log_lines SOURCE LINES
log_lines() {
  awk -v source="$1" -v lines="$2" 'BEGIN {
    for (i = 0; i < 13; i++) filling = filling "0123456789abcdefghijklmnopqrstuvwxyz" source
    while (length(filling) < 9000) filling = filling filling
    for (i = 1; i <= lines; i++) {
      bytes = i % 500 ? i * source % 997 : 8000 + i % 777
      print source, i, bytes, substr(filling, 1, bytes) "."
    }
  }'
}

# The lines of each source, in their order and whole, and nothing else.
# log_is WHAT SOURCE...
log_is() {
  log_what=$1
  shift
  : > "$tmp/want"
  for source in "$@"; do
    grep "^$source " "$tmp/got" | cmp -s - "$tmp/log$source" || bad "$log_what: the lines of $source"
    cat "$tmp/log$source" >> "$tmp/want"
  done
  is "$log_what: lines" "$(wc -l < "$tmp/got")" "$(wc -l < "$tmp/want")"
}

begin log_mux
for source in 1 2 3 4; do
  log_lines $source 40000 > "$tmp/log$source"
  mkfifo "$tmp/fifo$source"
done
"$tmp/log_mux" "$tmp/log1" "$tmp/log2" "$tmp/log3" "$tmp/log4" > "$tmp/got" || bad "to a file: status $?"
log_is 'to a file' 1 2 3 4
"$tmp/log_mux" "$tmp/log1" "$tmp/log2" "$tmp/log3" "$tmp/log4" | cat > "$tmp/got"
log_is 'to a pipe' 1 2 3 4
for source in 1 2 3 4; do cat "$tmp/log$source" > "$tmp/fifo$source" & done
"$tmp/log_mux" "$tmp/fifo1" "$tmp/fifo2" "$tmp/fifo3" "$tmp/fifo4" |
  "$tmp/copy" | "$tmp/copy" | { sleep 0.2 && cat; } > "$tmp/got"
wait
log_is 'from FIFOs, through other pipes' 1 2 3 4
# A line is there when it has come, though its source goes on.
mkfifo "$tmp/slow_source"
"$tmp/log_mux" "$tmp/slow_source" > "$tmp/got" &
exec 3> "$tmp/slow_source"
echo 'now' >&3
i=0
while [ ! -s "$tmp/got" ] && [ $i -lt 50 ]; do sleep 0.1 && i=$((i + 1)); done
is 'a line while its source goes on' "$(cat "$tmp/got")" now
printf 'no end' >&3
exec 3>&-
wait
is 'a last line without an end' "$(cat "$tmp/got")" 'now
no end'
"$tmp/log_mux" "$tmp/no/such" "$tmp/log1" > "$tmp/got" 2> "$tmp/err"
is 'status of a file that is not there' $? 1
is stderr "$(cat "$tmp/err")" "log_mux: $tmp/no/such: No such file or directory"
log_is 'beside a file that is not there' 1
"$tmp/log_mux" "$tmp/log1" "$tmp/log2" > /dev/full 2> "$tmp/err"
is 'status of a full disk' $? 1
is stderr "$(cat "$tmp/err")" 'log_mux: standard output: No space left on device'

begin count_lines
seq 300000 > "$tmp/lines"
printf 'no\nend' > "$tmp/endless"
for file in lines endless short empty big; do
  want=$(wc -l < "$tmp/$file" | tr -d ' ')
  for option in '' -s; do
    is "lines of $file $option" "$("$tmp/count_lines" ${option:+"$option"} < "$tmp/$file")" "$want"
    # shellcheck disable=SC2002 # from a pipe
    is "lines of $file $option, from a pipe" "$(cat "$tmp/$file" | "$tmp/count_lines" ${option:+"$option"})" "$want"
  done
done
"$tmp/count_lines" < / > "$tmp/got" 2> "$tmp/err"
is 'status of a folder' $? 1
is stderr "$(cat "$tmp/err")" 'count_lines: Is a directory'
run "$tmp/count_lines" -x
is status "$status" 2
end

begin send_file
for file in big short empty; do
  rm -f "$tmp/port"
  mkfifo "$tmp/port"
  "$tmp/send_file" "$tmp/$file" > "$tmp/port" &
  read -r port < "$tmp/port"
  "$helpers/take_tcp" "$port" > "$tmp/got" || bad "$file: the receiver fails"
  wait $! || bad "$file: status $?"
  cmp -s "$tmp/$file" "$tmp/got" || bad "$file: contents"
done
# In the middle of sending, the offset of its descriptor: the receiver gets no further than its own pipe.
rm -f "$tmp/port" "$tmp/slow"
mkfifo "$tmp/port" "$tmp/slow"
"$tmp/send_file" "$tmp/big" > "$tmp/port" &
sender=$!
read -r port < "$tmp/port"
"$helpers/take_tcp" "$port" > "$tmp/slow" &
exec 3< "$tmp/slow"
head -c 1000 <&3 > "$tmp/got" # it has begun
offset=none
for fd in "/proc/$sender/fd"/*; do
  [ "$(readlink "$fd")" = "$tmp/big" ] && offset=$(awk '$1 == "pos:" { print $2 }' "/proc/$sender/fdinfo/${fd##*/}")
done
is 'offset while it is sent' "$offset" 0
cat <&3 >> "$tmp/got"
exec 3<&-
wait $sender || bad "slowly: status $?"
cmp -s "$tmp/big" "$tmp/got" || bad 'slowly: contents'
run "$tmp/send_file"
is status "$status" 2
run "$tmp/send_file" "$tmp/no/such"
is status "$status" 1
is stderr "$err" 'send_file: No such file or directory'
end

# proxy_case CASE [PREFIX]
proxy_case() {
  begin "proxy_$1${2:+_as_nobody}"
  if ${2:+"$2"} "$helpers/proxy_check" "$tmp/proxy" "$1" > "$tmp/out" 2>&1; then
    good
  else
    bad "status $?"
    sed 's/^/  /' "$tmp/out"
  fi
  end
}

for case in one empty half_close slow reset_by_client reset_by_server refused; do proxy_case "$case"; done
# The budget of pipes is a user's, and root has none.
if [ "$(id -u)" -eq 0 ] && "$helpers/as_nobody" test -x "$helpers/proxy_check" 2> "$tmp/err"; then
  proxy_case many "$helpers/as_nobody"
else
  proxy_case many
fi

finish
