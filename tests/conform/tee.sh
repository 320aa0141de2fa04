#!/bin/sh
# tee: as GNU's, for options, outputs, inputs and environments; the bytes of every output are compared.
# shellcheck disable=SC2016 # the command lines are for another shell
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/../cli/lib.inc"
# shellcheck source=tests/conform/conform.inc
. "$here/conform.inc"
conform tee

: > "$in/empty"
echo abc > "$in/line"
printf 'no newline' > "$in/torn"
seq 1500 > "$in/8K" # less than a read
seq 9000 | head -c 65536 > "$in/64K"
seq 300000 > "$in/2M"
head -c 5000000 "$gush" > "$in/binary"

# ---- options and operands ----

begin usage
while read -r arguments; do
  both usage "tee $arguments < \"\$in/line\""
done << 'LIST'

-x
-xa
-apx f
--foo
--foo=3
--a f
--ap f
--append=1 f
--ig f
--i= f
--o f
--out=warn f
--output-error f
--output-error= f
--output-error=warn f
--output-error=warn- f
--output-error=warn-n f
--output-error=warn-nopipe f
--output-error=warn-nopipe2 f
--output-error=w f
--output-error=war f
--output-error=e f
--output-error=exit f
--output-error=exit- f
--output-error=exit-nopipe f
--output-error=foo f
--output-error=Warn f
--output-error='a b' f
--output-error="it's" f
--output-error='\' f
--output-error="$(printf 'a\n\001\377')" f
--output-error warn f
--output-error=foo --bar
--bar --output-error=foo
-p warn f
-pwarn f
-p=warn f
-pai f
-aip f
-ia f g
-- -a
-- --append
- f
-
- -
-a -
f -a
f -a g -p
f -- -p
f f
f ./f
-a f f
LIST
both posix 'POSIXLY_CORRECT=1 tee f -a -x < "$in/line"'
both help_full 'tee --help > /dev/full'
both version_closed 'tee --version >&-'
both help_then_file 'tee f --help > /dev/full'
for locale in C C.UTF-8; do
  both marks "LC_ALL=$locale tee --output-error=foo"
  both marks "LC_ALL=$locale tee --output-error=\"it's\""
done
end

# Names as they come out in messages.
begin names
for locale in C C.UTF-8; do
  while read -r name; do
    both names "LC_ALL=$locale tee $name < \"\$in/line\""
  done << 'LIST'
''
.
/
no/such
"a b/c"
"it's/x"
"it's \"x\"/x"
a:b/c
'~/a'
'#/a' 'a#/b'
'{/a' 'a*/b' 'a?/b' '$x/y' '`x/y'
"$(printf 'x\ny/z')"
"$(printf '\001\033\177/z')"
"$(printf '\303\251\377/z')"
"$(printf '\303\251/z')"
no/1 no/2 f no/3
"$(printf '%0300d' 7)"
/dev/full/x
/proc/version
/proc/nosuch
"$in/line/x"
LIST
done
end

# ---- every mode, with every kind of trouble, for inputs of every size ----

begin troubles
for options in '' -p --output-error=warn --output-error=exit --output-error=exit-nopipe -a '-a --output-error=exit'; do
  for input in empty line torn 8K 64K 2M; do
    tool="tee $options"
    both plain "$tool f g < \"\$in/$input\""
    both none "$tool < \"\$in/$input\""
    both full "$tool f /dev/full g < \"\$in/$input\""
    both full_first "$tool f g < \"\$in/$input\" > /dev/full"
    both all_full "$tool /dev/full /dev/full < \"\$in/$input\" > /dev/full"
    both closed "$tool f < \"\$in/$input\" >&-"
    both closed_alone "$tool < \"\$in/$input\" >&-"
    both read_only "$tool f < \"\$in/$input\" 1< /dev/null"
    both not_there "$tool f no/such g . < \"\$in/$input\""
    both pipe "cat \"\$in/$input\" | $tool f /dev/null - | cksum"
    both existing "seq 20000 > f; echo x > g; $tool f g < \"\$in/$input\""
    both stdout_file "$tool f < \"\$in/$input\" > g"
    both stdout_appended "echo x > g; $tool f < \"\$in/$input\" >> g"
    both dead "{ \"\$helpers/with_signal\" ignore 13 $tool f < \"\$in/$input\"; echo \$? > s; } | true; cat s"
    both dead_late "{ sleep 0.02; \"\$helpers/with_signal\" ignore 13 $tool f < \"\$in/$input\"; echo \$? > s; } | true; cat s"
  done
done
for options in '' -p --output-error=warn --output-error=exit --output-error=exit-nopipe; do
  for input in line 8K 64K; do # a signal: the file has what GNU's has only while bytes go by read and write
    both signal "{ sleep 0.05; \"\$helpers/with_signal\" default 13 tee $options f < \"\$in/$input\"; echo \$? > s; } | true; cat s"
    both dead_fifo "mkfifo p; (exec < p) & \"\$helpers/with_signal\" default 13 sh -c '(sleep 0.05; cat \"\$in/$input\") | tee $options p f; echo \$?'; wait; rm p"
    both dead_fifo_ignored "mkfifo p; (exec < p) & \"\$helpers/with_signal\" ignore 13 sh -c '(sleep 0.05; cat \"\$in/$input\") | tee $options p f; echo \$?'; wait; rm p"
  done
done
end

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

begin limits
for options in '' -p -a --output-error=exit; do
  for blocks in 0 1 7 100; do # of 512 bytes
    both file_limit "ulimit -f $blocks; tee $options f < \"\$in/64K\""
    both file_limit_ignored "trap '' XFSZ; ulimit -f $blocks; tee $options f g < \"\$in/64K\""
    both file_limit_append "echo 12345 > f; trap '' XFSZ; ulimit -f $blocks; tee $options f < \"\$in/64K\""
  done
  for descriptors in 3 4 5 6 7 8 9 10 11 12 13 16; do
    for input in line 2M; do
      both descriptors "ulimit -n $descriptors; tee $options a b c < \"\$in/$input\""
      both descriptors_pipe "cat \"\$in/$input\" | (ulimit -n $descriptors; tee $options a b c d e) | cksum"
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

begin interrupts
for options in '' -i -p; do
  both interrupts "(sleep 0.1; echo late) | \"\$helpers/with_signal\" default 2 sh -c '(sleep 0.05; kill -INT \$\$) & exec tee $options f'; echo \$?"
  both terminated "(sleep 0.1; echo late) | sh -c '(sleep 0.05; kill -TERM \$\$) & exec tee $options f'; echo \$?"
done
end

# The comparison itself: a tool that is not like the other must be noticed.
begin control
rm "$tmp/ours/tee"
printf '#!/bin/sh\ncat > "$1"\necho x >> "$1"; echo y >&2; cat "$1"\n' > "$tmp/ours/tee"
chmod +x "$tmp/ours/tee"
(both planted 'tee f < "$in/line"' && both planted 'tee f g > f < "$in/line"' && both planted 'tee f >&-') \
  > "$tmp/noticed"
is 'differences noticed' "$(grep -c 'differ(s)' "$tmp/noticed")" 3
end
echo "# $conform_cases cases"
finish
