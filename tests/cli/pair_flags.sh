#!/bin/sh
# The flags of a descriptor belong to all who share it: neither end may touch them, not even for a while.
# shellcheck disable=SC2016 # `ends` evaluates its two texts itself
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
watch=$helpers/fdflags

# That the helper sees a change at all, one that stays and one that does not.
begin control
"$watch" 0 "$tmp/flags" "$helpers/nonblock" 0 true < /dev/zero
is 'status of a planted change' $? 0
matches 'a planted change' "$(cat "$tmp/flags")" 'changed 0[0-7]* to 0[0-7]*'
"$watch" 0 "$tmp/flags" sh -c 'exit 3' < /dev/zero
is 'status is passed on' $? 3
is 'no change' "$(cat "$tmp/flags")" same
end

begin reader
for options in '' --busy-loop '--busy-loop --poll' '--read-with-splice --busy-loop' '--csv --poll'; do
  ends '"$gush" write' '"$watch" 0 "$tmp/flags" "$gush" read --bytes-to-pipe=16M $options'
  is "status $options" "$rstatus" 0
  is "flags $options" "$(cat "$tmp/flags")" same
done
"$watch" 0 "$tmp/flags" "$gush" read --bytes-to-pipe=16M --busy-loop < /dev/zero > "$tmp/out"
is 'flags of /dev/zero' "$(cat "$tmp/flags")" same
ends '"$helpers/fill" 3000000' '"$helpers/by_socket" unix in "$watch" 0 "$tmp/flags" "$gush" read --busy-loop \
  --bytes-to-pipe=3000000'
is 'status, socket' "$rstatus" 0
is 'flags of a socket' "$(cat "$tmp/flags")" same
end

begin writer
for options in '' --busy-loop '--busy-loop --poll' '--write-with-vmsplice --busy-loop' --pipe-size=64K; do
  ends '"$watch" 1 "$tmp/flags" "$gush" write --bytes-to-pipe=16M $options' '"$helpers/drain" X'
  is "$options" "$wstatus $rout" '0 16777216 bytes, 0 bad'
  is "flags $options" "$(cat "$tmp/flags")" same
done
"$watch" 1 "$tmp/flags" "$gush" write --bytes-to-pipe=5M --busy-loop >> "$tmp/file"
is 'status, O_APPEND' $? 0
is 'flags, O_APPEND' "$(cat "$tmp/flags")" same
is 'bytes, O_APPEND' "$("$helpers/drain" X < "$tmp/file")" '5242880 bytes, 0 bad'
"$helpers/by_socket" unix out "$watch" 1 "$tmp/flags" "$gush" write --busy-loop --bytes-to-pipe=3000000 \
  < /dev/null > "$tmp/file"
is 'flags of a socket' "$(cat "$tmp/flags")" same
end

# Where RWF_NOWAIT is not to be had, they open the pipe again rather than to set O_NONBLOCK.
begin without_preadv2
for error in ENOSYS EPERM; do
  ends '"$watch" 1 "$tmp/flags.w" "$helpers/deny" pwritev2 $error "$gush" write --busy-loop' \
    '"$watch" 0 "$tmp/flags.r" "$helpers/deny" preadv2 $error "$gush" read --busy-loop --bytes-to-pipe=16M'
  [ "$rstatus" = 77 ] && break
  is "status $error" "$wstatus$werr $rstatus$rerr" '0 0'
  is "flags of the writer $error" "$(cat "$tmp/flags.w")" same
  is "flags of the reader $error" "$(cat "$tmp/flags.r")" same
done
if [ "$rstatus" = 77 ]; then skip without_preadv2 "$rerr"; else end; fi

if have script; then
  begin terminal
  for options in '' --busy-loop; do
    printf 'abc\n' | timeout 20 script -qec "'$watch' 0 '$tmp/flags' '$gush' read $options --bytes-to-pipe=4" \
      /dev/null > "$tmp/out" 2>&1
    is "flags of read $options" "$(cat "$tmp/flags")" same
    timeout 20 script -qec "'$watch' 1 '$tmp/flags' '$gush' write $options --bytes-to-pipe=100K" /dev/null \
      > "$tmp/out" 2>&1 < /dev/null
    is "flags of write $options" "$(cat "$tmp/flags")" same
  done
  end
else
  skip terminal 'no script(1)'
fi

# A descriptor that came non-blocking is no reason to fail, nor to spin.
begin came_nonblocking
for options in '' --poll --busy-loop '--busy-loop --poll'; do
  ends '"$gush" write' '"$helpers/nonblock" 0 "$gush" read --bytes-to-pipe=16M $options'
  is "read $options" "$rstatus$rerr" 0
  ends '"$gush" write' '"$helpers/nonblock" 0 "$gush" read --read-with-splice --bytes-to-pipe=16M $options'
  is "splice $options" "$rstatus$rerr" 0
  ends '"$helpers/nonblock" 1 "$gush" write --bytes-to-pipe=16M $options' '"$helpers/drain" X'
  is "write $options" "$wstatus$werr $rout" '0 16777216 bytes, 0 bad'
  ends '"$helpers/nonblock" 1 "$gush" write --write-with-vmsplice --bytes-to-pipe=16M $options' '"$helpers/drain" X'
  is "vmsplice $options" "$wstatus$werr $rout" '0 16777216 bytes, 0 bad'
done
ends 'sleep 1; "$gush" write' '"$helpers/nonblock" 0 "$gush" read -v --bytes-to-pipe=1M'
matches 'CPU seconds while there was nothing to read' "$(echo "$rerr" | grep '^CPU')" 'CPU seconds: 0\.[0-4].*' # of 1
end
finish
