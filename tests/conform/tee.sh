#!/bin/sh
# tee: as GNU's, for all options, names, modes, and outputs that fail; the bytes of every output are compared.
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

# A pipe that nobody reads, as descriptor 5.
no_reader='mkfifo p; exec 4<> p 5> p 4>&-; rm p;'

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
    both dead "$no_reader \"\$helpers/with_signal\" ignore 13 $tool f < \"\$in/$input\" >&5; echo \$?"
  done
done
for options in '' -p --output-error=warn --output-error=exit --output-error=exit-nopipe; do
  for input in line 8K 64K; do # a signal: the file has what GNU's has only while bytes go by read and write
    both signal "$no_reader \"\$helpers/with_signal\" default 13 tee $options f < \"\$in/$input\" >&5; echo \$?"
    both dead_fifo "mkfifo p; (exec < p) & \"\$helpers/with_signal\" default 13 sh -c '(sleep 0.1; cat \"\$in/$input\") | tee $options p f; echo \$?'; wait; rm p"
    both dead_fifo_ignored "mkfifo p; (exec < p) & \"\$helpers/with_signal\" ignore 13 sh -c '(sleep 0.1; cat \"\$in/$input\") | tee $options p f; echo \$?'; wait; rm p"
  done
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
