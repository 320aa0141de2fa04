#!/bin/sh
# tee: as GNU's, for all kinds of inputs, limits, permissions, outputs that are one or many, and signals.
# shellcheck disable=SC2016 # the command lines are for another shell
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/../cli/lib.inc"
# shellcheck source=tests/conform/conform.inc
. "$here/conform.inc"
conform tee

: > "$in/empty"
echo abc > "$in/line"
seq 1500 > "$in/8K" # less than a read
seq 9000 | head -c 65536 > "$in/64K"
seq 300000 > "$in/2M"
head -c 5000000 "$gush" > "$in/binary"

begin inputs
for options in '' -p -a --output-error=exit; do
  both closed_input "tee $options f <&-"
  both closed_input_full "tee $options f <&- > /dev/full"
  both closed_both "tee $options f <&- >&-"
  both closed_all "tee $options f <&- >&- 2>&-"
  both closed_errors "tee $options f /dev/full < \"\$in/line\" 2>&-"
  both folder "tee $options f < /"
  both write_only "tee $options f 0> g"
  both at_end "(cat > /dev/null; tee $options f) < \"\$in/line\""
  both offset "(head -c 1000 > /dev/null; tee $options f) < \"\$in/binary\""
  both binary "tee $options f < \"\$in/binary\""
  both read_write "mkfifo p; tee $options f 0<> p < \"\$in/64K\"; rm p"
  both memory "tee $options f < /proc/version"
  both null "tee $options f < /dev/null"
  both zero "head -c 300000 /dev/zero | tee $options f | cksum"
  both pieces "(for i in 1 2 3 4; do cat \"\$in/8K\"; sleep 0.01; done) | tee $options f | cksum"
  for kind in unix tcp; do
    both "from_$kind" "\"\$helpers/by_socket\" $kind in tee $options f g < \"\$in/2M\" | cksum"
    both "to_$kind" "\"\$helpers/by_socket\" $kind out tee $options f g < \"\$in/2M\" | cksum"
  done
  both from_terminal "\"\$helpers/by_pty\" in tee $options f < \"\$in/8K\""
  both to_terminal "\"\$helpers/by_pty\" out tee $options f < \"\$in/64K\""
  both stream_to_terminal "\"\$helpers/by_pty\" out tee $options f < \"\$in/2M\" | cksum"
  both own_input 'cp "$in/8K" f; tee f < f'
done
end

# ---- limits ----

# Looking for leaks takes a descriptor, for those who run this under sanitizers.
begin limits
for options in '' -p -a --output-error=exit; do
  for blocks in 0 1 7 100; do # of 512 bytes
    both file_limit "ulimit -f $blocks; tee $options f < \"\$in/64K\""
    both file_limit_ignored "trap '' XFSZ; ulimit -f $blocks; tee $options f g < \"\$in/64K\""
    both file_limit_append "echo 12345 > f; trap '' XFSZ; ulimit -f $blocks; tee $options f < \"\$in/64K\""
  done
  for descriptors in 4 5 6 7 8 9 10 11 12 13 16; do
    for input in line 2M; do
      both descriptors "export ASAN_OPTIONS=detect_leaks=0; ulimit -n $descriptors; tee $options a b c < \"\$in/$input\""
      both descriptors_pipe "cat \"\$in/$input\" | (export ASAN_OPTIONS=detect_leaks=0; ulimit -n $descriptors; tee $options a b c d e) | cksum"
    done
  done
done
both file_limit_stream "trap '' XFSZ; ulimit -f 1000; tee f < \"\$in/2M\" | cksum; cksum f"
both file_limit_stream_pipe "trap '' XFSZ; ulimit -f 1000; cat \"\$in/2M\" | tee -p f g | cksum; cksum f"
both file_limit_stream_append "trap '' XFSZ; ulimit -f 1000; cat \"\$in/2M\" | tee -a f g | cksum; cksum f"
both file_limit_endless "trap '' XFSZ; ulimit -f 40; cp \"\$in/line\" f; tee -a f < f | cksum"
end

begin permissions
for mask in 000 022 077 0777 0137; do
  both umask "umask $mask; tee f < \"\$in/line\"; ls -l f | cut -c 1-10; rm f"
  both umask_append "umask $mask; tee -a f < \"\$in/line\"; ls -l f | cut -c 1-10; rm f"
done
both keeps "echo x > f; chmod 601 f; tee f < \"\$in/line\"; ls -l f | cut -c 1-10"
both keeps_links "echo x > f; ln f g; ln -s f h; tee h < \"\$in/line\""
both dangling "ln -s f h; tee h < \"\$in/line\"; cat f"
both loop "ln -s h h; tee h < \"\$in/line\"; rm h"
end

# ---- outputs that are one, and many ----

begin twins
for input in line 8K 64K 2M; do
  both same_file "tee f f < \"\$in/$input\""
  both same_appended "tee -a f f < \"\$in/$input\""
  both standard_output "tee /dev/stdout < \"\$in/$input\" | cksum"
  both standard_output_thrice "tee -p /dev/stdout /dev/fd/1 < \"\$in/$input\" | cksum"
  both standard_output_file "tee /dev/stdout < \"\$in/$input\" > f"
  both standard_output_appended "tee -a /dev/stdout < \"\$in/$input\" >> f"
  both errors_too "tee /dev/stderr f < \"\$in/$input\" 2>&1 | cksum"
done
end

begin many
for count in 1 2 3 6 7 8 9 20 50 100; do
  for input in line 8K 2M; do
    both files "tee \$(seq $count) < \"\$in/$input\" | cksum; cksum *; rm *"
    both piped "cat \"\$in/$input\" | tee -p \$(seq $count) | cksum; cksum *; rm *"
  done
  both fifos "for i in \$(seq $count); do mkfifo p\$i; cat p\$i > o\$i & done; cat \"\$in/2M\" | tee p* | cksum; wait; cksum o*; rm p* o*"
done
both many_not_there 'tee no/$(seq 50 | tr "\n" "/") $(seq 20) < "$in/line"'
both mixed 'mkfifo p; cksum < p > o & "$helpers/by_socket" unix out tee f /dev/null p - < "$in/2M" | cksum; wait; rm p'
both unequal 'mkfifo p q; (sleep 0.3; cksum) < p > o & (dd bs=7k 2> /dev/null | cksum) < q > n & cat "$in/2M" | tee f p q | (sleep 0.2; cksum); wait; rm p q'
end

# GNU's gives up, with "Resource temporarily unavailable"; we wait, and no byte is lost.
begin non_blocking
for options in '' -p; do
  for input in line 64K 2M; do
    as_if non_blocking_output "\"\$helpers/nonblock\" 1 tee $options f < \"\$in/$input\" | { sleep 0.05; cksum; }" \
      "tee $options f < \"\$in/$input\" | cksum"
    as_if non_blocking_input "{ sleep 0.05; cat \"\$in/$input\"; } | \"\$helpers/nonblock\" 0 tee $options f | cksum" \
      "cat \"\$in/$input\" | tee $options f | cksum"
  done
done
end

# The signal comes when tee has made its file, and the last line after that.
begin interrupts
late='until [ -e sent ]; do sleep 0.01; done; echo late'
for options in '' -i -p; do
  for number in INT TERM; do
    both interrupts "($late) | \"\$helpers/with_signal\" default 2 sh -c \
      '(until [ -e f ]; do sleep 0.01; done; kill -$number \$\$; : > sent) & exec tee $options f'; echo \$?; rm sent"
  done
done
end

echo "# $conform_cases cases"
finish
